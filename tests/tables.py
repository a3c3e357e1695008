"""Tables of cases that are plain data: a YAML file beside a module of tests, one list per test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def rows(module: str, test: str) -> list[Any]:
    """Return the cases of a test; `module` is the `__file__` of its module."""
    document: dict[str, list[Any]] = yaml.safe_load(Path(module).with_suffix(".yaml").read_text())
    return document[test]
