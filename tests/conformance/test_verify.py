"""`kviz verify` with a program that prints what the real scheduler's printed: no Go is needed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main

CLUSTER = Path(__file__).with_name("witnessed.yaml")
SAID = CLUSTER.with_name("witnessed.jsonl")
"""What the program of v1.37.2 printed about that cluster."""

Lines = list[dict[str, Any]]
Say = Callable[..., None]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Build a program that prints the lines, after an edit of them."""

    def build(edit: Callable[[Lines], object] = lambda lines: None, more: str = "") -> None:
        lines = [json.loads(line) for line in SAID.read_text().splitlines()]
        edit(lines)
        text = "".join(json.dumps(line) + "\n" for line in lines)
        program = tmp_path / "1.37"
        program.write_text(
            f"#!{sys.executable}\nimport sys\nsys.stdin.read()\nprint({text!r} + 'PASS')\n{more}\n"
        )
        program.chmod(0o700)

    monkeypatch.setenv("KVIZ_ORACLE_DIR", str(tmp_path))
    return build


def verify(*options: str) -> int:
    return main(["verify", str(CLUSTER), "--release", "1.37", *options])


def test_what_is_identical(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    say()
    assert verify() == 0
    assert "3 of 3 decisions identical\nKubernetes v1.37.2" in capsys.readouterr().out


def test_a_score_that_differs_is_told_in_words(
    say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    def edit(lines: Lines) -> None:
        lines[1]["scores"]["NodeResourcesFit"]["raw"]["a"] += 1

    say(edit)
    assert verify() == 1
    printed = capsys.readouterr().out
    assert "decision 1, default/first: the score of NodeResourcesFit for node a is" in printed
    assert "2 of 3 decisions identical" in printed


def test_nothing_is_compared_after_another_pick(
    say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    say(lambda lines: lines[1].update(node="b"))
    assert verify("--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["failures"][0]["field"] == "node"
    assert told["notModelled"] == {"attempts after one that ended otherwise": 2}
    assert (told["release"], told["cases"], told["identical"]) == ("1.37.2", 1, 0)


def test_a_verdict_that_differs_is_told_in_words(
    say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    say(lambda lines: lines[3]["filter"].pop("a"))
    assert verify() == 1
    assert "the verdict on node a is that it fits in the real scheduler" in capsys.readouterr().out


@pytest.mark.parametrize(("refused", "code"), [("is locked", 1), ("", 0)])
def test_a_configuration_is_refused_by_both_or_not(
    say: Say, refused: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    say(lambda lines: lines[0].update({"configError": refused} if refused else {}))
    assert verify() == code
    assert ("the configuration" in capsys.readouterr().out) is bool(refused)


def test_the_program_is_of_another_release(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    say(lambda lines: lines[0].update(recordedFrom="kube-scheduler v1.36.3"))
    assert verify() == 2
    assert "is kube-scheduler v1.36.3, not v1.37.2" in capsys.readouterr().err


def test_the_program_fails(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    say(more="sys.exit('panic: no such informer')")
    assert verify() == 2
    assert "panic: no such informer" in capsys.readouterr().err


def test_without_a_program_it_says_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KVIZ_ORACLE_DIR", str(tmp_path))
    assert verify() == 2
    said = capsys.readouterr().err
    assert "Go 1.26" in said
    assert "make oracle RELEASE=1.37" in said
