"""The formal model of cycles whose values were worked out beforehand (docs/model.md)."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_core.analysis.model.cycle import (
    CycleModel,
    Decided,
    cycle_model,
    model_text,
    recorded_model,
    statement,
    tla_module,
)
from scheduler_core.analysis.model.cycle.partings import Rule
from scheduler_core.api import (
    Affinity,
    KubeObject,
    LabelSelector,
    PodAffinity,
    PodAffinityTerm,
    WeightedPodAffinityTerm,
)
from scheduler_core.sim import RunOptions
from scheduler_core.sim.reenactment import reenact_cycle
from tests.analysis.model.tla_parsing import problems_in
from tests.builders import HOSTNAME, ZONE, make_node, make_pod


def model_of(
    *objects: KubeObject, cycle: int = 1, node: str = "", **recorded: object
) -> CycleModel:
    """Model a cycle; what follows the decision is to be given as it was `recorded`."""
    found = reenact_cycle(objects, RunOptions(), cycle)
    assert found is not None
    step, scoring = found.decision.filtering, found.decision.scoring
    assert step is not None
    totals = scoring.totals if scoring is not None else np.zeros(0, np.int64)
    top = [step.feasible.name(int(i)) for i in np.flatnonzero(totals == totals.max(initial=0))]
    values = {
        "cycle": cycle,
        "pod": found.pod,
        "result": "scheduled" if found.node else "unschedulable",
        "node": found.node,
        "picked": found.node,
        "n_nodes": found.nodes.n,
        "n_examined": step.examined.n,
        "n_feasible": step.feasible.n,
        "n_tied": len(top),
        "feasible": tuple(step.feasible.names),
        "top": tuple(top),
    }
    decided = Decided(**(values | recorded))  # type: ignore[arg-type]
    return cycle_model(found, decided, node)


def flagged(model: CycleModel) -> set[Rule]:
    return {each.rule for each in model.partings if each.flagged}


def parting(model: CycleModel, rule: Rule) -> str:
    return next(each.text for each in model.partings if each.rule == rule)


FULL = (
    make_node("n1").cpu(4).pods(10).obj(),
    make_pod("a").cpu(2).priority(10).on("n1").obj(),
    make_pod("b").cpu(1).priority(9).on("n1").obj(),
    make_pod("c").cpu(1).priority(8).on("n1").obj(),
    make_pod("p").cpu(2).priority(100).obj(),
)


def test_every_set_of_pods_is_tried_and_the_path_of_the_reprieve_is_kept() -> None:
    model = model_of(*FULL, nominated="n1", victims=("default/b", "default/c"))
    assert model.loop.scheduling_enabled is False
    assert model.loop.branch == "Preemption"
    assert model.loop.taken == "Preemption"
    preemption = model.preemption
    assert preemption is not None
    assert preemption.complete
    (node,) = preemption.nodes
    assert (node.n_subsets, node.n_feasible, node.without_all) == (8, 5, True)
    fitting = [each.pods for each in node.subsets if each.feasible]
    assert fitting[0] == ("default/a",)
    assert [(step.pod, step.kept) for step in node.reprieve] == [
        ("default/a", True),
        ("default/b", False),
        ("default/c", False),
    ]
    assert node.found == ("default/b", "default/c")
    assert not node.missed
    assert [(each.node, each.pods) for each in preemption.least] == [
        ("n1", ("default/b", "default/c"))
    ]
    assert "reprieve" not in flagged(model)
    assert model.after.model_gone == ("default/b", "default/c")


def test_it_is_said_where_the_reprieve_missed_the_least() -> None:
    # The largest pod is put back first as the most important of equals, and keeps two others out.
    model = model_of(
        make_node("n1").cpu(4).pods(10).obj(),
        make_pod("a").cpu(2).priority(5).on("n1").obj(),
        make_pod("b").cpu(1).priority(5).on("n1").obj(),
        make_pod("c").cpu(1).priority(5).on("n1").obj(),
        make_pod("p").cpu(2).priority(100).obj(),
        nominated="n1",
        victims=("default/b", "default/c"),
    )
    assert model.preemption is not None
    (node,) = model.preemption.nodes
    assert node.found == ("default/b", "default/c")
    assert node.least is not None
    assert node.subsets[node.least].pods == ("default/a",)
    assert node.missed
    assert "reprieve" in flagged(model)
    assert parting(model, "reprieve").startswith("Evicting {default/a} from n1 would do less harm")


def test_a_pod_that_never_preempts_is_where_the_model_goes_another_way() -> None:
    pods = [
        make_pod("p").cpu(2).priority(100).spec(preemption_policy="Never").obj()
        if item.key == "default/p"
        else item
        for item in FULL
    ]
    model = model_of(*pods, ineligible="not eligible due to preemptionPolicy=Never.")
    assert model.loop.branch == "Preemption"
    assert model.loop.taken == "UNCHANGED"
    assert "preemptionPolicy" in flagged(model)
    assert "The model evicts {default/b, default/c} from n1" in parting(model, "preemptionPolicy")


def test_more_pods_than_can_be_tried_are_said_so() -> None:
    crowd = [make_pod(f"v{i:02}").cpu(1).on("n1").obj() for i in range(13)]
    model = model_of(
        make_node("n1").cpu(13).pods(20).obj(), *crowd, make_pod("p").cpu(2).priority(9).obj()
    )
    assert model.preemption is not None
    (node,) = model.preemption.nodes
    assert (node.n_subsets, node.subsets, node.without_all) == (8192, (), True)
    assert not model.preemption.complete
    assert model.preemption.enabled is True
    assert problems_in(tla_module(model)) == []


def test_feasibility_has_every_conjunct_not_only_the_first_that_fails() -> None:
    model = model_of(
        make_node("n1").cpu(1).pods(1).taint("dedicated", "db").obj(),
        make_node("n2").cpu(8).pods(5).obj(),
        make_pod("there").cpu("300m").on("n1").obj(),
        make_pod("p").cpu(2).spec(node_selector={"disk": "ssd"}).obj(),
        node="n1",
    )
    found = model.feasibility
    assert found is not None
    assert not found.holds
    failing = {each.plugin: each.classic for each in found.conjuncts if not each.holds}
    assert failing == {
        "TaintToleration": "1.4",
        "NodeAffinity": "1.3, 1.5",
        "NodeResourcesFit": "1.2",
    }
    (fit,) = [each for each in found.conjuncts if each.plugin == "NodeResourcesFit"]
    assert [line.text for line in fit.lines] == [
        "1 > 1 allocatable - 1 there = 0 pods",
        "cpu: max(init) 0, sum(main) 2: 2 > 1 allocatable - 0.3 requested = 0.7",
    ]


def test_with_one_feasible_node_viability_is_not_evaluated() -> None:
    model = model_of(make_node("n1").cpu(4).pods(5).obj(), make_pod("p").cpu(1).obj())
    assert model.viability is None
    assert not model.places.viability_evaluated
    assert model.places.viable.members == ("n1",)
    assert "Viability not evaluated" in model_text(model)
    assert statement(model).startswith("The only node is feasible")
    assert problems_in(tla_module(model)) == []


def test_both_viabilities_and_where_the_classic_one_would_go() -> None:
    term = PodAffinityTerm(
        topology_key=ZONE, label_selector=LabelSelector(match_labels={"app": "db"})
    )
    wish = WeightedPodAffinityTerm(weight=50, pod_affinity_term=term)
    wishes = PodAffinity(preferred_during_scheduling_ignored_during_execution=(wish,))
    near = make_pod("p").cpu(1).affinity(Affinity(pod_affinity=wishes))
    model = model_of(
        make_node("n1").cpu(8).pods(9).zone("a").label(HOSTNAME, "n1").obj(),
        make_node("n2").cpu(8).pods(9).zone("b").label(HOSTNAME, "n2").obj(),
        make_pod("db").label("app", "db").cpu(7).on("n1").obj(),
        near.obj(),
    )
    rated = model.viability
    assert rated is not None
    assert {each.node: each.classic for each in rated.nodes} == {"n1": 50, "n2": 0}
    assert rated.classic_best == ("n1",)
    for each in rated.nodes:
        assert each.total == sum(score.points for score in each.scores)
    assert ("normalised" in flagged(model)) == (model.places.chosen != "n1")


def test_a_search_that_stops_early_says_at_least() -> None:
    nodes = [make_node(f"n{i:03}").cpu(4).pods(9).obj() for i in range(150)]
    model = model_of(*nodes, make_pod("p").cpu(1).obj())
    assert model.places.possible.n == 150
    assert model.places.feasible.at_least
    assert model.places.feasible.n == 100
    assert statement(model).startswith("At least 100 of 150 nodes are feasible")


def test_a_gated_pod_of_higher_priority_is_what_the_model_would_take() -> None:
    model = model_of(
        make_node("n1").cpu(4).pods(5).obj(),
        make_pod("held").priority(9).gate("example.com/later").obj(),
        make_pod("p").cpu(1).obj(),
    )
    assert model.cluster is not None
    assert model.cluster.unbound.n == 2
    assert model.cluster.highest.members == ("default/held",)
    assert "queues" in flagged(model)
    assert "default/held (priority 9), which is gated" in parting(model, "queues")


def test_where_permit_rejects_the_pod_the_node_that_was_chosen_is_named() -> None:
    nodes = [make_node(name).cpu(4).pods(5).obj() for name in ("n1", "n2")]
    pod = make_pod("p").cpu(1).obj()
    model = model_of(*nodes, pod, result="unschedulable", node="", picked="n1")
    assert statement(model) == (
        "2 of 2 nodes are feasible, 2 of these viable. default/p does not get a node: n1 was "
        "chosen, and a step after that rejected it; the model has no such step."
    )
    assert parting(model, "heapRoot").endswith("the scheduler took n1")


@pytest.mark.parametrize(
    ("result", "later"),
    [
        ("unschedulable", " Later it is rejected: the model has no such step."),
        ("waiting", ""),
    ],
)
def test_a_pod_that_permit_holds_waits_on_its_node(result: str, later: str) -> None:
    pod = make_pod("p").cpu(1).obj()
    node = make_node("n1").cpu(4).pods(5).obj()
    model = model_of(node, pod, result=result, node="", picked="n1", waited=True)
    assert statement(model).endswith(f" feasible. default/p waits on n1 for Permit.{later}")
    assert ("later" in model.after.note) == bool(later)


def test_soft_taints_are_filters_to_the_model_only() -> None:
    model = model_of(
        make_node("n1").cpu(4).pods(5).taint("slow", "disk", "PreferNoSchedule").obj(),
        make_pod("p").cpu(1).obj(),
    )
    assert "preferNoSchedule" in flagged(model)


def test_of_a_cycle_that_cannot_be_re_enacted_there_is_what_the_trace_holds() -> None:
    decided = Decided(
        cycle=3,
        pod="shop/web",
        result="unknown",
        node="",
        picked="",
        n_nodes=5,
        n_examined=5,
        n_feasible=2,
        n_tied=0,
        feasible=("n1", "n2"),
        top=(),
        release_text="1.37.2 (nodes say v1.37.1)",
    )
    model = recorded_model(decided, "A real scheduler decided this cycle.")
    assert model_text(model).split("\n")[1] == "Kubernetes v1.37.2 (nodes say v1.37.1)"
    assert model.places.possible.n == 5
    assert model.places.feasible.members == ("n1", "n2")
    assert model.loop.scheduling_enabled is True
    assert (model.cluster, model.feasibility, model.preemption) == (None, None, None)
    assert "Not known here: A real scheduler decided" in model_text(model)
    with pytest.raises(ValueError, match="A real scheduler"):
        tla_module(model)
