"""A cluster for plugin tests: nodes and pods in, a handle and views out, nothing else around."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scheduler_core.api import (
    Affinity,
    KubeObject,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodExtendedResourceClaimStatus,
    PreferredSchedulingTerm,
    Taint,
    Toleration,
)
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.node_tree import NodeTree
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.devices.inventory import Devices
from scheduler_core.framework.events import ClusterEventWithHint, HintFn
from scheduler_core.framework.status import Code, Verdict
from scheduler_core.framework.waiting import WaitingPods

Verdicts = dict[str, tuple[Code, tuple[str, ...]]]


class World:
    """Nodes and pods in creation order; implements `framework.handle.Handle`."""

    def __init__(self, *items: KubeObject, features: FeatureGates | None = None) -> None:
        self.cluster = ClusterColumns()
        self.objects = ObjectStore()
        self.features = features or FeatureGates()
        self.devices = Devices(self.objects, self.features)
        self.waiting_pods = WaitingPods()
        self.extenders = None
        self.nominated: dict[str, list[PodInfo]] = {}
        self.now = 0
        self.bound: dict[str, str] = {}
        self.refusal = ""
        self.extended_claims: dict[str, PodExtendedResourceClaimStatus] = {}
        self.recorded: list[tuple[str, str, str]] = []
        self._tree = NodeTree()
        self.add(*items)

    def add(self, *items: KubeObject) -> None:
        for item in items:
            match item:
                case Node():
                    self.cluster.set_node(item)
                    self._tree.add(item.name, item.metadata.labels)
                case Pod():
                    self._add_pod(item)
                case _:
                    self.objects.put(item)

    def _add_pod(self, pod: Pod) -> None:
        if pod.status.phase in ("Succeeded", "Failed"):
            return
        info = self.info(pod)
        if info.node_name:
            self.cluster.add_pod(info, info.node_name)
        elif info.nominated_node_name:
            self.nominated.setdefault(info.nominated_node_name, []).append(info)

    def info(self, pod: Pod) -> PodInfo:
        return self.cluster.templates.info(pod)

    def nominated_by_node(self) -> Mapping[str, Sequence[PodInfo]]:
        return self.nominated

    def nominated_node(self, pod: PodInfo) -> str:
        found = (name for name, pods in self.nominated.items() if pod in pods)
        return next(found, "")

    def now_ns(self) -> int:
        return self.now

    def all_nodes(self) -> Nodes:
        rows = [self.cluster.row_of[name] for name in self._tree.order()]
        return Nodes(self.cluster, np.array(rows, np.int64))

    def break_tie(self, node_names: Sequence[str]) -> str:
        return node_names[0]

    def first_candidate(self, n_nodes: int) -> int:
        return 0

    def live_pod(self, key: str) -> Pod | None:
        return None

    def evict(self, victim: PodInfo, preemptor: PodInfo, message: str) -> bool:
        raise AssertionError("no test of these plugins evicts")

    def activate(self, pod: PodInfo) -> None:
        raise AssertionError("no test of these plugins activates")

    def clear_nomination(self, pod: PodInfo) -> None:
        raise AssertionError("no test of these plugins clears a nomination")

    def set_extended_resource_claim(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None:
        self.extended_claims[pod.key] = status

    def record_event(self, pod: PodInfo, reason: str, message: str) -> None:
        self.recorded.append((pod.key, reason, message))

    def bind(self, pod: PodInfo, node_name: str) -> str:
        self.bound[pod.key] = node_name
        return self.refusal

    def write(self, item: KubeObject) -> None:
        self.objects.put(item)

    def delete(self, item: KubeObject) -> None:
        self.objects.remove(item)

    def after_attempt(self, work: Callable[[], None]) -> None:
        raise AssertionError("no test of these plugins works in the background")


def taint(text: str) -> Taint:
    """Return the taint written as kubectl takes it: `key=value:Effect` or `key:Effect`."""
    head, _, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    return Taint(key=key, value=value, effect=effect)


def tolerate(
    key: str = "", value: str = "", *, effect: str = "", operator: str = "Equal"
) -> Toleration:
    return Toleration(key=key, value=value, effect=effect, operator=operator)


def expression(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def term(
    *expressions: NodeSelectorRequirement, fields: Sequence[NodeSelectorRequirement] = ()
) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=expressions, match_fields=tuple(fields))


def named(*names: str) -> NodeSelectorTerm:
    """Return a term that selects nodes by name."""
    return term(fields=[expression("metadata.name", "In", *names)])


def node_affinity(
    *required: NodeSelectorTerm, preferred: Sequence[tuple[int, NodeSelectorTerm]] = ()
) -> NodeAffinity:
    selector = NodeSelector(node_selector_terms=required) if required else None
    return NodeAffinity(
        required_during_scheduling_ignored_during_execution=selector,
        preferred_during_scheduling_ignored_during_execution=tuple(
            PreferredSchedulingTerm(weight=weight, preference=preference)
            for weight, preference in preferred
        ),
    )


def affinity(
    *required: NodeSelectorTerm, preferred: Sequence[tuple[int, NodeSelectorTerm]] = ()
) -> Affinity:
    return Affinity(node_affinity=node_affinity(*required, preferred=preferred))


def hint_of(registered: ClusterEventWithHint) -> HintFn:
    """Return the hint of an event that is registered with one."""
    assert registered.hint is not None
    return registered.hint


def rejected(verdict: Verdict, nodes: Nodes) -> Verdicts:
    """Return code and reasons of every node that a verdict turns down, by name."""
    return {
        name: (Code(int(verdict.code[i])), verdict.texts_at(i))
        for i, name in enumerate(nodes.names)
        if verdict.code[i] != Code.SUCCESS
    }


def by_name(scores: np.ndarray[tuple[int], np.dtype[np.int64]], nodes: Nodes) -> dict[str, int]:
    return dict(zip(nodes.names, map(int, scores), strict=True))
