"""A trial: where every pod of a cluster ended, and who ends differently after a change."""

from __future__ import annotations

import pytest

from scheduler_core.analysis.advice.trial import (
    ABSENT,
    PodEnd,
    Trials,
    differences,
    played_out,
    trial,
)
from scheduler_core.api import KubeObject, Pod
from scheduler_core.changes import ChangeError
from scheduler_core.changes.vocabulary import CopyNode, Cordon, Create, Delete, Target
from scheduler_core.sim import RunOptions
from scheduler_core.sim.run import Run
from tests.builders import make_node, make_pod

TOO_LITTLE = "0/1 nodes are available: 1 Insufficient cpu."


def cluster() -> list[KubeObject]:
    return [
        make_node("n").cpu(4).obj(),
        make_pod("held").cpu(1).gate("wait").obj(),
        make_pod("small").cpu(1).obj(),
        make_pod("big").cpu(4).obj(),
        make_pod("done").cpu(1).on("n").phase("Succeeded").obj(),
        make_pod("elsewhere").cpu(1).scheduler("other").obj(),
    ]


def test_a_trial_says_where_every_pod_ended() -> None:
    end = trial(cluster(), RunOptions())
    assert end.of("default/small") == PodEnd("bound", "n", 1, "", "default-scheduler")
    big = end.of("default/big")
    assert (big.outcome, big.node, big.cycle) == ("pending", "", 2)
    assert big.message.startswith(TOO_LITTLE)
    assert end.of("default/held") == PodEnd("pending", scheduler_name="default-scheduler")
    assert end.of("default/done").outcome == "finished"
    assert end.of("default/elsewhere") == PodEnd("pending", scheduler_name="other")
    assert end.of("default/nobody") is ABSENT
    assert end.keys("bound") == ("default/small",)
    assert end.stopped == ""


def test_victims_are_evicted_whether_they_are_gone_or_on_their_way() -> None:
    objects = [
        make_node("n").cpu(4).obj(),
        make_pod("victim").cpu(4).on("n").obj(),
        make_pod("urgent").cpu(4).priority(9).obj(),
    ]
    end = trial(objects, RunOptions())
    assert end.of("default/victim").outcome == "evicted"
    assert end.of("default/urgent").node == "n"


def test_a_run_that_is_stopped_says_why() -> None:
    assert trial(cluster(), RunOptions(max_cycles=1)).stopped == "stopped after 1 cycles"


def test_changes_are_made_before_the_run_and_leave_the_cluster_as_it_was() -> None:
    trials = Trials(cluster(), RunOptions())
    assert {each.pod: each.what for each in differences(trials.as_it_is, trials.after([]))} == {}
    more = trials.after([CopyNode("n", 1), Create((make_pod("late").cpu(9).obj(),))])
    told = {each.pod: each.what for each in differences(trials.as_it_is, more)}
    assert told == {"default/big": "newly bound", "default/late": "new"}
    none = trials.after([Cordon("n", True), Delete(Target(Pod, "default", "done"))])
    told = {each.pod: each.what for each in differences(trials.as_it_is, none)}
    assert told == {"default/small": "newly pending", "default/done": "gone"}
    moved = trials.after([CopyNode("n", 1), Cordon("n", True)])
    assert next(differences(trials.as_it_is, moved)).what == "moved"


def test_a_change_that_cannot_be_carried_out_is_refused() -> None:
    with pytest.raises(ChangeError, match="there is none"):
        Trials(cluster(), RunOptions()).after([Cordon("m", True)])


def test_a_run_that_is_loaded_already_ends_as_one_that_is_not() -> None:
    run = Run(cluster(), RunOptions())
    run.load()
    assert played_out(run) == trial(cluster(), RunOptions())
