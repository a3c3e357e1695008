"""`kviz simulate` as a script calls it."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.run_file import Inputs, Outcome, Part, RunFileError, read_records
from scheduler_core.trace.codec import read_headers
from scheduler_core.trace.events import (
    RunFinished,
    RunStarted,
)
from tests.cluster_text import node, pod

CLUSTER = (
    node("only", "2", "4Gi", "10")
    + pod("fits", "1", namespace="shop")
    + pod("too-big", "8", namespace="shop")
    + pod("low", "1", namespace="shop", nodeName="only", priority=0)
    + pod("vip", "2", namespace="shop", priority=100)
)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return file


def test_json_has_a_line_per_attempt(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", str(cluster), "--format", "json"]) == 0

    document = json.loads(capsys.readouterr().out)
    first = document["cycles"][0]
    assert (first["pod"], first["attempt"], first["result"]) == ("shop/vip", 1, "unschedulable")
    assert first["nominatedNodeName"] == "only"
    assert first["victims"] == ["shop/low"]
    bound = [c for c in document["cycles"] if c["result"] == "scheduled"]
    assert {(c["pod"], c["node"]) for c in bound} == {("shop/vip", "only")}
    assert document["pending"] == ["shop/fits", "shop/too-big"]


def test_the_table_ends_with_who_is_pending(
    cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", str(cluster)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["CYCLE", "POD", "TRY", "RESULT", "NODE", "MESSAGE"]
    assert any("evicts shop/low from only; 0/1 nodes are available" in line for line in lines)
    assert lines[-2:] == ["  shop/fits", "  shop/too-big"]


def test_the_devices_of_a_pod_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    sample = "sample:devices"
    assert main(["simulate", sample]) == 0
    assert "lab/best: gpu.example.com/room-1/gpu-0" in capsys.readouterr().out

    assert main(["simulate", sample, "--format", "json"]) == 0
    cycles = json.loads(capsys.readouterr().out)["cycles"]
    devices = {c["pod"]: c["devices"] for c in cycles if c["devices"]}
    assert devices["lab/watch-0"] == {"lab/lens": ["camera.example.com/hall/cam-1"]}
    assert "lab/plain-0" not in devices


def test_the_trace_is_written_and_the_same_each_time(
    cluster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hashes, files = [], [tmp_path / "a.kviz", tmp_path / "b.kviz"]
    for file in files:
        main(["simulate", str(cluster), "--format", "json", "--trace", str(file)])
        hashes.append(json.loads(capsys.readouterr().out)["traceHash"])

    assert hashes[0] == hashes[1]
    assert files[0].read_bytes() == files[1].read_bytes()
    with files[0].open("rb") as written:
        inputs, *parts, outcome = read_records(written)
    assert isinstance(inputs, Inputs)
    assert inputs.name == "cluster"
    assert inputs.sha256 == hashlib.sha256(cluster.read_bytes()).hexdigest()
    assert outcome == Outcome("finished", hashes[0])
    chunks = [part.chunk for part in parts if isinstance(part, Part)]
    events = [event for chunk in chunks for event in read_headers(chunk.headers)[1]]
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)


def test_a_file_that_is_no_run(cluster: Path, tmp_path: Path) -> None:
    main(["simulate", str(cluster), "--trace", str(tmp_path / "t.kviz")])
    whole = (tmp_path / "t.kviz").read_bytes()
    for spoiled, told in (
        (whole[:-5], "cut off"),
        (whole + b"more", "follows after its end"),
        (cluster.read_bytes(), "not a run saved by kviz"),
        (whole.replace(b"kviz-run-1\n", b"kviz-run-2\n"), "another version of kviz"),
        (whole[:11] + b"\xff" + whole[12:], "longer than 256 MiB"),
    ):
        with pytest.raises(RunFileError, match=told):
            list(read_records(io.BytesIO(spoiled)))


def test_folders_are_read_and_broken_files_reported(
    cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (cluster.parent / "broken.yaml").write_text("kind: [")

    assert main(["simulate", str(cluster.parent), "--format", "json"]) == 0

    shown = capsys.readouterr()
    assert len(json.loads(shown.out)["cycles"]) > 0
    assert "broken.yaml" in shown.err


@pytest.mark.parametrize(
    ("content", "told"),
    [("", "nothing in these files"), ("kind: [", "line"), (None, "No such file")],
)
def test_files_that_are_of_no_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, told: str
) -> None:
    file = tmp_path / "cluster.yaml"
    if content is not None:
        file.write_text(content)

    assert main(["simulate", str(file)]) == 1

    assert told in capsys.readouterr().err


def test_a_scenario_is_played(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = cluster.parent / "scenario"
    scenario.write_text("steps: [{at: 1m, delete: {kind: Pod, namespace: shop, name: vip}}]")

    main(["simulate", str(cluster), "--scenario", str(scenario), "--format", "json"])

    document = json.loads(capsys.readouterr().out)
    assert document["pending"] == ["shop/too-big"]


@pytest.mark.parametrize("option", ["config", "scenario"])
@pytest.mark.parametrize("text", ["kind: Nonsense\n", "{"])
def test_a_bad_configuration_or_scenario(
    cluster: Path, capsys: pytest.CaptureFixture[str], option: str, text: str
) -> None:
    file = cluster.parent / "file"
    file.write_text(text)

    assert main(["simulate", str(cluster), f"--{option}", str(file)]) == 1

    assert "file: " in capsys.readouterr().err
