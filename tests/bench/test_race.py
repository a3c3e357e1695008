"""`kviz bench --race` with a program that prints what the real one does, and without one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kviz.bench import measure
from kviz.bench.race import N_ROUNDS
from kviz.cli import main

RACE = ["bench", "--race", "--nodes", "10", "--pods", "5", "--json"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(measure, "N_ITERATIONS", 1_000)
    monkeypatch.setenv("KVIZ_ORACLE_DIR", str(tmp_path))
    return tmp_path


def build(folder: Path, bound: int) -> None:
    """Build a program that says that it bound pods in 2 s, and notes what it was given."""
    said = {"recordedFrom": "kube-scheduler v1.36.3", "bound": bound, "cpuSeconds": 2.0}
    program = folder / "1.36"
    keep = f"open({str(folder / 'given')!r}, 'w').write(sys.stdin.read())"
    program.write_text(f"#!{sys.executable}\nimport sys\n{keep}\nprint({json.dumps(said)!r})\n")
    program.chmod(0o700)


def test_both_run_in_turn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(folder, bound=5)
    assert main(RACE) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bound"] == {"kviz": 5, "real": 5}
    assert told["against"] == "kube-scheduler v1.36.3"
    assert told["real_cpu_s"] == [2.0] * N_ROUNDS
    assert len(told["kviz_cpu_s"]) == N_ROUNDS
    kinds = [each["kind"] for each in json.loads((folder / "given").read_text())["objects"]]
    assert kinds == ["Node"] * 10 + ["Pod"] * 5


def test_a_race_counts_only_if_both_bind_all(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(folder, bound=4)
    assert main(RACE) == 1
    assert "the two bound 4 and 5 pods" in capsys.readouterr().err


def test_without_the_program_its_recorded_speed_is_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(RACE) == 0
    printed = capsys.readouterr()
    assert "make oracle RELEASE=1.36" in printed.err
    assert "race_ratio" in json.loads(printed.out)
