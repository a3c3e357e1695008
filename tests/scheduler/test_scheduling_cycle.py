"""One scheduling cycle: which nodes are looked at, when scoring is left out, how cycles fail."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_core.api import Node, Pod
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import feature_gates
from scheduler_core.framework.events import ClusterEventWithHint
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, Verdict
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.outcome import Scheduled
from scheduler_core.trace.events import (
    CycleFinished,
    FilterColumns,
    FilterFinished,
    ScoreColumns,
)
from scheduler_core.trace.records import NominatedOnNode, NominatedPod, Result
from tests.builders import PodBuilder, make_node, make_pod
from tests.simulated import Cluster, not_scheduled

LIST_DEFAULTS = """\
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
"""


def nodes(n: int, *, cpu: int = 4) -> list[Node]:
    return [make_node(f"n{i}").cpu(cpu).obj() for i in range(n)]


def examined(attempt: Cycle) -> list[str]:
    assert attempt.filtering is not None
    return list(attempt.filtering.examined.names)


class Picky:
    """Turns nodes down by name, and remembers what it was asked."""

    name = "Picky"

    def __init__(self, *refused: str, code: Code = Code.UNSCHEDULABLE) -> None:
        self.refused = set(refused)
        self.code = code

    def filter(self, state: None, pod: PodInfo, nodes: Nodes) -> Verdict:
        where = np.array([name in self.refused for name in nodes.names], np.bool_)
        return Verdict.reject(where, self.code, "picky")


class Narrow:
    """Narrows the nodes in PreFilter."""

    name = "Narrow"

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[None]:
        return Prepared(None, self.names)


class PreFilterSays:
    name = "PreFilterSays"

    def __init__(self, status: Status) -> None:
        self.status = status

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Status:
        return self.status

    def events_to_register(self) -> tuple[ClusterEventWithHint, ...]:
        return ()


class PreScoreSays:
    name = "PreScoreSays"

    def __init__(self, status: Status) -> None:
        self.status = status

    def pre_score(self, state: object, pod: PodInfo, nodes: Nodes) -> Status:
        return self.status


class ScoreOf:
    """Gives every node the same score."""

    name = "ScoreOf"

    def __init__(self, score: int) -> None:
        self.value = score

    def score(self, state: None, pod: PodInfo, nodes: Nodes) -> Scores:
        return np.full(nodes.n, self.value, np.int64)


# ---------------------------------------------------------------- the nominated node first


def test_nominated_pods_that_decide_are_recorded_wherever_the_search_meets_them() -> None:
    """The search filters block by block, and may examine less than it has filtered."""
    rivals = [make_pod(f"rival-{i}").cpu(3).nominated(f"n{i}").obj() for i in (1, 250, 299)]
    picky = Picky(*(f"n{i}" for i in range(150) if i != 1))
    cluster = Cluster(*nodes(300), make_pod("p").cpu(2).obj(), *rivals, plugins=[picky])
    assert len(examined(cluster.attempt())) == 295
    assert cluster.of_type(FilterFinished)[0].n_held == 2
    recorder = cluster.recorder
    numbers = [
        (recorder.node(f"n{i}"), recorder.pod(cluster.pod(f"rival-{i}").uid)) for i in (1, 250)
    ]
    assert cluster.of_type(FilterColumns)[0].nominated == tuple(
        NominatedOnNode(node, (NominatedPod(pod, recorder.amounts({"cpu": 3000})),), 0)
        for node, pod in numbers
    )


# ---------------------------------------------------------------- sampling and rotation


def test_without_score_plugins_the_first_node_that_fits_is_taken() -> None:
    no_scores = "  plugins:\n    score:\n      disabled: [{name: '*'}]\n"
    cluster = Cluster(*nodes(5), make_pod("p").obj(), profile=no_scores)
    attempt = cluster.attempt()
    assert attempt.filtering is not None
    assert attempt.filtering.n_to_find == 1
    assert attempt.suggested_host == "n0"
    assert cluster.of_type(ScoreColumns) == []


def test_nodes_that_pre_filter_left_out_are_counted_against_its_plugin() -> None:
    cluster = Cluster(
        *nodes(4), make_pod("p").obj(), plugins=[Narrow("n1", "n2"), Picky("n1", "n2")]
    )
    attempt = cluster.attempt()
    failure = not_scheduled(attempt)
    assert failure.message.startswith(
        "0/4 nodes are available: 2 node(s) didn't satisfy plugin(s) [Narrow], 2 picky."
    )
    assert failure.unschedulable_plugins == {"Narrow", "Picky"}


# ---------------------------------------------------------------- PreFilter narrows


def test_nothing_left_after_pre_filter_ends_the_cycle() -> None:
    cluster = Cluster(*nodes(2), make_pod("p").obj(), plugins=[Narrow()])
    attempt = cluster.attempt()
    failure = not_scheduled(attempt)
    assert attempt.filtering is None
    assert "node(s) didn't satisfy plugin Narrow" in failure.message


def test_a_pre_filter_rejection_counts_for_every_node() -> None:
    says = PreFilterSays(Status(Code.UNSCHEDULABLE, ("not today",)))
    cluster = Cluster(*nodes(3), make_pod("p").obj(), plugins=[says])
    attempt = cluster.attempt()
    failure = not_scheduled(attempt)
    assert failure.message.startswith("0/3 nodes are available: not today.")
    assert failure.unschedulable_plugins == {"PreFilterSays"}
    assert cluster.parked() == ["p"]


# ---------------------------------------------------------------- scoring


def test_the_trace_has_a_verdict_for_every_node_and_a_score_for_the_feasible() -> None:
    cluster = Cluster(*nodes(4), make_pod("p").obj(), plugins=[Picky("n0")])
    cluster.attempt()
    (columns,) = cluster.of_type(FilterColumns)
    assert [columns.statuses[i].code for i in columns.status.array()] == [
        "Unschedulable",
        "Success",
        "Success",
        "Success",
    ]
    (scores,) = cluster.of_type(ScoreColumns)
    totals = [each.normalized.array() * each.weight for each in scores.plugins]
    assert np.sum(totals, axis=0).tolist() == scores.totals.array().tolist()


# ---------------------------------------------------------------- failures


def test_a_filter_error_ends_the_cycle_at_once() -> None:
    broken = Picky("n1", code=Code.ERROR)
    cluster = Cluster(*nodes(3), make_pod("p").obj(), plugins=[broken])
    attempt = cluster.attempt()
    failure = not_scheduled(attempt)
    assert failure.message == 'running "Picky" filter plugin: picky'
    assert cluster.pod("p").status.conditions[0].reason == "SchedulerError"
    assert cluster.of_type(CycleFinished)[0].result is Result.ERROR


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (
            PreFilterSays(Status(Code.ERROR, ("boom",))),
            'running PreFilter plugin "PreFilterSays": boom',
        ),
        (
            PreScoreSays(Status(Code.ERROR, ("boom",))),
            'running PreScore plugin "PreScoreSays": boom',
        ),
        (
            PreScoreSays(Status(Code.UNSCHEDULABLE, ("not now",))),
            'running PreScore plugin "PreScoreSays": not now',
        ),
        (
            ScoreOf(101),
            'applying score defaultWeights on Score plugins: plugin "ScoreOf" returns an invalid '
            "score 101, it should in the range of [0, 100] after normalizing",
        ),
        (
            ScoreOf(-1),
            'applying score defaultWeights on Score plugins: plugin "ScoreOf" returns an invalid '
            "score -1, it should in the range of [0, 100] after normalizing",
        ),
    ],
)
def test_errors_name_their_plugin(plugin: object, message: str) -> None:
    cluster = Cluster(*nodes(2), make_pod("p").obj(), plugins=[plugin])  # type: ignore[list-item]
    attempt = cluster.attempt()
    failure = not_scheduled(attempt)
    assert failure.message == message
    assert not failure.unschedulable_plugins


@pytest.mark.parametrize("status", [SUCCESS, SKIP])
def test_skipping_pre_filter_or_pre_score_is_no_failure(status: Status) -> None:
    cluster = Cluster(
        *nodes(2), make_pod("p").obj(), plugins=[PreFilterSays(status), PreScoreSays(status)]
    )
    assert isinstance(cluster.attempt().outcome, Scheduled)


def test_a_long_message_is_cut_in_the_event_and_whole_in_the_condition() -> None:
    says = PreFilterSays(Status(Code.UNSCHEDULABLE, ("x" * 2000,)))
    cluster = Cluster(*nodes(1), make_pod("p").obj(), plugins=[says])
    cluster.attempt()
    ((_, note),) = cluster.told_of("p")
    assert len(note) == 1024
    assert note.endswith(" ...")
    assert len(cluster.pod("p").status.conditions[0].message) > 2000


def test_a_pod_being_deleted_is_skipped() -> None:
    pod = make_pod("p").deleted_at_ns(2**62).obj()
    cluster = Cluster(*nodes(1), pod)
    cluster.attempt()
    assert cluster.of_type(CycleFinished)[0].result is Result.SKIPPED
    assert cluster.told_of("p") == [("FailedScheduling", "skip schedule deleting pod: default/p")]
    assert cluster.queue.in_flight_pods() == []


def test_a_skipped_pod_keeps_its_nomination_but_asks_for_nothing() -> None:
    # Nominated pods are looked up in the queue, which it has left. Its port is free, and its
    # priority does not count; it still is one pod.
    going = make_pod("going").host_port(80).priority(9).nominated("n0").deleted_at_ns(2**62)
    cluster = Cluster(*nodes(1), going.obj())
    cluster.attempt()
    assert cluster.queue.nominator.nominations() == {"default/going": "n0"}
    cluster.create(make_pod("p").host_port(80).priority(1).obj())
    assert cluster.attempt().suggested_host == "n0"


# ---------------------------------------------------------------- batching


def fillers(n: int) -> list[Pod]:
    return [make_pod(f"p{i}").cpu(3).obj() for i in range(n)]


def hints(cluster: Cluster) -> list[str]:
    names = {number: name for name, number in cluster.recorder.nodes.items()}
    return [names.get(event.hint, "") for event in cluster.of_type(FilterFinished)]


def test_hints_lead_where_a_search_would() -> None:
    with_hints = Cluster(*nodes(6), *fillers(6), profile=LIST_DEFAULTS)
    without = Cluster(
        *nodes(6),
        *fillers(6),
        profile=LIST_DEFAULTS,
        features=feature_gates({"OpportunisticBatching": False}),
    )
    with_hints.attempt_all()
    without.attempt_all()
    assert set(hints(without)) == {""}
    assert set(with_hints.places().values()) == set(without.places().values())


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (make_pod("q").cpu(2), "asks for another amount"),
        (make_pod("q").cpu(3).label("app", "q"), "has another label, which terms may match"),
        (make_pod("q").cpu(3).toleration("k"), "tolerates something"),
        (make_pod("q").cpu(3).node_selector("zone", "a"), "selects nodes"),
        (make_pod("q").cpu(3).host_port(80), "wants a port"),
        (make_pod("q").cpu(3).apart_from("web"), "cannot be signed"),
        (make_pod("q").cpu(3).spread("zone", 1, app="q"), "cannot be signed"),
    ],
)
def test_a_pod_that_differs_gets_no_hint(second: PodBuilder, why: str) -> None:
    cluster = Cluster(
        *nodes(3),
        make_pod("p").cpu(3).obj(),
        second.obj(),
        profile=LIST_DEFAULTS,
    )
    cluster.attempt_all()
    assert hints(cluster) == ["", ""], why


def test_no_hint_while_the_last_node_has_room() -> None:
    pods = [make_pod(f"p{i}").cpu(1).obj() for i in range(3)]
    cluster = Cluster(*nodes(3), *pods, profile=LIST_DEFAULTS)
    cluster.attempt_all()
    assert set(hints(cluster)) == {""}


def test_no_hint_after_half_a_second() -> None:
    cluster = Cluster(*nodes(3), *fillers(2), profile=LIST_DEFAULTS)
    cluster.attempt()
    cluster.advance_ms(501)
    cluster.attempt()
    assert hints(cluster) == ["", ""]


def test_no_hint_after_another_pod_failed_in_between() -> None:
    giant = make_pod("giant").cpu(40).obj()
    first, last = fillers(2)
    cluster = Cluster(*nodes(3), first, giant, last, profile=LIST_DEFAULTS)
    cluster.attempt_all()
    assert set(hints(cluster)) == {""}


def test_default_spreading_leaves_no_pod_to_be_signed() -> None:
    cluster = Cluster(*nodes(3), *fillers(3))
    cluster.attempt_all()
    assert set(hints(cluster)) == {""}
