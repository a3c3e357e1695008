"""`kviz conformance`: what it prints and how it ends, on recordings that were tampered with."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main

RECORDED = Path(__file__).parents[1] / "conformance" / "data"
KEYS = {"cases", "identical", "byRelease", "byPlugin", "failures", "notCompared", "notModelled"}


def recorded_case(name: str) -> dict[str, Any]:
    with gzip.open(RECORDED / "cycle" / "curated.jsonl.gz", "rt") as lines:
        return next(case for line in lines if (case := json.loads(line))["name"] == name)


@pytest.fixture
def case_file(tmp_path: Path) -> Path:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(recorded_case("curated-all-equal")))
    return file


def change(file: Path, edit: Callable[[Any], None]) -> None:
    document = json.loads(file.read_text())
    edit(document)
    file.write_text(json.dumps(document))


def copy_dump(folder: Path, name: str) -> Path:
    """Unpack a recorded dump into a folder; return its expected file."""
    for suffix in ("yaml", "expected.json"):
        packed = RECORDED / "dumps" / f"{name}.{suffix}.gz"
        (folder / f"{name}.{suffix}").write_bytes(gzip.decompress(packed.read_bytes()))
    return folder / f"{name}.expected.json"


def test_identical_case(case_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", str(case_file)]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("1/1 cases identical\n")


def test_a_wrong_score_is_found(case_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def edit(case: Any) -> None:
        case["expected"]["scores"]["NodeResourcesFit"]["raw"]["n1"] += 1

    change(case_file, edit)
    assert main(["conformance", str(case_file)]) == 1
    printed = capsys.readouterr().out
    assert "curated-all-equal, NodeResourcesFit: raw[n1]" in printed
    assert printed.endswith("0/1 cases identical\n")


def test_json(case_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(case_file, lambda case: case["expected"].update(pick="n9"))
    assert main(["conformance", str(case_file), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert set(report) == KEYS
    assert (report["cases"], report["identical"]) == (1, 0)
    (failure,) = report["failures"]
    assert failure == {
        "name": "curated-all-equal",
        "plugin": "",
        "field": "pick",
        "expected": "n9",
        "got": recorded_case("curated-all-equal")["expected"]["pick"],
    }
    assert report["byPlugin"] == {}  # every node is scored alike


def test_a_table_by_plugin(case_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case_file.write_text(json.dumps(recorded_case("curated-config-second-profile")))
    assert main(["conformance", str(case_file)]) == 0
    assert "NodeResourcesFit" in capsys.readouterr().out
    assert main(["conformance", str(case_file), "--json"]) == 0
    fit = json.loads(capsys.readouterr().out)["byPlugin"]["NodeResourcesFit"]
    assert fit["cells"] == fit["identical"] > 0


def test_a_replay_that_breaks_off_is_a_difference(
    case_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(case_file, lambda case: case["input"].pop("pod"))
    assert main(["conformance", str(case_file)]) == 1
    assert "KeyError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("absent.json", None, "does not exist"),
        ("text.json", b"<html>", "cannot be read"),
        ("other.json", b'{"a": 1}', "is not a recorded case"),
        ("mode.json", b'{"name":"x","mode":"y","input":{},"expected":{}}', "mode"),
        ("cut.jsonl.gz", gzip.compress(b"{}" * 1000, mtime=0)[:20], "cannot be read"),
        ("lonely.expected.json", b"{}", "no snapshot"),
    ],
)
def test_a_path_without_recordings_is_wrong_usage(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes | None,
    problem: str,
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["conformance", str(tmp_path / name)]) == 2
    captured = capsys.readouterr()
    assert problem in captured.err
    assert name in captured.err
    assert not captured.out


def test_an_empty_folder_is_wrong_usage(tmp_path: Path) -> None:
    assert main(["conformance", str(tmp_path)]) == 2


def test_a_folder_of_dumps_and_other_snapshots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_dump(tmp_path, "gpu-usecase")
    (tmp_path / "unrecorded.json").write_text('{"apiVersion": "v1", "kind": "List", "items": []}')
    assert main(["conformance", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("15/15 cases identical\n")


def test_a_snapshot_finds_what_was_recorded_of_it(tmp_path: Path) -> None:
    snapshot = copy_dump(tmp_path, "gpu-usecase").with_name("gpu-usecase.yaml")
    assert main(["conformance", str(snapshot)]) == 0


def test_a_wrong_placement_is_found_and_the_replay_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second attempt took the only feasible node; the recording is made to say otherwise."""
    expected = copy_dump(tmp_path, "gpu-usecase")

    def edit(dump: Any) -> None:
        dump["attempts"][1]["node"] = "cpu-1"

    change(expected, edit)
    assert main(["conformance", str(expected), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["cases"] == 15
    first = report["failures"][0]
    assert first["name"] == "gpu-usecase/001 training/train-4gpu-2"
    assert first["got"] == ["cpu-1"]


@pytest.mark.parametrize(
    ("field", "value"), [("nominatedNode", "node-2"), ("victims", ["prod/db-9f59f4696-fbjkl"])]
)
def test_wrong_preemption_is_found(tmp_path: Path, field: str, value: object) -> None:
    """The third attempt of the recording preempts on node-9."""
    expected = copy_dump(tmp_path, "preemption")

    def edit(dump: Any) -> None:
        assert dump["attempts"][2]["nominatedNode"] == "node-9"
        dump["attempts"][2][field] = value

    change(expected, edit)
    assert main(["conformance", str(expected)]) == 1
