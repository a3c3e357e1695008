"""Every recorded decision of kube-scheduler, replayed.

Format: data/README.md.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from kviz.conformance.cases import Case, read_cases
from kviz.conformance.dump import Dump
from kviz.conformance.recordings import find_recordings
from kviz.conformance.result import CaseResult
from kviz.conformance.run import replay
from tests.without_memo import without_memo

DATA = Path(__file__).with_name("data")
SHARED = Path(__file__).parents[3] / "shared" / "snapshots"
"""Larger dumps lie here on machines that have them; they are not ours to hand on."""

FILE_OF: dict[str, str] = {
    entry["name"]: entry["file"] for entry in json.loads((DATA / "index.json").read_text())
}
DUMPS = [
    *sorted((DATA / "dumps").glob("*.expected.json.gz")),
    *(SHARED / f"{name}.expected.json" for name in ("medium", "openb", "large")),
]


@cache
def cases(file: str) -> dict[str, Case]:
    return {case.name: case for case in read_cases(DATA / file)}


def differences(results: list[CaseResult]) -> str:
    found = [difference for result in results for difference in result.differences]
    lines = [f"{d.name} {d.plugin} {d.field}:\n  {d.expected}\n  {d.got}" for d in found[:10]]
    return "\n".join([f"{len(found)} differences", *lines]) if found else ""


@pytest.mark.parametrize("name", FILE_OF)
def test_case_is_identical(name: str) -> None:
    assert not differences(list(replay(cases(FILE_OF[name])[name])))


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, file in FILE_OF.items() if "curated" in file])
def test_case_is_identical_without_cached_answers(name: str) -> None:
    """Long: every curated case again; tests/generator/test_generated.py compares random ones."""
    with without_memo():
        assert not differences(list(replay(cases(FILE_OF[name])[name])))


@pytest.mark.slow("replays some two hundred recorded decisions of a release")
@pytest.mark.parametrize(("release", "n_cases"), [("1.36.3", 221), ("1.37.2", 207)])
def test_cases_of_other_releases_are_identical(release: str, n_cases: int) -> None:
    """By folder, as scenarios recorded again keep their names."""
    results = [
        result
        for found in find_recordings([DATA / "releases" / release])
        for result in replay(found)
    ]
    assert [result.release for result in results] == [release] * n_cases
    assert not differences(results)


@pytest.mark.slow("replays recorded decisions")
@pytest.mark.parametrize(
    "expected", [dump for dump in DUMPS if dump.exists()], ids=lambda dump: dump.name.split(".")[0]
)
def test_recorded_run_is_identical(expected: Path) -> None:
    (dump,) = find_recordings([expected])
    assert isinstance(dump, Dump)
    results = list(replay(dump))
    assert len(results) == len(dump.attempts) + 1
    assert not differences(results)


def test_every_case_in_the_folder_is_in_the_index() -> None:
    files = sorted({*FILE_OF.values()})
    assert files == sorted(str(f.relative_to(DATA)) for f in DATA.glob("*/*.jsonl.gz"))
    assert sorted(FILE_OF) == sorted(name for file in files for name in cases(file))
