"""The worked examples come out to the digit, from the files a teacher opens."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main
from kviz.samples import FOLDER
from scheduler_core.analysis.model import RestingWorld
from scheduler_core.analysis.model.replayed import totals_at_turn
from scheduler_core.sim import RunOptions
from tests.web.test_sample_lessons import objects_of

DOCUMENT = Path(__file__).parents[3] / "docs" / "optimum.md"
FIRST = (
    "pod/research/train-small-0 set spec.priority=1",
    "pod/research/train-small-1 set spec.priority=1",
)


def optimum(
    capsys: pytest.CaptureFixture[str], slug: str, *options: str, changes: Sequence[str] = ()
) -> dict[str, Any]:
    made = [text for change in changes for text in ("--change", change)]
    assert main(["optimum", str(FOLDER / f"{slug}.yaml"), "--json", *options, *made]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def world_of(slug: str) -> RestingWorld:
    return RestingWorld(objects_of(slug), RunOptions())  # type: ignore[arg-type]


def test_the_size_trap(capsys: pytest.CaptureFixture[str]) -> None:
    found = optimum(capsys, "size-trap")
    assert found == {
        "mode": "classic",
        "pods": 2,
        "nodes": 2,
        "run": {"placed": {"0": 1}, "value": 0},
        "optimum": {
            "placed": {"0": 2},
            "value": 0,
            "assignment": {"default/small": "n2", "default/large": "n1"},
        },
        "gap": 0,
        "lost_at_cycle": 1,
        "proven": True,
        "bound": {"placed": {"0": 2}, "value": 0},
        "counts": {"possible": 9, "feasible": 5, "viable": 1},
        "not_comparable": [],
        "release": "1.36.2",
        "releaseText": "1.36.2 (nodes say v1.36.2)",
        "featureGates": {},
    }


def test_the_small_pod_of_the_size_trap_has_436_points_against_399() -> None:
    world = world_of("size-trap")
    assert totals_at_turn(world, world.waiting[0]) == {"n1": 436, "n2": 399}


@pytest.mark.parametrize(("mode", "run", "best"), [("classic", 11, 109), ("snapshot", 1112, 1290)])
def test_regret(capsys: pytest.CaptureFixture[str], mode: str, run: int, best: int) -> None:
    found = optimum(capsys, "regret", "--mode", mode)
    assert (found["run"]["value"], found["optimum"]["value"]) == (run, best)
    assert found["gap"] == best - run
    assert found["optimum"]["assignment"] == {"default/p1": "n2", "default/p2": "n1"}
    assert found["counts"] == {"possible": 9, "feasible": 7, "viable": 1}
    assert (found["lost_at_cycle"], found["proven"]) == (1, True)


def test_what_is_regretted_in_the_end_looked_best_at_every_turn(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = optimum(capsys, "regret", "--mode", "replayed")
    assert (found["gap"], found["lost_at_cycle"], found["proven"]) == (0, None, True)


def test_casualty(capsys: pytest.CaptureFixture[str]) -> None:
    found = optimum(capsys, "casualty")
    [reason] = found["not_comparable"]
    assert "default/b, default/c had to leave" in reason
    assert (found["gap"], found["optimum"]["placed"]) == (None, {"100": 0})


def test_six_gpu_nodes_as_shipped(capsys: pytest.CaptureFixture[str]) -> None:
    found = optimum(capsys, "gpu-pool")
    assert (found["pods"], found["nodes"]) == (12, 15)
    assert found["run"] == {"placed": {"0": 12}, "value": 150}
    assert (found["optimum"]["placed"], found["optimum"]["value"]) == ({"0": 12}, 150)
    assert (found["gap"], found["lost_at_cycle"], found["proven"]) == (0, None, True)
    assert found["counts"] == {"possible": 16**12, "feasible": None, "viable": None}


def test_six_gpu_nodes_with_two_pods_first(capsys: pytest.CaptureFixture[str]) -> None:
    found = optimum(capsys, "gpu-pool", changes=FIRST)
    assert found["run"] == {"placed": {"1": 2, "0": 9}, "value": 150}
    assert found["optimum"]["placed"] == {"1": 2, "0": 10}
    assert (found["optimum"]["value"], found["proven"]) == (150, True)
    assert found["lost_at_cycle"] == 2


def test_the_text_states_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimum", str(FOLDER / "size-trap.yaml")]) == 0
    text = capsys.readouterr().out
    assert text.startswith("The scheduler placed 1 of 2 pods; 2 can be placed.\n")
    assert "Until cycle 1 the best was in reach" in text
    assert "default/large: pending in the run, n1 in the best" in text


BLOCKS = re.findall(r"```\n\$ kviz (optimum .*?)```", DOCUMENT.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_the_document_shows_what_is_printed(capsys: pytest.CaptureFixture[str], block: str) -> None:
    command, _, shown = block.replace("\\\n", "").partition("\n")
    arguments = shlex.split(command)
    arguments[1] = str(FOLDER / arguments[1])
    assert main(arguments) == 0
    assert capsys.readouterr().out == shown


def test_the_document_has_all_of_the_examples() -> None:
    assert len(BLOCKS) == 6


def test_a_cluster_without_waiting_pods_is_no_problem_to_solve(
    capsys: pytest.CaptureFixture[str],
) -> None:
    change = ["--change", "pod/default/small delete", "--change", "pod/default/large delete"]
    assert main(["optimum", str(FOLDER / "size-trap.yaml"), *change]) == 1
    assert "no pod waits for a node" in capsys.readouterr().err
