"""Host ports, of which every node has each only once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.cluster.nodes import NO_CHANGE, BoolArray, Nodes
from scheduler_core.cluster.pods import HostPort, Mask, PodInfo
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.hints import expect, queue_if
from scheduler_core.framework.interface import Prepared
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
        if nodes.changes:
            _free_ports_of_removed(taken, state, holders, nodes)
        return Verdict.reject(taken, Code.UNSCHEDULABLE, REASON)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(
                ClusterEvent(EventResource.POD, ActionType.DELETE), _after_pod_deleted
            ),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
        )


def _free_ports_of_removed(
    taken: BoolArray, wanted: HostPorts, holders: Mask, nodes: Nodes
) -> None:
    """Clear `taken` (n,) of hypothetical nodes whose pods shared a port with a removed one.

    Upstream keeps the used ports of a node as a set: taking off one of two pods with the same
    port frees it. Such pairs exist only where something other than the scheduler placed them.
    """
    for i, change in enumerate(nodes.changes):
        if change is NO_CHANGE or not taken[i]:
            continue
        freed = _ports(pod for pod in change.removed if _is_chosen(holders, pod))
        if not freed:
            continue
        there = nodes.pods(i)
        kept = there[: len(there) - len(change.added)]
        in_use = _ports(pod for pod in kept if _is_chosen(holders, pod))
        taken[i] = _conflict(wanted, (in_use - freed) | _ports(change.added))


def _ports(pods: Iterable[PodInfo]) -> set[HostPort]:
    return {port for pod in pods for port in pod.template.host_ports}


def _is_chosen(holders: Mask, pod: PodInfo) -> bool:
    return bool(holders[pod.template.index])


def _conflict(wanted: Iterable[HostPort], used: Iterable[HostPort]) -> bool:
    return any(_clash(one, other) for other in used for one in wanted)


def _clash(one: HostPort, other: HostPort) -> bool:
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
