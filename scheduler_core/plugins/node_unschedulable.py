"""Leave cordoned nodes alone."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.api import Node, Taint
from scheduler_core.api.selectors import tolerations_tolerate
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.dependence import DependsOn, NodeFacts
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.signatures import Signed, tolerations
from scheduler_core.framework.status import Code, Verdict

REASON = "node(s) were unschedulable"

UNSCHEDULABLE_TAINT = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""The taint of a cordoned node. It has no value, so that no comparison operator can match it."""


class NodeUnschedulable:
    """Reject nodes with `spec.unschedulable`.

    A pod that tolerates the taint `node.kubernetes.io/unschedulable:NoSchedule` may go there all
    the same.

    Upstream: v1.36 plugins/nodeunschedulable.
    """

    name = "NodeUnschedulable"
    depends_on = DependsOn(per_node=NodeFacts.OBJECT)

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (tolerations(pod.pod.spec),)

    def filter(self, state: None, pod: PodInfo, nodes: Nodes) -> Verdict:
        cordoned = nodes.unschedulable
        if not cordoned.any() or _tolerates(pod):
            return Verdict.passed(nodes.n)
        return Verdict.reject(cordoned, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        toleration = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
        return (
            ClusterEventWithHint(node, _after_node_change),
            ClusterEventWithHint(toleration, _after_pod_toleration_change),
        )


def _tolerates(pod: PodInfo) -> bool:
    return tolerations_tolerate(pod.pod.spec.tolerations, UNSCHEDULABLE_TAINT)


def _after_node_change(pod: PodInfo, old: object, new: object) -> QueueingHint:
    """Queue when a node is opened, or comes open."""
    before = expect_or_none(Node, old)
    was_closed = before is None or before.spec.unschedulable
    return queue_if(was_closed and not expect(Node, new).spec.unschedulable)


def _after_pod_toleration_change(pod: PodInfo, old: object, new: object) -> QueueingHint:
    changed = expect(PodInfo, new)
    return queue_if(changed.uid == pod.uid and _tolerates(changed))
