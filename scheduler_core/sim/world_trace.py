"""Writes the world's side of the trace: nodes and pods as they come, change and go."""

from __future__ import annotations

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.node_tree import ZONE_LABELS
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import integer_resources
from scheduler_core.trace.events import (
    Bound,
    NodeAdded,
    NodeDeleted,
    NodeUpdated,
    PodAdded,
    PodDeleted,
    PodUpdated,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import TaintRecord


class WorldTrace:
    """A watcher of the API server that turns writes into trace events."""

    def __init__(self, recorder: Recorder, cache: Cache) -> None:
        self._recorder = recorder
        self._cache = cache

    def added(self, item: KubeObject) -> None:
        if isinstance(item, Node):
            self._node_added(item)
        elif isinstance(item, Pod):
            self._pod_added(self._cache.columns.templates.info(item))

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        if isinstance(old, Node) and isinstance(new, Node):
            self._node_updated(old, new)
        elif isinstance(old, Pod) and isinstance(new, Pod):
            templates = self._cache.columns.templates
            self.pod_updated(templates.info(old), templates.info(new))

    def deleted(self, item: KubeObject) -> None:
        if isinstance(item, Node):
            self._recorder.emit(NodeDeleted(self._recorder.node(item.name)))
        elif isinstance(item, Pod):
            self._recorder.emit(PodDeleted(self._recorder.pod(item.uid)))

    # ------------------------------------------------------------ nodes

    def _node_added(self, node: Node) -> None:
        allocatable = self._recorder.amounts(integer_resources(node.status.allocatable))
        self._recorder.emit(
            NodeAdded(
                self._recorder.node(node.name),
                node.name,
                _zone(node),
                node.metadata.labels,
                _taints(node),
                node.spec.unschedulable,
                allocatable,
            )
        )

    def _node_updated(self, old: Node, new: Node) -> None:
        same = (
            old.metadata.labels == new.metadata.labels
            and old.spec == new.spec
            and old.status.allocatable == new.status.allocatable
        )
        if same:
            return
        allocatable = self._recorder.amounts(integer_resources(new.status.allocatable))
        self._recorder.emit(
            NodeUpdated(
                self._recorder.node(new.name),
                _zone(new),
                new.metadata.labels,
                _taints(new),
                new.spec.unschedulable,
                allocatable,
            )
        )

    # ------------------------------------------------------------ pods

    def _pod_added(self, pod: PodInfo) -> None:
        spec, status = pod.pod.spec, pod.pod.status
        owner = pod.template.owner
        requests = self._recorder.amounts(dict(pod.template.requests.placed))
        self._recorder.emit(
            PodAdded(
                pod=self._recorder.pod(pod.uid),
                namespace=pod.pod.namespace,
                name=pod.pod.name,
                scheduler_name=spec.scheduler_name,
                priority=pod.priority,
                requests=requests,
                owner=f"{owner.kind}/{owner.name}" if owner else "",
                node=self._recorder.node(spec.node_name),
                nominated_node=self._recorder.node(status.nominated_node_name),
                phase=status.phase or "Pending",
                terminating=pod.terminating,
                gone_at_ns=pod.pod.metadata.deletion_timestamp or 0,
                priority_class=spec.priority_class_name,
            )
        )

    def pod_updated(self, old: PodInfo, new: PodInfo) -> None:
        """Write what has become of a pod, if that shows."""
        if new.node_name and not old.node_name:
            numbers = self._recorder.pod(new.uid), self._recorder.node(new.node_name)
            self._recorder.emit(Bound(*numbers))
        same = (
            old.template is new.template
            and old.pod.status.phase == new.pod.status.phase
            and old.pod.metadata.deletion_timestamp == new.pod.metadata.deletion_timestamp
        )
        if same:
            return
        requests = self._recorder.amounts(dict(new.template.requests.placed))
        self._recorder.emit(
            PodUpdated(
                self._recorder.pod(new.uid),
                new.priority,
                requests,
                new.pod.status.phase or "Pending",
                new.terminating,
                new.pod.metadata.deletion_timestamp or 0,
            )
        )


def _zone(node: Node) -> str:
    labels = node.metadata.labels
    return next((labels[key] for key in ZONE_LABELS if key in labels), "")


def _taints(node: Node) -> tuple[TaintRecord, ...]:
    return tuple(TaintRecord(t.key, t.value, t.effect) for t in node.spec.taints)
