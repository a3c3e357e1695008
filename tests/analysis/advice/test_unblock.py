"""What would let a pending pod bind: every answer, given as text, makes it bind where it says."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kviz.conformance.cases import list_of, read_object
from kviz.forking.copies import side_by_side
from kviz.simulate import read_files
from scheduler_core.analysis.advice.answer import Answer
from scheduler_core.analysis.advice.pods_asked import NothingToUnblock, pending_pods, with_others
from scheduler_core.analysis.advice.trial import Trials, trial
from scheduler_core.analysis.advice.unblock import (
    Tried,
    Unblocked,
    unblock,
)
from scheduler_core.api import (
    GCEPersistentDiskVolumeSource,
    KubeObject,
    Pod,
    PriorityClass,
    Volume,
)
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.changes import apply, line_of, read_line
from scheduler_core.sim import RunOptions
from tests.builders import HOSTNAME, PodBuilder, budget, make_node, make_pod
from tests.effort import examples
from tests.generator.documents import cycle_document
from tests.plugins.storage import claim, storage_class, uses, volume

CLINIC = Path("kviz/samples/clusters/why-pending.yaml")


def found_for(objects: list[KubeObject], pod: str) -> Unblocked:
    return last(unblock(Trials(objects, RunOptions()), pod))


def last(search: Iterator[Unblocked]) -> Unblocked:
    return deque(search, maxlen=1).pop()


def sentences(*objects: KubeObject) -> list[str]:
    return [each.sentence for each in found_for(list(objects), "default/p").answers]


def node_after(objects: list[KubeObject], answer: Answer, pod: str) -> str:
    """Run the changes as somebody would give them to `--change`; return where the pod is."""
    changes = [read_line(line_of(change)) for change in answer.changes]
    end = trial(apply(objects, changes), RunOptions()).of(pod)
    return end.node if end.outcome == "bound" else ""


CHEAPEST = {
    "analytics-0": "pod clinic/analytics-0: requests.cpu 12 → 6500m; "
    "pod clinic/analytics-0: requests.memory 48Gi → 30208Mi",
    "archiver-0": "bind claim clinic/archive to a new volume",
    "backup-0": "create claim clinic/backup-target with a new volume",
    "ingress-2": "uncordon node worker-3; untaint node worker-3 node.kubernetes.io/unschedulable",
    "launch-0": "pod clinic/launch-0: spec.schedulingGates "
    '[{"name":"example.com/quota-approved"}] → none',
    "ledger-2": "uncordon node worker-3; untaint node worker-3 node.kubernetes.io/unschedulable",
    "metrics-0": "make pod clinic/metrics-0 again for another scheduler",
    "router-0": "let pod clinic/router-0 prefer what its podAffinity requires",
    "sensor-0": "pod clinic/sensor-0: spec.nodeSelector.disktype nvme → none",
    "train-1": "add 1 node like gpu-1",
    "train-2": "let pod clinic/train-2 tolerate nvidia.com/gpu=present:NoSchedule, and create "
    "priorityclass above-0; pod clinic/train-2: spec.priorityClassName none → above-0",
    "zonal-0": "pod clinic/zonal-0: spec.topologySpreadConstraints[0].whenUnsatisfiable "
    "DoNotSchedule → ScheduleAnyway",
}
"""The best answer for each pending pod of the clinic."""


@pytest.mark.long
def test_every_pod_of_the_clinic_can_be_helped_and_the_top_answer_binds_it() -> None:
    objects = list(read_files([CLINIC]).objects)
    trials = Trials(objects, RunOptions())
    told = {}
    for pod in trials.as_it_is.keys("pending"):
        found = last(unblock(trials, pod))
        assert found.complete
        best = found.answers[0]
        assert node_after(objects, best, pod) == best.node
        told[pod.removeprefix("clinic/")] = best.sentence
    assert told == CHEAPEST


@examples(6)
@given(st.integers(0, 2**32 - 1))
def test_every_answer_makes_the_pod_bind_where_it_says(seed: int) -> None:
    given = cycle_document(seed)["input"]
    objects = [read_object(each) for each in (*list_of(given, "objects"), given["pod"])]
    trials = Trials(objects, RunOptions())
    for pod in trials.as_it_is.keys("pending")[:1]:
        found = last(unblock(trials, pod))
        for answer in found.answers:
            assert node_after(objects, answer, pod) == answer.node
        assert [each.rank for each in found.answers] == sorted(e.rank for e in found.answers)


def in_handfuls(
    work: Callable[[int], Tried], numbers: Iterator[int]
) -> Iterator[tuple[int, Tried]]:
    """Five at a time, the last one done first."""
    while handful := list(islice(numbers, 5)):
        yield from [(number, work(number)) for number in reversed(handful)]


def test_how_many_runs_there_are_at_a_time_does_not_matter() -> None:
    objects = [
        make_node("tainted").cpu(4).taint("gpu").obj(),
        make_node("small").cpu(2).label("disk", "ssd").obj(),
        make_pod("p").cpu(6).node_selector("disk", "ssd").obj(),
    ]
    trials = Trials(objects, RunOptions())
    alone = last(unblock(trials, "default/p"))
    assert alone.answers
    assert alone.n_tried > 5
    assert last(unblock(trials, "default/p", in_handfuls)) == alone
    if hasattr(os, "fork"):
        assert last(unblock(trials, "default/p", side_by_side(2))) == alone


# ---------------------------------------------------------------- one reason each


def test_the_largest_request_that_fits() -> None:
    told = sentences(make_node("n").cpu(4).obj(), make_pod("p").cpu(6).obj())
    assert "pod default/p: requests.cpu 6 → 4" in told


def runs(name: str, cpu: int = 2) -> PodBuilder:
    pod = make_pod(name).label("app", "web").owner("ReplicaSet", "web").cpu(cpu)
    return pod.on("n").phase("Running")


ALLOWS = (("default/web", ("default/web-0",), 1),)
FORBIDS = (("default/web", ("default/web-0",), 0),)


@pytest.mark.parametrize(
    ("budgets", "price", "says"),
    [
        ([], 5, ()),
        ([budget("web", min_available=1, allowed=1)], 5, ALLOWS),
        ([budget("web", min_available=0, allowed=0)], 15, FORBIDS),
        ([budget("web", min_available=1)], 15, FORBIDS),
        ([budget("web", min_available=0)], 5, ALLOWS),
    ],
    ids=["none", "allows", "forbids", "would forbid", "would allow"],
)
def test_a_pod_that_has_an_owner_is_moved_and_its_budget_counts(
    budgets: list[KubeObject], price: int, says: tuple[object, ...]
) -> None:
    objects = [
        make_node("n").cpu(4).obj(),
        make_node("m").cpu(2).obj(),
        runs("web-0").obj(),
        *budgets,
        make_pod("p").cpu(4).obj(),
    ]
    found = found_for(list(objects), "default/p")
    move = next(each for each in found.answers if each.kinds == ("move",))
    assert (move.node, move.newly_pending, move.price) == ("n", (), price)
    assert move.sentence == "delete pod default/web-0 on n (let its owner recreate it)"
    assert move.leaving == ("default/web-0",)
    assert tuple((each.budget, each.pods, each.n_allowed) for each in move.budgets) == says


def test_a_budget_that_allows_one_of_two_makes_the_other_dear() -> None:
    objects = [
        make_node("n").cpu(4).obj(),
        make_node("m").cpu(2).obj(),
        *(runs(f"web-{i}").obj() for i in range(2)),
        budget("web", min_available=1, allowed=1),
        make_pod("p").cpu(4).obj(),
    ]
    found = found_for(list(objects), "default/p")
    move = next(each for each in found.answers if each.kinds == ("move",))
    assert sorted(move.leaving) == ["default/web-0", "default/web-1"]
    assert [(len(each.pods), each.n_allowed, each.are_allowed) for each in move.budgets] == [
        (2, 1, False)
    ]
    assert (len(move.newly_pending), move.price) == (1, 5 + 5 + 10 + 4)


@pytest.mark.parametrize(("allowed", "dearer"), [(1, 0), (0, 10)])
def test_who_is_evicted_against_a_budget_makes_the_answer_dear(allowed: int, dearer: int) -> None:
    high = PriorityClass(metadata=ObjectMeta(name="high"), value=10)
    objects = [
        high,
        make_node("n").cpu(4).obj(),
        runs("web-0", cpu=4).obj(),
        budget("web", min_available=1, allowed=allowed),
        make_pod("p").cpu(4).obj(),
    ]
    found = found_for(list(objects), "default/p")
    raised = next(each for each in found.answers if each.kinds == ("priority",))
    assert (raised.evicted, raised.leaving) == (("default/web-0",), ())
    assert [(each.budget, each.are_allowed) for each in raised.budgets] == [
        ("default/web", bool(allowed))
    ]
    assert raised.price == 4 + 6 + dearer


def test_what_was_tried_is_listed_with_what_came_of_it() -> None:
    node = make_node("n").cpu(4).taint("gpu").obj()
    found = found_for([node, make_pod("p").cpu(6).obj()], "default/p")
    results = {each.sentence: each.result for each in found.plans}
    assert len(found.plans) == found.n_tried
    for is_risky in (False, True):  # the harmless first, of these the cheapest
        prices = [each.price for each in found.plans if ("untaint" in each.sentence) is is_risky]
        assert prices == sorted(prices)
    assert [each.sentence.startswith("untaint") for each in found.plans[-2:]] == [True, True]
    assert results["let pod default/p tolerate gpu:NoSchedule"] == "no node"
    both = "let pod default/p tolerate gpu:NoSchedule, and pod default/p: requests.cpu 6 → 4"
    assert results[both] == "binds"
    assert {each.sentence for each in found.answers} == {
        sentence for sentence, result in results.items() if result == "binds"
    }


def test_a_higher_class_preempts_and_says_whom() -> None:
    high = PriorityClass(metadata=ObjectMeta(name="high"), value=10)
    objects = [
        high,
        make_node("n").cpu(4).obj(),
        make_pod("web").cpu(4).on("n").phase("Running").obj(),
        make_pod("p").cpu(4).obj(),
    ]
    found = found_for(list(objects), "default/p")
    raised = next(each for each in found.answers if each.kinds == ("priority",))
    assert raised.evicted == ("default/web",)
    assert raised.sentence == "pod default/p: spec.priorityClassName none → high"


def test_who_holds_a_disk_or_a_claim_for_one_pod_may_leave() -> None:
    gone = "delete pod default/holder on n (bare pod, no controller)"
    disk = Volume(name="v", gce_persistent_disk=GCEPersistentDiskVolumeSource(pd_name="d"))
    stored = [
        claim("c", volume="pv", modes=["ReadWriteOncePod"]),
        volume("pv", claimed_by="c", modes=["ReadWriteOncePod"]),
        storage_class(),
    ]
    for mounted in ((disk,), uses("c")):
        holder = make_pod("holder").volumes(*mounted).on("n").phase("Running").obj()
        asking = make_pod("p").volumes(*mounted).obj()
        found = found_for([make_node("n").obj(), *stored, holder, asking], "default/p")
        answer = next(each for each in found.answers if each.losing)
        assert (answer.sentence, answer.node) == (gone, "n")


def test_two_plugins_against_a_pod_make_a_pair() -> None:
    node = make_node("n").cpu(4).taint("gpu").obj()
    told = sentences(node, make_pod("p").cpu(1).node_selector("disk", "ssd").obj())
    assert told[0] == (
        "let pod default/p tolerate gpu:NoSchedule, and pod default/p: spec.nodeSelector.disk "
        "ssd → none"
    )


def test_one_node_stands_for_all_of_its_kind() -> None:
    nodes = [make_node(f"n{i}").cpu(4).taint("gpu").obj() for i in range(200)]
    found = found_for([*nodes, make_pod("p").cpu(1).obj()], "default/p")
    assert found.n_plans < 10
    assert found.complete


def of_web(n: int) -> list[KubeObject]:
    return [make_pod(f"p{i}").owner("ReplicaSet", "web").cpu(3).obj() for i in range(n)]


def test_all_pods_of_an_owner_are_asked_about() -> None:
    trials = Trials([make_node("n").cpu(2).obj(), *of_web(3)], RunOptions())
    waiting = ("default/p0", "default/p1", "default/p2")
    assert pending_pods(trials, "ReplicaSet", "default", "web") == waiting
    assert with_others(trials, "default/p1") == ("default/p1", "default/p0", "default/p2")
    with pytest.raises(NothingToUnblock, match="has no pending pod"):
        pending_pods(trials, "ReplicaSet", "default", "other")


def test_what_is_changed_of_a_pod_is_changed_of_all_of_its_owner() -> None:
    objects = [make_node("n").cpu(9).taint("gpu").obj(), *of_web(3)]
    trials = Trials(objects, RunOptions())
    found = last(unblock(trials, "default/p0", others=["default/p1", "default/p2"]))
    best = found.answers[0]
    assert best.sentence == (
        "let pod default/p0 tolerate gpu:NoSchedule (and so of 2 more of its pods)"
    )
    assert (best.n_helped, best.price, len(best.changes)) == (3, 2, 3)
    for pod in found.pods:
        assert node_after(objects, best, pod) == "n"


def test_an_answer_says_how_many_pods_of_the_owner_it_helps() -> None:
    objects = [make_node("n").cpu(4).obj(), *of_web(4)]
    trials = Trials(objects, RunOptions())
    first, *others = pending_pods(trials, "ReplicaSet", "default", "web")
    answers = last(unblock(trials, first, others=others)).answers
    helped = {each.sentence: (each.n_helped, each.price) for each in answers}
    assert helped["add 1 node like n"] == (1, 10 + 2 * 12)
    assert helped["add 3 nodes like n"] == (3, 30)
    assert answers[0].n_helped == 3


def test_of_a_pod_that_the_run_places_it_is_said_that_nothing_has_to_change() -> None:
    victim = make_pod("low").cpu(3).on("n").obj()
    pod = make_pod("p").cpu(3).priority(5).obj()
    found = found_for([make_node("n").cpu(4).obj(), victim, pod], "default/p")
    assert found.bound == (
        "default/p is pending in the file, and the run places it on n: nothing has to change; "
        "the run evicts default/low"
    )
    assert (found.answers, found.complete) == ((), True)


def test_only_a_pending_pod_can_be_unblocked() -> None:
    objects: list[KubeObject] = [make_node("n").cpu(4).obj(), make_pod("p").cpu(1).obj()]
    with pytest.raises(NothingToUnblock, match="is bound"):
        found_for([objects[0], make_pod("p").on("n").obj()], "default/p")
    with pytest.raises(NothingToUnblock, match="is not there"):
        found_for(objects, "default/q")
    assert isinstance(objects[1], Pod)


def test_nodes_whose_taints_the_pod_does_not_tolerate_may_be_left_out_of_a_spread() -> None:
    tainted = make_node("cp").label(HOSTNAME, "cp").taint("node-role.kubernetes.io/control-plane")
    running = make_pod("web").label("app", "web").on("w").phase("Running").obj()
    pod = make_pod("p").label("app", "web").spread(HOSTNAME, 1, app="web").obj()
    first = sentences(tainted.obj(), make_node("w").label(HOSTNAME, "w").obj(), running, pod)[0]
    assert first.endswith("nodeTaintsPolicy none → Honor")


def test_no_plan_does_one_thing_twice() -> None:
    node = make_node("n").taint("node.kubernetes.io/unschedulable").cordoned().obj()
    found = found_for([node, make_pod("p").obj()], "default/p")
    lines = [[line_of(change) for change in each.changes] for each in found.answers]
    assert lines
    assert all(len(set(each)) == len(each) for each in lines)
