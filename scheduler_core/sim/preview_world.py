"""The cluster of a held cycle with some objects changed: a copy of what the scheduler knew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler_core.api import (
    DeviceClass,
    KubeObject,
    Node,
    Pod,
    PodCondition,
    PodExtendedResourceClaimStatus,
)
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.scheduler.event_handlers import is_visible
from scheduler_core.scheduler.plugin_handle import SchedulerHandle
from scheduler_core.sim.world_trace import WorldTrace
from scheduler_core.trace.events import AnyEvent, NodeOrderChanged
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import EventType


@dataclass(frozen=True)
class Edit:
    """What becomes of one object: made where there was none, changed, or, with None, deleted."""

    old: KubeObject | None
    new: KubeObject | None

    @property
    def item(self) -> KubeObject:
        """Return the object as it is, or as it was."""
        item = self.new if self.new is not None else self.old
        assert item is not None
        return item


class Unheard:
    """The world as plugins write to it in a preview: nothing comes of it.

    Implements `Client` and `Background`. `live_pod` looks a pod up by its key.
    """

    def __init__(self, live_pod: Callable[[str], Pod | None]) -> None:
        self._live_pod = live_pod
        self._after_attempt: list[Callable[[], None]] = []

    def pod(self, key: str) -> Pod | None:
        return self._live_pod(key)

    def bind(self, pod: PodInfo, node_name: str) -> str:
        return ""

    def patch_pod_status(
        self, pod: PodInfo, condition: PodCondition | None, nominated_node_name: str | None
    ) -> None: ...

    def set_extended_resource_claim(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None: ...

    def evict_pod(self, pod: PodInfo, preemptor: PodInfo, message: str) -> bool:
        return False

    def write(self, item: KubeObject) -> None: ...

    def delete(self, item: KubeObject) -> None: ...

    def record_event(self, pod: PodInfo, kind: EventType, reason: str, message: str) -> None: ...

    def after_attempt(self, work: Callable[[], None]) -> None:
        self._after_attempt.append(work)

    def finish_attempt(self) -> None:
        """Let plugins finish, so that they remember nothing of a preemption that is over."""
        while self._after_attempt:
            self._after_attempt.pop(0)()

    def soon(self, work: Callable[[], None]) -> None: ...

    def pre_bind_later(self, work: Callable[[], None]) -> None: ...

    def bind_later(self, work: Callable[[], None]) -> None: ...


class PreviewWorld:
    """A copy of a scheduler's cache, objects and nominations, with edits applied.

    `events` are those of the edits, as the trace of a run has them. `own` is the cycle's pod, whose
    edits each preview brings along.
    """

    def __init__(
        self,
        handle: SchedulerHandle,
        recorder: Recorder,
        live_pod: Callable[[str], Pod | None],
        edits: Sequence[Edit],
    ) -> None:
        self._live_pod = live_pod
        self._live: dict[str, Pod | None] = {
            edit.item.key: edit.new if isinstance(edit.new, Pod) else None
            for edit in edits
            if isinstance(edit.item, Pod)
        }
        self.unheard = unheard = Unheard(self.live_pod)
        self.edits = edits
        self.handle = handle.fork(unheard, unheard)
        self.events: list[AnyEvent] = []
        self.recorder = recorder.fork(self.events.append, details=True)
        self._trace = WorldTrace(self.recorder, self.cache)
        order = self.cache.next_order()
        for edit in edits:
            self._apply(edit)
        self.nodes: Nodes = self.cache.update_snapshot()
        if self.nodes.names != order:
            numbers = self.recorder.all_nodes(self.nodes.names)
            self.events.append(NodeOrderChanged(numbers))
        self.n_templates = len(self.cache.columns.templates)

    @property
    def cache(self) -> Cache:
        return self.handle.cache

    @property
    def n_new_templates(self) -> int:
        """Return how many kinds of pods previews have brought along."""
        return len(self.cache.columns.templates) - self.n_templates

    def live_pod(self, key: str) -> Pod | None:
        pod = self._live[key] if key in self._live else self._live_pod(key)
        return pod if pod is not None and is_visible(pod) else None

    def set_own(self, pod: Pod) -> PodInfo:
        """Let the API server have the cycle's pod so, and return it with its template."""
        self._live[pod.key] = pod
        return self.cache.columns.templates.info(pod)

    def _apply(self, edit: Edit) -> None:
        old, new = edit.old, edit.new
        if new is None:
            assert old is not None
            self._trace.deleted(old)
        elif old is None:
            self._trace.added(new)
        else:
            self._trace.updated(old, new)
        match edit.item:
            case Node() as node:
                self._apply_to_node(node, is_gone=new is None)
            case Pod():
                assert isinstance(old, Pod | None)
                assert isinstance(new, Pod | None)
                self._apply_to_pod(old, new)
            case item:
                put = self.handle.objects.put if new is not None else self.handle.objects.remove
                put(item)
                if isinstance(item, DeviceClass):
                    self.cache.columns.touch_all()

    def _apply_to_node(self, node: Node, *, is_gone: bool) -> None:
        if is_gone:
            self.cache.remove_node(node)
        else:
            self.cache.update_node(node)

    def _apply_to_pod(self, old: Pod | None, new: Pod | None) -> None:
        """Move a pod on and off its node; an assumed one stays so while it is pending."""
        known = old if old is not None else new
        assert known is not None
        cache, uid = self.cache, known.uid
        placed, assumed = cache.get_pod(uid), cache.is_assumed_pod(uid)
        if placed is not None:
            (cache.forget_pod if assumed else cache.remove_pod)(placed)
        info = cache.columns.templates.info
        if new is not None and is_visible(new):
            if new.spec.node_name:
                cache.add_pod(info(new))
            elif placed is not None and assumed:
                cache.assume_pod(info(new), placed.node_name)
        nominator = self.handle.nominator
        if old is not None and nominator.node_of(info(old)):
            if new is not None and is_visible(new):
                nominator.update(info(old), info(new))
            else:
                nominator.delete(info(old))
        elif new is not None and not new.spec.node_name:
            nominator.add(info(new))
