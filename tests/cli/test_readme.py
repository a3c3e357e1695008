"""The README's lines about samples run as they stand."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kviz.cli import main

README = Path(__file__).parents[2] / "README.md"
LINES = [
    line.partition("  #")[0]
    for line in README.read_text(encoding="utf-8").splitlines()
    if line.startswith("kviz ") and "sample" in line.partition("  #")[0]
]


@pytest.mark.parametrize("line", LINES)
def test_it_runs(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out
