"""What a plugin may ask of the scheduler around it.

Upstream: v1.36 kube-scheduler/framework/interface.go (Handle).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from scheduler_core.api import KubeObject, Pod, PodExtendedResourceClaimStatus
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.devices.inventory import Devices
from scheduler_core.framework.extenders import PreemptionExtenders
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.waiting import WaitingPods


class PodNominator(Protocol):
    """Pods that wait for their victims to leave a node (upstream: PodNominator)."""

    def nominated_by_node(self) -> Mapping[str, Sequence[PodInfo]]:
        """Return the nominated pods of every node that has any."""


class Handle(Protocol):
    """The scheduler as plugins see it. Everything is read at call time, in virtual time."""

    @property
    def cluster(self) -> ClusterColumns:
        """All nodes and placed pods, assumed ones included."""

    @property
    def objects(self) -> ObjectStore:
        """Volumes, claims, classes, services, budgets, namespaces, ..."""

    @property
    def devices(self) -> Devices:
        """Claims, classes and slices of devices, and the allocations on their way."""

    @property
    def features(self) -> FeatureGates: ...

    @property
    def waiting_pods(self) -> WaitingPods:
        """Pods held by Permit plugins; a plugin may allow or reject them."""

    @property
    def extenders(self) -> PreemptionExtenders | None:
        """The scheduler's extenders, None if it has none."""

    def nominated_by_node(self) -> Mapping[str, Sequence[PodInfo]]:
        """Return the nominated pods of every node that has any."""

    def nominated_node(self, pod: PodInfo) -> str:
        """Return the node that a pod is nominated to, empty if there is none."""

    def now_ns(self) -> int: ...

    def all_nodes(self) -> Nodes:
        """Return every node, in the order in which cycles look at them."""

    def break_tie(self, node_names: Sequence[str]) -> str:
        """Choose where upstream takes any one of several nodes: the first of them."""

    def first_candidate(self, n_nodes: int) -> int:
        """Return the position at which preemption begins to try nodes, at random in upstream."""

    def live_pod(self, key: str) -> Pod | None:
        """Return a pod as the API server has it now, None if it is gone."""

    def evict(self, victim: PodInfo, preemptor: PodInfo, message: str) -> bool:
        """Delete a victim of preemption, or turn it down while it waits on Permit.

        Return whether it was turned down: of that no deletion tells.
        """

    def activate(self, pod: PodInfo) -> None:
        """Have a pod tried at once, or again at once if an attempt is under way."""

    def clear_nomination(self, pod: PodInfo) -> None:
        """Take back the nominated node in a pod's status."""

    def set_extended_resource_claim(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None:
        """Write into a pod's status which claim serves its extended resources."""

    def record_event(self, pod: PodInfo, reason: str, message: str) -> None:
        """Record a Kubernetes Event of type Normal about a pod."""

    def bind(self, pod: PodInfo, node_name: str) -> str:
        """Bind the pod through the API server; return its refusal, empty if it has none."""

    def write(self, item: KubeObject) -> None:
        """Create or replace an object that is not a pod; the scheduler gets an event as of any."""

    def delete(self, item: KubeObject) -> None:
        """Delete an object that is not a pod; the scheduler hears of it as of any."""

    def after_attempt(self, work: Callable[[], None]) -> None:
        """Have `work` done when the current attempt is over."""


PluginFactory = Callable[["object", Handle], Plugin]
"""`(args, handle) -> plugin`; `args` is the plugin's typed arguments, or None."""
