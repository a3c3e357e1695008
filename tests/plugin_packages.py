"""Packages that offer plugins, as if they were installed: a module and its metadata on the path."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "rack-sibling"


def install(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    package: str,
    version: str = "1.0.0",
    plugins: Mapping[str, str],
    modules: Mapping[str, str] | None = None,
) -> None:
    """Put a package on the path: `plugins` are its entry points, `modules` their source."""
    for name, source in (modules or {}).items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = [f"{name} = {value}\n" for name, value in plugins.items()]
    (info / "entry_points.txt").write_text("[kviz.plugins]\n" + "".join(lines))
    monkeypatch.syspath_prepend(str(folder))


def install_example(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the package of the tutorial on the path, with what its pyproject says."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install(
        folder,
        monkeypatch,
        package=project["name"],
        version=project["version"],
        plugins=project["entry-points"]["kviz.plugins"],
    )
    monkeypatch.syspath_prepend(str(EXAMPLE))
