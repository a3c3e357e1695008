"""What a server runs on is locked with the extra `scale`, and apart from the tools of tests."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"^([\w.-]+?)(?:\[[^]]*\])?(?:[=<>~!;\s].*)?$")

IMPORT = re.compile(r"^(?:from (?=[\w.]+ import )|import (?=[\w.]+$))(\w+)", re.MULTILINE)
OURS = {"kviz", "scheduler_core"}
MADE_BEFORE = "kviz/catalogues/"
"""What `make` calls to write files that are installed as they are."""


def named(requirements: list[str]) -> set[str]:
    found = (NAME.match(each) for each in requirements)
    return {match[1].lower() for match in found if match}


def locked(file: str) -> set[str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return named([line.split(" ")[0] for line in lines if "==" in line and line[0].isalpha()])


def test_each_lock_has_what_it_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    runs = named(project["project"]["dependencies"])
    extras = project["project"]["optional-dependencies"]
    scale = named(extras["scale"]) | named(extras["cluster"])
    tools = named([each for each in project["dependency-groups"]["test"] if isinstance(each, str)])
    server, tests = locked("requirements.lock"), locked("requirements-test.lock")

    assert {"celery", "channels-redis", "psycopg"} <= scale
    assert runs | scale <= server
    assert server | tools <= tests
    assert (tools - runs - scale) & {"pytest", "ruff", "mypy", "schemathesis"} != set()
    assert not server & {"pytest", "ruff", "mypy", "schemathesis", "hypothesis"}


def test_an_installed_kviz_imports_nothing_that_is_there_for_tests_alone() -> None:
    """What stands below `TYPE_CHECKING` is indented, and not looked at."""
    server, packages_of = locked("requirements.lock"), packages_distributions()
    imported = {
        (name, path.relative_to(ROOT).as_posix())
        for package in sorted(OURS)
        for path in (ROOT / package).rglob("*.py")
        for name in IMPORT.findall(path.read_text(encoding="utf-8"))
        if name not in sys.stdlib_module_names | OURS
    }
    foreign = {
        f"{file} imports {name}"
        for name, file in imported
        if not file.startswith(MADE_BEFORE)
        and not {re.sub("[_.]", "-", each.lower()) for each in packages_of[name]} & server
    }
    assert foreign == set()
