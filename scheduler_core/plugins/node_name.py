"""Honour a node that the pod names itself."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.cluster.arrays import ABSENT
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.dependence import DependsOn, NodeFacts
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
)
from scheduler_core.framework.signatures import Signed, node_name
from scheduler_core.framework.status import Code, Verdict

REASON = "node(s) didn't match the requested node name"


class NodeName:
    """Reject every node but `spec.nodeName`, if the pod has one.

    Upstream: v1.36 plugins/nodename.
    """

    name = "NodeName"
    depends_on = DependsOn(per_node=NodeFacts.NODE)

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (node_name(pod.pod.spec),)

    def filter(self, state: None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if not pod.node_name:
            return Verdict.passed(nodes.n)
        row = nodes.cluster.row_of.get(pod.node_name, ABSENT)
        return Verdict.reject(nodes.rows != row, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),)
