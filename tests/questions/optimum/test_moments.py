"""The optimum of what there is when a cycle of a run begins."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kviz.cli import main
from kviz.samples import FOLDER
from scheduler_core.analysis.model import NoSuchCycle, moment_of
from scheduler_core.api import KubeObject, Pod
from scheduler_core.sim import RunOptions, load_scenario
from tests.questions.optimum.test_examples import FIRST
from tests.web.test_sample_lessons import objects_of

LATER_POD = """
steps:
  - at: 30s
    create:
      apiVersion: v1
      kind: Pod
      metadata: {name: late, namespace: default}
      spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
"""


def optimum(capsys: pytest.CaptureFixture[str], slug: str, *options: str) -> dict[str, Any]:
    assert main(["optimum", str(FOLDER / f"{slug}.yaml"), "--json", *options]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def cluster_of(slug: str) -> list[KubeObject]:
    return list(objects_of(slug))  # type: ignore[arg-type]


def test_what_earlier_cycles_placed_stays(capsys: pytest.CaptureFixture[str]) -> None:
    """With the small pod on the large node nobody can place the large one any more."""
    found = optimum(capsys, "size-trap", "--at-cycle", "2")
    assert (found["at_cycle"], found["pods"]) == (2, 1)
    assert found["run"]["placed"] == found["optimum"]["placed"] == {"0": 0}
    assert (found["gap"], found["lost_at_cycle"], found["proven"]) == (0, None, True)
    assert found["not_comparable"] == []


def test_the_first_cycle_is_the_whole_run(capsys: pytest.CaptureFixture[str]) -> None:
    whole = optimum(capsys, "size-trap")
    assert optimum(capsys, "size-trap", "--at-cycle", "1") == whole
    assert "at_cycle" not in whole


def test_evictions_of_earlier_cycles_are_over(capsys: pytest.CaptureFixture[str]) -> None:
    """As cycle 2 begins, b and c are leaving: now there is room, and the run takes it."""
    found = optimum(capsys, "casualty", "--at-cycle", "2")
    assert found["not_comparable"] == []
    assert found["run"]["placed"] == found["optimum"]["placed"] == {"100": 1}


@pytest.mark.parametrize(("cycle", "best"), [(2, {"1": 1, "0": 10}), (3, {"0": 9})])
def test_what_the_losing_cycle_lost_is_no_longer_there_after_it(
    capsys: pytest.CaptureFixture[str], cycle: int, best: dict[str, int]
) -> None:
    changes = [text for change in FIRST for text in ("--change", change)]
    found = optimum(capsys, "gpu-pool", "--at-cycle", str(cycle), *changes)
    assert found["optimum"]["placed"] == best
    assert found["lost_at_cycle"] == (2 if cycle == 2 else None)


def test_a_cycle_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimum", str(FOLDER / "size-trap.yaml"), "--at-cycle", "99"]) == 1
    assert "there is no cycle 99: the run has" in capsys.readouterr().err


def test_what_is_still_to_come_of_a_scenario_is_left() -> None:
    objects = cluster_of("size-trap")
    options = RunOptions(scenario=load_scenario(LATER_POD))
    before, after = (moment_of(objects, options, cycle) for cycle in (2, 3))
    assert len(before.options.scenario.steps) == 1
    assert after.options.scenario.steps == ()
    waiting = [
        each.key for each in after.objects if isinstance(each, Pod) and not each.spec.node_name
    ]
    assert waiting == ["default/large", "default/late"]


def test_the_moment_is_the_same_however_often_it_is_asked_for() -> None:
    objects = cluster_of("gpu-pool")
    first, second = (moment_of(objects, RunOptions(), 7).objects for _ in range(2))
    assert first == second
    with pytest.raises(NoSuchCycle):
        moment_of(objects, RunOptions(), 13)
