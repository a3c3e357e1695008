"""Host ports, of which every node has each only once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import NO_CHANGE, Change, Nodes
from scheduler_core.cluster.pods import HostPort, Mask, PodInfo
from scheduler_core.framework.dependence import DependsOn, NodeFacts, PreparedFrom
from scheduler_core.framework.event_objects import expect, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.signatures import Signed, host_ports
from scheduler_core.framework.status import SKIP, Code, Status, Verdict

REASON = "node(s) didn't have free ports for the requested pod ports"

NO_STATE = 'reading "PreFilterNodePorts" from cycleState: not found'

ANY_ADDRESS = "0.0.0.0"

HostPorts = tuple[HostPort, ...]


class NodePorts:
    """Reject nodes on which another pod holds a host port that the pod wants.

    Two ports conflict if protocol and number are equal and the addresses are equal or one of
    them is 0.0.0.0.

    Upstream: v1.36 plugins/nodeports.
    """

    name = "NodePorts"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE, per_node=NodeFacts.NODE)

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (host_ports(pod.pod.spec),)

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[HostPorts] | Status:
        wanted = pod.template.host_ports
        return Prepared(wanted) if wanted else SKIP

    def filter(self, state: HostPorts | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        holders = nodes.cluster.templates.matching(
            (self.name, state), lambda template: _conflict(state, template.host_ports)
        )
        taken = nodes.count_pods(holders) > 0
        for i in _with_freed_ports(np.flatnonzero(taken), nodes):
            freed = _freed_ports(holders, nodes, i)
            if _conflict(state, freed):
                taken[i] = _conflict(state, _used_ports(holders, nodes, i, freed))
        return Verdict.reject(taken, Code.UNSCHEDULABLE, REASON)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(
                ClusterEvent(EventResource.POD, ActionType.DELETE), _after_pod_deleted
            ),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
        )


def _with_freed_ports(positions: IntArray, nodes: Nodes) -> list[int]:
    """Return those of some positions whose node has ports that a removed pod gave back."""
    freed = nodes.cluster.freed_ports
    if not freed and not nodes.changes:
        return []
    return [
        int(i)
        for i in positions
        if int(nodes.rows[i]) in freed or (nodes.changes and nodes.changes[i].removed)
    ]


def _freed_ports(holders: Mask, nodes: Nodes, i: int) -> Set[HostPort]:
    """Return ports of node i that count as free though a pod there may still have them.

    Upstream keeps the used ports of a node as a set: taking off one of two pods with the same
    port frees it. Such pairs exist only where something other than the scheduler placed them.
    """
    return nodes.freed_ports(i) | _ports(
        pod for pod in _change(nodes, i).removed if _is_chosen(holders, pod)
    )


def _used_ports(holders: Mask, nodes: Nodes, i: int, freed: Set[HostPort]) -> Set[HostPort]:
    """Return the ports of node i that pods chosen by `holders` use."""
    pods, added = nodes.pods(i), _change(nodes, i).added
    there = (pod for pod in pods[: len(pods) - len(added)] if _is_chosen(holders, pod))
    return (_ports(there) - freed) | _ports(added)


def used_ports(nodes: Nodes, i: int) -> set[HostPort]:
    """Return all host ports that count as used on node i."""
    everyone = np.ones(len(nodes.cluster.templates), np.bool_)
    return set(_used_ports(everyone, nodes, i, _freed_ports(everyone, nodes, i)))


def _change(nodes: Nodes, i: int) -> Change:
    return nodes.changes[i] if nodes.changes else NO_CHANGE


def _ports(pods: Iterable[PodInfo]) -> set[HostPort]:
    return {port for pod in pods for port in pod.template.host_ports}


def _is_chosen(holders: Mask, pod: PodInfo) -> bool:
    return bool(holders[pod.template.index])


def _conflict(wanted: Iterable[HostPort], used: Iterable[HostPort]) -> bool:
    return any(clash(one, other) for other in used for one in wanted)


def clash(one: HostPort, other: HostPort) -> bool:
    """Return whether a node cannot have both ports."""
    return (
        one.port == other.port
        and one.protocol == other.protocol
        and (one.ip == other.ip or ANY_ADDRESS in (one.ip, other.ip))
    )


def _after_pod_deleted(pod: PodInfo, old: object, new: object) -> QueueingHint:
    """Queue when the deleted pod had a place and held a port that the pod wants."""
    deleted = expect(PodInfo, old)
    if not deleted.node_name and not deleted.nominated_node_name:
        return QueueingHint.SKIP
    return queue_if(_conflict(pod.template.host_ports, deleted.template.host_ports))
