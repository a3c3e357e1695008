"""What a plugin may ask of the scheduler around it.

Upstream: v1.36 kube-scheduler/framework/interface.go (Handle).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.framework.interface import Plugin


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
    def features(self) -> FeatureGates: ...

    @property
    def nominator(self) -> PodNominator: ...

    def now_ns(self) -> int: ...

    def all_nodes(self) -> Nodes:
        """Return every node, in the order in which cycles look at them."""


PluginFactory = Callable[["object", Handle], Plugin]
"""`(args, handle) -> plugin`; `args` is the plugin's typed arguments, or None."""
