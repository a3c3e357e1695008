"""Taints of nodes against tolerations of pods."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.api import Node, Taint, Toleration
from scheduler_core.api.selectors import find_untolerated_taint, tolerations_tolerate
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.dependence import DependsOn, NodeFacts, PreparedFrom
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.scoring import reversed_normalize_score
from scheduler_core.framework.signatures import Signed, tolerations
from scheduler_core.framework.status import Code, Status, Verdict

DO_NOT_SCHEDULE = ("NoSchedule", "NoExecute")
PREFER_NO_SCHEDULE = "PreferNoSchedule"
UNTOLERATED_TAINT = "node(s) had untolerated taint(s)"

Tolerations = tuple[Toleration, ...]


class TaintToleration:
    """Reject nodes with untolerated hard taints; prefer nodes with fewer soft ones.

    `raw = number of untolerated PreferNoSchedule taints`;
    `normalized = 100 - 100 * raw / highest raw`, and 100 everywhere if no node has any.

    Upstream: v1.36 plugins/tainttoleration.
    """

    name = "TaintToleration"
    no_pre_score = 'failed to read "PreScoreTaintToleration" from cycleState: not found'
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE, per_node=NodeFacts.OBJECT)

    def __init__(self, handle: Handle) -> None:
        self.comparison_operators = handle.features.enabled("TaintTolerationComparisonOperators")

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (tolerations(pod.pod.spec),)

    def filter(self, state: None, pod: PodInfo, nodes: Nodes) -> Verdict:
        untolerated = nodes.taints.map_bool(lambda taints: self._repels(taints, pod))
        return Verdict.reject(untolerated, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, UNTOLERATED_TAINT)

    def pre_score(
        self, state: object, pod: PodInfo, nodes: Nodes
    ) -> Prepared[Tolerations] | Status:
        """Pick out the tolerations that can concern a PreferNoSchedule taint."""
        return Prepared(soft_tolerations(pod.pod.spec.tolerations))

    def score(self, state: Tolerations, pod: PodInfo, nodes: Nodes) -> Scores:
        return nodes.taints.map_int(lambda taints: self._count_untolerated(taints, state))

    def normalize_score(
        self, state: Tolerations, pod: PodInfo, nodes: Nodes, scores: Scores
    ) -> Scores:
        return reversed_normalize_score(scores)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        toleration = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
        return (
            ClusterEventWithHint(node, self._after_node_change),
            ClusterEventWithHint(toleration, _after_pod_toleration_change),
        )

    def _after_node_change(self, pod: PodInfo, old: object, new: object) -> QueueingHint:
        """Queue when a node ceases to repel the pod, or comes without repelling it."""
        before = expect_or_none(Node, old)
        repelled = before is None or self._repels(before.spec.taints, pod)
        return queue_if(repelled and not self._repels(expect(Node, new).spec.taints, pod))

    def _repels(self, taints: Sequence[Taint], pod: PodInfo) -> bool:
        untolerated = find_untolerated_taint(
            taints,
            pod.pod.spec.tolerations,
            DO_NOT_SCHEDULE,
            comparison_operators=self.comparison_operators,
        )
        return untolerated is not None

    def _count_untolerated(self, taints: Sequence[Taint], tolerations: Tolerations) -> int:
        return sum(
            taint.effect == PREFER_NO_SCHEDULE
            and not tolerations_tolerate(
                tolerations, taint, comparison_operators=self.comparison_operators
            )
            for taint in taints
        )


def soft_tolerations(tolerations: Tolerations) -> Tolerations:
    """Return the tolerations that can concern a PreferNoSchedule taint."""
    return tuple(t for t in tolerations if t.effect in ("", PREFER_NO_SCHEDULE))


def _after_pod_toleration_change(pod: PodInfo, old: object, new: object) -> QueueingHint:
    return queue_if(expect(PodInfo, new).uid == pod.uid)
