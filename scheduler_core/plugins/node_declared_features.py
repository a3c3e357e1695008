"""Node features that a pod cannot do without."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.api import Node, PodSpec
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
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.signatures import Signed
from scheduler_core.framework.signatures import required_features as features_fragment
from scheduler_core.framework.status import SKIP, Code, Status, Verdict

REASON = "node(s) didn't match Pod's required features"
NO_STATE = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'

RESTART_ALL_CONTAINERS = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_HOST_NETWORK = "UserNamespacesHostNetworkSupport"
BIND_MOUNT_OPTIONS = "VolumeBindMountOptions"

Features = frozenset[str]


class NodeDeclaredFeatures:
    """Reject nodes that do not declare every feature the pod needs of its kubelet.

    A pod needs `RestartAllContainersOnContainerExits` if a restart rule of a container has the
    action RestartAllContainers, and `UserNamespacesHostNetworkSupport` if it uses the network
    of the host in a separate user namespace. From v1.37 on it needs `VolumeBindMountOptions` if
    a container mounts a volume with options. The further features concern updates of running pods
    only; ephemeral containers, which a pod that waits seldom has, are not looked at.

    Upstream: v1.36 plugins/nodedeclaredfeatures and component-helpers/nodedeclaredfeatures.
    """

    name = "NodeDeclaredFeatures"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE, per_node=NodeFacts.OBJECT)

    def __init__(self, handle: Handle) -> None:
        self._enabled = handle.features.enabled("NodeDeclaredFeatures")
        self._mount_options = handle.features.switches.mount_options_required

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (features_fragment(self._required(pod.pod.spec)),)

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[Features] | Status:
        needed = self._required(pod.pod.spec) if self._enabled else frozenset()
        return Prepared(needed) if needed else SKIP

    def filter(self, state: Features | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if not self._enabled:
            return Verdict.passed(nodes.n)
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        enough = nodes.declared_features.map_bool(state.issubset)
        return Verdict.reject(~enough, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        if not self._enabled:
            return ()
        node = ClusterEvent(
            EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE
        )
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE)
        return (
            ClusterEventWithHint(node, _after_node_change),
            ClusterEventWithHint(pod, self._after_pod_update),
        )

    def _required(self, spec: PodSpec) -> Features:
        """Return the features that scheduling the pod requires of a node."""
        needed = set()
        containers = (*spec.containers, *spec.init_containers)
        rules = (rule for container in containers for rule in container.restart_policy_rules)
        if any(rule.action == "RestartAllContainers" for rule in rules):
            needed.add(RESTART_ALL_CONTAINERS)
        if spec.host_network and spec.host_users is False:
            needed.add(USER_NAMESPACES_HOST_NETWORK)
        if self._mount_options and any(container.volume_mounts for container in containers):
            needed.add(BIND_MOUNT_OPTIONS)
        return frozenset(needed)

    def _after_pod_update(self, pod: PodInfo, old: object, new: object) -> QueueingHint:
        """Queue when the pod itself has come to need other features."""
        before, after = expect(PodInfo, old), expect(PodInfo, new)
        if after.uid != pod.uid:
            return QueueingHint.SKIP
        return queue_if(self._required(before.pod.spec) != self._required(after.pod.spec))


def _after_node_change(pod: PodInfo, old: object, new: object) -> QueueingHint:
    before, after = expect_or_none(Node, old), expect(Node, new)
    return queue_if(
        before is None or before.status.declared_features != after.status.declared_features
    )
