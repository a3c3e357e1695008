"""Two builds of the engine are told apart by their sources."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kviz.engine_build import SOURCES, engine_build, is_of_version, sources_hash
from scheduler_core import ENGINE_VERSION


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    def others(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name != "queue" and not name.endswith(".py")]

    return Path(shutil.copytree(SOURCES, tmp_path / "engine", ignore=others))


def test_the_same_sources_are_the_same_build(sources: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(sources, tmp_path / "copy")
    (copy / "compiled.pyc").write_bytes(b"no source")
    assert sources_hash(copy) == sources_hash(sources)


def test_a_changed_byte_is_another_build(sources: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(sources, tmp_path / "copy")
    file = next(iter(sorted((copy / "queue").glob("*.py"))))
    file.write_bytes(file.read_bytes() + b"\n")
    assert sources_hash(copy) != sources_hash(sources)


def test_a_renamed_file_is_another_build(sources: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(sources, tmp_path / "copy")
    file = next(iter(sorted((copy / "queue").glob("*.py"))))
    file.rename(file.with_name("other.py"))
    assert sources_hash(copy) != sources_hash(sources)


def test_a_build_says_its_version_first() -> None:
    assert engine_build().startswith(f"{ENGINE_VERSION}+")
    assert is_of_version(engine_build())
    assert is_of_version(ENGINE_VERSION)
    assert is_of_version(f"{ENGINE_VERSION}+k8s.1.36.e02369f337ce")
    assert not is_of_version(engine_build("0.0"))
    assert not is_of_version(f"{ENGINE_VERSION}1")
