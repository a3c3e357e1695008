"""What a server runs on is locked with the extra `scale`, and apart from the tools of tests."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"^([\w.-]+?)(?:\[[^]]*\])?(?:[=<>~!;\s].*)?$")


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
