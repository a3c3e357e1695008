"""Plugins written for one node at a time, lifted into the protocol of columns.

Upstream calls Filter and Score once per node; the author of a ported plugin, or of a first one,
may keep that shape:

    class RackSibling:
        name = "RackSibling"

        def __init__(self, args, handle): ...
        def pre_filter(self, pod, nodes): ...               # optional; nodes: NodeViews
        def filter_node(self, state, pod, node): ...        # -> Status
        def pre_score(self, state, pod, nodes): ...         # optional
        def score_node(self, state, pod, node): ...         # -> int
        def normalize_score(self, state, pod, nodes, scores): ...   # optional, int64 (n,)

It needs `filter_node`, `score_node` or both; every other method is that of
`framework.interface`, called as it is. States, Skip and statuses mean what they mean there.
A loop over nodes in Python takes about a microsecond per node more than the plugin itself.

Upstream: v1.36 kube-scheduler/framework/interface.go (FilterPlugin, ScorePlugin, NodeInfo).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, Protocol, TypeVar, runtime_checkable

import numpy as np

from scheduler_core.api import Node
from scheduler_core.cluster.arrays import Vocabulary
from scheduler_core.cluster.nodes import NO_CHANGE, Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.interface import Plugin, Prepared, Scores
from scheduler_core.framework.plugin_calls import PluginFailure, fault_of, in_words
from scheduler_core.framework.status import SUCCESS, Code, ListedVerdict, Status, Verdict

R = TypeVar("R")
S_contra = TypeVar("S_contra", contravariant=True)

METHODS: Final = ("filter_node", "score_node")


class NodeView:
    """One node as a plugin sees it, with the pods it has or might have (upstream: NodeInfo)."""

    __slots__ = ("_at", "_views", "node")

    node: Node

    def __init__(self, views: NodeViews, at: int, node: Node) -> None:
        self._views = views
        self._at = at
        self.node = node

    @property
    def name(self) -> str:
        return self.node.metadata.name

    @property
    def labels(self) -> Mapping[str, str]:
        return self.node.metadata.labels

    @property
    def pods(self) -> list[PodInfo]:
        """Return the pods on the node: those added in a hypothetical world, not those removed."""
        return self._views.columns.pods(self._at)

    @property
    def added(self) -> tuple[PodInfo, ...]:
        """Return the pods that only this node's hypothetical world has; none in the real one.

        A plugin that counted pods of many nodes in PreFilter must add these, and take off
        `removed`, before it filters this node (upstream: AddPod and RemovePod).
        """
        return self._views.change(self._at).added

    @property
    def removed(self) -> tuple[PodInfo, ...]:
        return self._views.change(self._at).removed

    def requested(self, resource: str) -> int:
        """Return what the pods on the node request: cpu in milli, others in units or bytes."""
        return self._views.requested(resource)[self._at]

    def allocatable(self, resource: str) -> int:
        """Return what the node offers, in the same units; 0 for a resource it has none of."""
        return self._views.allocatable(resource)[self._at]

    @property
    def n_pods(self) -> int:
        return len(self.pods)

    @property
    def allowed_pods(self) -> int:
        return int(self._views.columns.allowed_pods[self._at])

    def __repr__(self) -> str:
        return f"<node {self.name}>"


class NodeViews:
    """Nodes one by one; `columns` has the same nodes all at once."""

    def __init__(self, columns: Nodes) -> None:
        self.columns = columns
        self._requested: dict[str, list[int]] = {}
        self._allocatable: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return self.columns.n

    def __getitem__(self, at: int) -> NodeView:
        """Return the node at a position from 0. Raises IndexError beyond the last."""
        if not 0 <= at < self.columns.n:
            raise IndexError(at)
        return NodeView(self, at, self.columns.node(at))

    def __iter__(self) -> Iterator[NodeView]:
        nodes = self.columns.cluster.nodes
        for at, row in enumerate(self.columns.rows.tolist()):
            node = nodes[row]
            yield self[at] if node is None else NodeView(self, at, node)

    def change(self, at: int) -> Change:
        """Return how the pods of a node differ from the cluster's."""
        changes = self.columns.changes
        return changes[at] if changes else NO_CHANGE

    def requested(self, resource: str) -> list[int]:
        """Return what is requested on each node, see `NodeView.requested`."""
        if resource not in self._requested:
            self._requested[resource] = self.columns.requested(resource).tolist()
        return self._requested[resource]

    def allocatable(self, resource: str) -> list[int]:
        """Return what each node offers, see `NodeView.allocatable`."""
        if resource not in self._allocatable:
            self._allocatable[resource] = self.columns.allocatable(resource).tolist()
        return self._allocatable[resource]


@runtime_checkable
class FilterNodePlugin(Plugin, Protocol[S_contra]):
    def filter_node(self, state: S_contra, pod: PodInfo, node: NodeView) -> Status:
        """Accept or reject one node; `state` is what PreFilter prepared, None without PreFilter.

        The answer may depend on the state and on this node alone.
        """


@runtime_checkable
class ScoreNodePlugin(Plugin, Protocol[S_contra]):
    def score_node(self, state: S_contra, pod: PodInfo, node: NodeView) -> int:
        """Score one feasible node; `state` is what PreScore prepared, None without PreScore."""


@runtime_checkable
class PreFilterNodesPlugin(Plugin, Protocol):
    def pre_filter(self, pod: PodInfo, nodes: NodeViews) -> Prepared[object] | Status:
        """Prepare the cycle, see `interface.PreFilterPlugin`."""


@runtime_checkable
class PreScoreNodesPlugin(Plugin, Protocol):
    def pre_score(self, state: object, pod: PodInfo, nodes: NodeViews) -> Prepared[object] | Status:
        """Prepare scoring of the feasible nodes, see `interface.PreScorePlugin`."""


@runtime_checkable
class NormalizeNodesPlugin(Plugin, Protocol[S_contra]):
    def normalize_score(
        self, state: S_contra, pod: PodInfo, nodes: NodeViews, scores: Scores
    ) -> Scores:
        """Map raw scores (n,) onto 0..100, int64 (n,)."""


class PerNode:
    """A plugin of columns made out of one that is written per node.

    It has the methods of exactly those extension points that the plugin has.
    """

    def __init__(self, plugin: Plugin) -> None:
        self.name = plugin.name
        for attribute in dir(plugin):
            if not attribute.startswith("_"):
                setattr(self, attribute, getattr(plugin, attribute))
        if isinstance(plugin, FilterNodePlugin):
            self.filter = _filter(plugin)
        if isinstance(plugin, ScoreNodePlugin):
            self.score = _score(plugin)
        if isinstance(plugin, PreFilterNodesPlugin):
            self.pre_filter = _pre_filter(plugin)
        if isinstance(plugin, PreScoreNodesPlugin):
            self.pre_score = _pre_score(plugin)
        if isinstance(plugin, NormalizeNodesPlugin):
            self.normalize_score = _normalize_score(plugin)


def is_per_node(plugin_type: type) -> bool:
    """Return whether a plugin class is written per node."""
    return any(hasattr(plugin_type, method) for method in METHODS)


def _filter(plugin: FilterNodePlugin[object]) -> Callable[[object, PodInfo, Nodes], Verdict]:
    def filter_nodes(state: object, pod: PodInfo, nodes: Nodes) -> Verdict:
        code, reasons = np.zeros(nodes.n, np.int8), np.zeros(nodes.n, np.uint64)
        lists: Vocabulary[tuple[str, ...]] = Vocabulary()
        lists.id(())
        ask = partial(plugin.filter_node, state, pod)
        for at, status in enumerate(_each("Filter", plugin, ask, pod, nodes, (Status,))):
            if status.code is not Code.SUCCESS:
                code[at], reasons[at] = status.code, lists.id(status.reasons)
        return ListedVerdict(code, reasons, (), tuple(lists.values))

    return filter_nodes


def _score(plugin: ScoreNodePlugin[object]) -> Callable[[object, PodInfo, Nodes], Scores]:
    def measure(state: object, pod: PodInfo, nodes: Nodes) -> Scores:
        ask = partial(plugin.score_node, state, pod)
        scores = list(_each("Score", plugin, ask, pod, nodes, (int, np.integer)))
        return np.array(scores, np.int64)

    return measure


def _each(
    point: str,
    plugin: Plugin,
    ask: Callable[[NodeView], R],
    pod: PodInfo,
    nodes: Nodes,
    wanted: tuple[type, ...],
) -> Iterator[R]:
    """Yield the plugin's answer about every node. Raises PluginFailure, with the node's name."""
    for node in NodeViews(nodes):
        try:
            answer = ask(node)
        except Exception as error:
            raise PluginFailure(plugin.name, point, pod.key, in_words(error), node.name) from error
        if answer is not SUCCESS and (fault := fault_of(answer, wanted)):
            raise PluginFailure(plugin.name, point, pod.key, fault, node.name)
        yield answer


def _pre_filter(
    plugin: PreFilterNodesPlugin,
) -> Callable[[PodInfo, Nodes], Prepared[object] | Status]:
    return lambda pod, nodes: plugin.pre_filter(pod, NodeViews(nodes))


def _pre_score(
    plugin: PreScoreNodesPlugin,
) -> Callable[[object, PodInfo, Nodes], Prepared[object] | Status]:
    return lambda state, pod, nodes: plugin.pre_score(state, pod, NodeViews(nodes))


def _normalize_score(
    plugin: NormalizeNodesPlugin[object],
) -> Callable[[object, PodInfo, Nodes, Scores], Scores]:
    return lambda state, pod, nodes, scores: plugin.normalize_score(
        state, pod, NodeViews(nodes), scores
    )
