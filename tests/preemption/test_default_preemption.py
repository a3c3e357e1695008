"""What preemption does to the cluster: eligibility, nomination, eviction, the next attempt."""

from __future__ import annotations

from scheduler_core.api import KubeObject, Pod
from scheduler_core.config import load_configuration
from scheduler_core.preemption.report import PreemptionReport
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.sim.simulation import Timing
from scheduler_core.trace.events import (
    EventRecorded,
    PodEvicted,
    PreemptionDecided,
)
from tests.builders import budget, make_node, make_pod
from tests.simulated import SECOND_NS, Cluster, not_scheduled


def full_node() -> list[KubeObject]:
    return [
        make_node("n1").cpu(4).obj(),
        make_pod("low").cpu(4).on("n1").obj(),
        make_pod("high").cpu(2).priority(10).obj(),
    ]


def test_the_message_of_a_started_preemption_ends_after_the_filter_reasons() -> None:
    attempt = Cluster(*full_node()).attempt()
    failure = not_scheduled(attempt)
    assert failure.message == "0/1 nodes are available: 1 Insufficient cpu."


def test_graceful_victims_keep_the_preemptor_waiting() -> None:
    """While its victim terminates, the preemptor is not eligible to preempt again."""
    world = Cluster(*full_node(), timing=Timing(binding_ns=0))
    world.attempt()
    victim = world.simulation.server.get(Pod, "default/low")
    assert victim is not None
    assert victim.metadata.deletion_timestamp is not None
    assert [c.type for c in victim.status.conditions] == ["DisruptionTarget"]
    evicted = next(event for event in world.trace if isinstance(event, PodEvicted))
    assert evicted.gone_at_ns == world.simulation.clock.now_ns() + 30 * SECOND_NS
    world.simulation.advance_to(evicted.gone_at_ns)
    assert not world.exists("low")
    assert world.attempt().suggested_host == "n1"


def test_lesser_nominations_on_the_node_are_cleared() -> None:
    world = Cluster(
        make_node("n1").cpu(4).obj(),
        make_pod("low").cpu(4).on("n1").obj(),
        make_pod("middle").cpu(4).priority(5).obj(),
    )
    world.attempt()
    assert world.simulation.scheduler.queue.nominator.nominations() == {"default/middle": "n1"}
    world.attempt()
    world.simulation.load([make_pod("top").cpu(4).priority(9).obj()])
    world.attempt()
    assert world.simulation.scheduler.queue.nominator.nominations() == {"default/top": "n1"}


def test_victims_hear_who_preempted_them() -> None:
    world = Cluster(*full_node())
    world.attempt()
    notes = [
        e.message for e in world.trace if isinstance(e, EventRecorded) and e.reason == "Preempted"
    ]
    assert notes == ["Preempted by pod default/high on node n1"]


def test_the_trace_tells_the_decision() -> None:
    world = Cluster(*full_node())
    world.attempt()
    decided = next(event for event in world.trace if isinstance(event, PreemptionDecided))
    assert (decided.winner, decided.victims) == (0, (0,))


# ---------------------------------------------------------------- how many candidates are wanted


def limited(percentage: int, absolute: int, budgeted: str) -> Cluster:
    """Four full nodes, a pod that may preempt on each, and budgets for pods labelled so."""
    configuration = f"""
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        profiles:
        - pluginConfig:
          - name: DefaultPreemption
            args:
              minCandidateNodesPercentage: {percentage}
              minCandidateNodesAbsolute: {absolute}
    """
    objects: list[KubeObject] = [budget("kept", allowed=0)]
    for i in range(4):
        objects.append(make_node(f"n{i}").cpu(1).obj())
        pod = make_pod(f"p{i}").cpu(1).on(f"n{i}").priority(i)
        objects.append((pod.label("app", "kept") if str(i) in budgeted else pod).obj())
    objects.append(make_pod("high").cpu(1).priority(10).obj())
    options = SchedulerOptions(configuration=load_configuration(configuration))
    return Cluster(*objects, options=options)


def tried(report: PreemptionReport) -> tuple[list[str], list[str]]:
    runs = [run.node_name for run in report.dry_runs]
    return runs, [candidate.node_name for candidate in report.candidates]


def test_a_share_of_the_nodes_that_is_less_than_one_finds_no_candidate() -> None:
    """Upstream keeps as many candidates as it wants, which is none of them."""
    world = limited(10, 0, "")
    attempt = world.attempt()
    assert attempt.post_filter is not None
    report = attempt.post_filter.report
    assert isinstance(report, PreemptionReport)
    assert tried(report) == (["n0", "n1", "n2", "n3"], [])
    assert not_scheduled(attempt).message.endswith(
        "preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
    )


def test_of_those_that_break_a_budget_no_more_are_kept_than_wanted() -> None:
    report = limited(0, 2, "0123").preempt()
    assert tried(report) == (["n0", "n1", "n2", "n3"], ["n0", "n1"])
    assert report.winner == "n0"


def test_the_search_goes_on_to_one_that_breaks_no_budget() -> None:
    report = limited(0, 1, "012").preempt()
    assert tried(report) == (["n0", "n1", "n2", "n3"], ["n0", "n3"])
    assert report.winner == "n3"
