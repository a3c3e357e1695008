"""Samples have names on the command line: listed, written to a file, read in place of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.samples import FOLDER, sample_texts

Capture = pytest.CaptureFixture[str]
GANGS = FOLDER / "gangs"


def told(capsys: Capture, *arguments: str) -> tuple[str, str]:
    """What a command prints, and its notes."""
    assert main(arguments) == 0
    done = capsys.readouterr()
    return done.out, done.err


def test_all_are_listed_with_a_line_each(capsys: Capture) -> None:
    head, *rows = told(capsys, "sample")[0].splitlines()
    assert head.split() == ["SAMPLE", "WHAT", "IT", "SHOWS"]
    assert [row.split()[0] for row in rows] == [each.slug for each in sample_texts()]
    listed = json.loads(told(capsys, "sample", "--json")[0])["samples"]
    assert [each["name"] for each in listed] == [each.slug for each in sample_texts()]
    assert [each["name"] for each in listed if each["configuration"]]


def test_one_is_written_with_what_it_brings(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "mine.yaml"
    command = told(capsys, "sample", "gangs", "-o", str(out))[0].split()
    assert out.read_bytes() == GANGS.with_suffix(".yaml").read_bytes()
    for name in ("config", "scenario"):
        written = tmp_path / f"mine.{name}.yaml"
        assert written.read_text() == (GANGS / f"{name}.yaml").read_text()
    assert command[0] == "kviz"
    by_files = told(capsys, *command[1:], "--format", "json")[0]
    by_name, notes = told(capsys, "simulate", "sample:gangs", "--format", "json")
    assert json.loads(by_name) == json.loads(by_files)
    assert "sample gangs runs with its own configuration and scenario" in notes


def test_what_is_given_goes_first_and_that_is_said(tmp_path: Path, capsys: Capture) -> None:
    config = tmp_path / "config.yaml"
    config.write_text((GANGS / "config.yaml").read_text())
    notes = told(capsys, "simulate", "sample:gangs", "--config", str(config))[1]
    assert f"the configuration of sample gangs is not used, {config} is" in notes
    assert "sample gangs runs with its own scenario" in notes


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "sample:size-trap"),
        ("whatif", "sample:size-trap", "--pod", "large", "--change", "node/n2 cordon"),
        ("unblock", "sample:size-trap", "--pod", "large", "--jobs", "1"),
        ("nodes", "sample:size-trap", "--jobs", "1"),
        ("survive", "sample:size-trap", "--jobs", "1"),
        ("luck", "sample:size-trap", "--runs", "1", "--jobs", "1"),
        ("optimum", "sample:size-trap"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_question_takes_a_sample(arguments: tuple[str, ...], capsys: Capture) -> None:
    assert told(capsys, *arguments)[0]


def test_two_samples_are_compared(capsys: Capture) -> None:
    trap = "sample:size-trap"
    assert main(["diff", trap, trap, "--change-b", "node/n2 cordon"]) == 1
    assert "n2" in capsys.readouterr().out


def test_a_question_without_scenario_says_so(capsys: Capture) -> None:
    notes = told(capsys, "optimum", "sample:gangs")[1]
    assert "the scenario of sample gangs is not used: this question plays none" in notes


def test_another_name_is_refused(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "sample:nothing"])
    assert "there is no sample 'nothing'; `kviz sample` lists them" in capsys.readouterr().err
