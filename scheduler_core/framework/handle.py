"""What a plugin may ask of the scheduler around it.

Upstream: v1.36 kube-scheduler/framework/interface.go (Handle).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.status import Verdict


class PodNominator(Protocol):
    """Pods that wait for their victims to leave a node (upstream: PodNominator)."""

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]: ...


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

    def filter_with_nominated_pods(self, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Run the cycle's Filter plugins over a view, twice where nominated pods count.

        Uses what PreFilter prepared in the current cycle. `Verdict.texts` are the reasons of
        the first plugin that fails each node.
        """


PluginFactory = Callable[["object", Handle], Plugin]
"""`(args, handle) -> plugin`; `args` is the plugin's typed arguments, or None."""
