"""Why a pod found no node: small clusters worked out by hand, and the fixture for the browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core.plugins.node_resources import fit
from scheduler_core.trace import records as r
from scheduler_core.trace import tables
from scheduler_core.trace.cycle_record import cycle_range, cycle_record
from scheduler_core.trace.events import FilterFinished
from scheduler_core.trace.fold import fold
from scheduler_core.trace.names import Rejection
from scheduler_core.trace.nominated import Nominated, Nominee
from scheduler_core.trace.shortages import Shortage
from scheduler_core.trace.why import (
    MAX_NEAREST,
    Cause,
    FunnelStep,
    Why,
    leading_plugin,
    standing,
    why,
    why_document,
)
from tests.trace import why_cases
from tests.trace.why_cases import Run

FIXTURE = Path(__file__).with_name("why_fixture.json")
FIT, TAINTS = "NodeResourcesFit", "TaintToleration"
APART = "node(s) didn't match pod affinity rules"


@pytest.fixture(scope="module")
def cases() -> dict[str, Run]:
    return {run.name: run for run in why_cases.runs()}


def explained(run: Run, pod: str, attempt: int = 1) -> Why:
    """Explain an attempt at a pod of the namespace `shop`."""
    for cycle, found in run.whys().items():
        state = fold(run.headers[: cycle_range(run.headers, cycle).start + 1])
        assert state.cycle is not None
        started = state.cycle.started
        if (state.names.pod(started.pod), started.attempt) == (f"shop/{pod}", attempt):
            return found
    raise LookupError(pod)


def nearest(found: Why) -> list[str]:
    return [miss.node for miss in found.nearest]


def test_fixture_is_what_is_said_today() -> None:
    assert why_cases.fixture_text(why_cases.runs()) == FIXTURE.read_text(), (
        "write it again: python -m tests.trace.why_cases > tests/trace/why_fixture.json"
    )


# ---------------------------------------------------------------- nearest misses


def test_eviction_that_may_help_comes_before_what_is_short_of_nothing(
    cases: dict[str, Run],
) -> None:
    found = explained(cases["several plugins and shortages"], "too-big")
    assert nearest(found) == [
        "busy",  # evicting could help; 90 % short
        "full",  # evicting could help; the only place is taken
        "cordoned",  # nothing short
        "gpus-taken",  # 2 of 5 cpu short, too small
        "small",
        "medium",
        "control",  # two plugins against it
        "gpus-tainted",
    ]
    assert [miss.plugins for miss in found.nearest[-3:]] == [(FIT,), (TAINTS, FIT), (TAINTS, FIT)]


def test_a_tainted_node_with_room_is_nearer_than_those_without_the_device(
    cases: dict[str, Run],
) -> None:
    found = explained(cases["several plugins and shortages"], "wants-gpus")
    assert nearest(found)[:2] == ["gpus-tainted", "small"]
    assert found.nearest[0].shortages == ()
    assert found.nearest[1].shortages == (Shortage(why_cases.GPU, 2, 0, 0),)


def test_of_equals_the_one_that_came_furthest_through_filter(cases: dict[str, Run]) -> None:
    found = explained(cases["several plugins and shortages"], "picky")
    plugins = [miss.plugin for miss in found.nearest if len(miss.plugins) == 1]
    assert plugins == ["NodeAffinity", "NodeAffinity", TAINTS, TAINTS, "NodeUnschedulable"]


def test_of_equals_the_first_in_node_order_and_no_more_than_ten(cases: dict[str, Run]) -> None:
    found = explained(cases["enough feasible nodes"], "many")
    assert nearest(found) == [f"n{i:03}" for i in range(2, MAX_NEAREST + 2)]


def test_a_cycle_that_found_a_node_has_no_near_miss(cases: dict[str, Run]) -> None:
    found = explained(cases["several plugins and shortages"], "fits")
    assert (found.n_feasible, found.nearest) == (2, ())


def test_room_kept_for_nominated_pods_is_named(cases: dict[str, Run]) -> None:
    found = explained(cases["preemption and nomination"], "late")
    assert found.nearest[0].node == "n1"
    assert found.nearest[0].shortages == (Shortage("cpu", 2000, 0, 2000, nominated=2000),)
    assert found.nearest[0].shortages[0].short == 4000


def test_a_nominated_pod_of_lower_priority_keeps_no_room(cases: dict[str, Run]) -> None:
    found = explained(cases["preemption and nomination"], "vip")
    assert found.nearest[0].shortages == (Shortage("cpu", 2000, 0, 2000),)


BOSS = Nominee("shop/boss", {"cpu": 4000, "memory": 2**30})


def test_a_verdict_that_holds_only_because_of_nominated_pods_says_so(cases: dict[str, Run]) -> None:
    found = explained(cases["two-pass Filter"], "small")
    assert (found.n_held, found.causes) == (1, (Cause(FIT, "Insufficient cpu", 2, 1, 1),))
    by_node = {miss.node: miss for miss in found.nearest}
    assert by_node["n1"].nominated == Nominated("rejects", (BOSS,), None)
    assert by_node["n1"].shortages == (Shortage("cpu", 1000, 1000, 4000, nominated=4000),)
    assert by_node["n2"].nominated is None


def test_nominated_pods_may_add_a_reason(cases: dict[str, Run]) -> None:
    found = explained(cases["two-pass Filter"], "medium")
    without = Rejection(FIT, "Unschedulable", ("Insufficient cpu",))
    by_node = {miss.node: miss for miss in found.nearest}
    assert by_node["n1"].nominated == Nominated("changes", (BOSS,), without)
    assert set(by_node["n1"].reasons) == {"Insufficient cpu", "Insufficient memory"}
    assert found.n_held == 0
    assert found.causes == (
        Cause(FIT, "Insufficient cpu", 2, 1),
        Cause(FIT, "Insufficient memory", 1, 0, 1),
    )


def test_a_nominated_pod_is_not_relied_on(cases: dict[str, Run]) -> None:
    found = explained(cases["two-pass Filter"], "friend")
    by_node = {miss.node: miss for miss in found.nearest}
    apart = Rejection("InterPodAffinity", "UnschedulableAndUnresolvable", (APART,))
    assert by_node["n1"].nominated == Nominated("needed", (BOSS,), apart)
    assert (by_node["n1"].reasons, found.n_held) == ((APART,), 0)


def test_individual_verdicts_add_and_count_first(cases: dict[str, Run]) -> None:
    run = cases["several plugins and shortages"]
    plain = explained(run, "too-big")
    place = cycle_range(run.headers, 1)
    record = cycle_record(run.headers[place.start : place.stop], details=run.details[1])
    ports = Rejection("NodePorts", "Unschedulable", ("node(s) didn't have free ports",))
    recorded = Rejection(FIT, "Unschedulable", ("Insufficient cpu",))
    others = {name: [recorded] for name in nearest(plain)}
    found = why(record, fold(run.headers[: place.start]), {**others, "busy": [ports, recorded]})
    assert nearest(found) == [*nearest(plain)[1:], "busy"]
    assert found.nearest[-1].also == (ports,)
    assert found.nearest[-1].plugins == (FIT, "NodePorts")


NEVER = "UnschedulableAndUnresolvable"


@pytest.mark.parametrize(
    ("nearer", "farther"),
    [
        # What eviction removes, before a volume that is somewhere else.
        ([(FIT, "Unschedulable")], [("VolumeBinding", NEVER)]),
        # A taint may be tolerated, a node that the pod does not select stays so.
        ([(TAINTS, NEVER)], [("NodeAffinity", NEVER)]),
        ([(TAINTS, NEVER), (FIT, "Unschedulable")], [("NodeAffinity", NEVER)]),
        # A volume in another zone is nearer than a node that the pod rules out itself.
        ([("VolumeBinding", NEVER), (FIT, "Unschedulable")], [("NodeAffinity", NEVER)]),
        ([(FIT, "Unschedulable"), ("NodePorts", "Unschedulable")], [(FIT, NEVER)]),
        ([(FIT, "Unschedulable")], [(FIT, "Unschedulable"), (TAINTS, NEVER)]),
    ],
)
def test_what_stands_nearer(nearer: list[tuple[str, str]], farther: list[tuple[str, str]]) -> None:
    near, far = (
        [Rejection(plugin, code, ()) for plugin, code in each] for each in (nearer, farther)
    )
    assert standing(near) < standing(far)


# ---------------------------------------------------------------- the funnel and its causes


def test_the_funnel_accounts_for_every_node(cases: dict[str, Run]) -> None:
    for run in cases.values():
        for found in run.whys().values():
            left = found.n_nodes
            for step in found.funnel:
                if step.point == "Filter" and step.n_left + step.n_rejected != left:
                    left = found.n_examined
                left -= step.n_rejected
                assert (step.n_left, len(step.nodes)) == (left, step.n_rejected)
            if found.funnel:
                assert found.funnel[-1].n_left == found.n_feasible
            assert list(found.causes) == sorted(
                (cause for step in found.funnel for cause in step.causes),
                key=lambda cause: (-cause.n_nodes, cause.plugin, cause.reason),
            )


def test_narrowing_is_a_step_before_filter(cases: dict[str, Run]) -> None:
    found = explained(cases["narrowed by PreFilter"], "on-two")
    text = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
    assert found.funnel[0] == FunnelStep(
        "PreFilter",
        "NodeAffinity",
        3,
        2,
        ("n0", "n2", "n4"),
        (Cause("NodeAffinity", text, 3, 3),),
        3,
    )
    assert [(step.plugin, step.nodes) for step in found.funnel[1:]] == [(FIT, ("n1", "n3"))]
    assert nearest(found) == ["n3", "n1"]


def test_who_narrowed_is_not_guessed(cases: dict[str, Run]) -> None:
    found = explained(cases["narrowed by PreFilter"], "on-two-and-fits")
    assert [(step.plugin, step.causes) for step in found.funnel] == [("", ())]


def test_a_pod_that_pre_filter_rejects(cases: dict[str, Run]) -> None:
    found = explained(cases["narrowed by PreFilter"], "no-claim")
    (step,) = found.funnel
    assert (step.point, step.plugin, step.n_rejected, step.n_left) == (
        "PreFilter",
        "VolumeRestrictions",
        5,
        0,
    )
    assert found.nearest == ()


def test_nodes_that_were_not_examined_are_in_no_step(cases: dict[str, Run]) -> None:
    found = explained(cases["enough feasible nodes"], "some")
    assert found.n_examined < found.n_nodes == 112
    assert found.n_feasible == 100
    (step,) = found.funnel
    assert step.n_rejected == found.n_examined - found.n_feasible


def test_without_nodes(cases: dict[str, Run]) -> None:
    assert explained(cases["no nodes"], "lonely") == Why()


def test_without_columns_there_are_counts_only(cases: dict[str, Run]) -> None:
    run = cases["several plugins and shortages"]
    place = cycle_range(run.headers, 1)
    record = cycle_record(run.headers[place.start : place.stop])
    found = why(record, fold(run.headers[: place.start]))
    assert [(step.plugin, step.n_rejected, step.nodes) for step in found.funnel] == [
        ("NodeUnschedulable", 1, ()),
        (TAINTS, 2, ()),
        (FIT, 5, ()),
    ]
    assert (found.nearest, found.causes) == ((), ())


def test_the_leading_plugin_is_the_one_that_rejected_most_and_last() -> None:
    rejected = (r.RejectedBy(0, 2), r.RejectedBy(1, 3), r.RejectedBy(2, 3))
    assert leading_plugin(FilterFinished(8, 0, 8, rejected)) == 2
    assert leading_plugin(FilterFinished(9, 1, 8, rejected)) == r.NONE
    assert leading_plugin(FilterFinished(0, 0, 0, ())) == r.NONE


def test_reasons_are_spelled_as_the_plugin_spells_them() -> None:
    assert fit.Fit.name == tables.FIT
    assert tables.TOO_MANY_PODS == fit.TOO_MANY_PODS
    assert tables.INSUFFICIENT_OTHERS == fit.INSUFFICIENT_OTHERS


def test_the_document_has_every_part(cases: dict[str, Run]) -> None:
    found = explained(cases["preemption and nomination"], "late")
    document = why_document(found)
    assert [document[key] for key in ("n_nodes", "n_examined", "n_feasible")] == [3, 3, 0]
    assert isinstance(document["nearest"], list)
    assert document["nearest"][0] == {
        "node": "n1",
        "plugin": FIT,
        "code": "Unschedulable",
        "reasons": ["Insufficient cpu"],
        "plugins": [FIT],
        "shortages": [
            {
                "resource": "cpu",
                "requested": 2000,
                "free": 0,
                "allocatable": 2000,
                "nominated": 2000,
                "short": 4000,
            }
        ],
        "also": [],
        "nominated": None,
    }


def test_the_document_says_what_nominated_pods_do(cases: dict[str, Run]) -> None:
    document = why_document(explained(cases["two-pass Filter"], "medium"))
    assert isinstance(document["nearest"], list)
    assert document["nearest"][0]["nominated"] == {
        "effect": "changes",
        "pods": [{"pod": "shop/boss", "requests": {"cpu": 4000, "memory": 2**30}}],
        "without": {"plugin": FIT, "code": "Unschedulable", "reasons": ["Insufficient cpu"]},
    }
