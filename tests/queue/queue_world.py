"""A queue on a clock that tests turn, with plugins that do as they are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from scheduler_core.api import Pod
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo, TemplateTable
from scheduler_core.config.features import feature_gates
from scheduler_core.framework.events import (
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    QueueingHint,
)
from scheduler_core.framework.interface import Queued
from scheduler_core.framework.status import SUCCESS, Code, Status, Verdict
from scheduler_core.queue.moves import Move, Nomination, QueueEvent
from scheduler_core.queue.profiles import QueueProfile
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.queueing_hints import QueueingHints
from scheduler_core.queue.scheduling_queue import SECOND_NS, QueueSettings, SchedulingQueue
from tests.builders import PodBuilder

PROFILE = "default-scheduler"
START_NS = 1_767_225_600 * SECOND_NS

_templates = TemplateTable()


def pod_info(pod: PodBuilder) -> PodInfo:
    return _templates.info(pod.scheduler(PROFILE).obj())


def with_nomination(pod: PodInfo, node_name: str) -> PodInfo:
    status = replace(pod.pod.status, nominated_node_name=node_name)
    return _templates.info(replace(pod.pod, status=status))


def sort_key(queued: Queued) -> tuple[int, ...]:
    """Highest priority first, then whoever has waited longest."""
    return (-queued.pod.priority, queued.timestamp_ns)


@dataclass
class Rejector:
    """A Filter plugin that gives the same hint for each of its events."""

    name: str
    hints: Mapping[ClusterEvent, QueueingHint]
    asked: list[tuple[str, EventObject, EventObject]] = field(default_factory=list)

    def filter(self, state: object, pod: PodInfo, nodes: Nodes) -> Verdict:
        return Verdict.passed(len(nodes))

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [ClusterEventWithHint(event, self._say(hint)) for event, hint in self.hints.items()]

    def _say(
        self, hint: QueueingHint
    ) -> Callable[[PodInfo, EventObject, EventObject], QueueingHint]:
        def answer(pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
            self.asked.append((pod.key, old, new))
            return hint

        return answer


@dataclass
class Gate:
    """A PreEnqueue plugin that holds the pods named in `held`."""

    name: str
    events: Sequence[ClusterEvent] = ()
    held: set[str] = field(default_factory=set)
    hint: QueueingHint = QueueingHint.QUEUE
    asked: list[str] = field(default_factory=list)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        self.asked.append(pod.key)
        return Status(Code.UNSCHEDULABLE) if pod.key in self.held else SUCCESS

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [ClusterEventWithHint(event, lambda *_: self.hint) for event in self.events]


class World:
    """A queue with one profile, and what it told."""

    def __init__(
        self,
        *plugins: Rejector | Gate,
        settings: QueueSettings | None = None,
        pop_early: bool = True,
    ) -> None:
        self.now_ns = START_NS
        self.live: dict[str, Pod] = {}
        self.told: list[QueueEvent] = []
        gates = tuple(plugin for plugin in plugins if isinstance(plugin, Gate))
        self.queue = SchedulingQueue(
            profiles={PROFILE: QueueProfile(gates, QueueingHints.of(plugins))},
            sort_key=sort_key,
            now_ns=lambda: self.now_ns,
            live_pod=self.live.get,
            emit=self.told.append,
            settings=settings or QueueSettings(),
            features=feature_gates({"SchedulerPopFromBackoffQ": pop_early}),
        )

    def pass_time(self, seconds: float) -> None:
        self.now_ns += round(seconds * SECOND_NS)

    def add(self, *pods: PodInfo) -> None:
        """Add pods a millisecond apart."""
        for pod in pods:
            self.pass_time(0.001)
            self.live[pod.key] = pod.pod
            self.queue.add(pod)

    def pop(self) -> QueuedPodInfo:
        popped = self.queue.pop()
        assert popped is not None
        return popped.queued

    def pop_key(self) -> str:
        return self.pop().key

    def fail(
        self, queued: QueuedPodInfo, *plugins: str, pending: Sequence[str] = ()
    ) -> QueuedPodInfo:
        """End an attempt: rejected by plugins, or without any by an error."""
        queued.clear_rejector_plugins()
        queued.unschedulable_plugins = set(plugins)
        queued.pending_plugins = set(pending)
        self.queue.add_unschedulable_if_not_present(queued)
        return queued

    def park(self, pod: PodInfo, *plugins: str, pending: Sequence[str] = ()) -> QueuedPodInfo:
        """Add a pod and let its first attempt fail."""
        self.add(pod)
        queued = self.pop()
        assert queued.key == pod.key
        return self.fail(queued, *plugins, pending=pending)

    @property
    def moves(self) -> list[Move]:
        return [event for event in self.told if isinstance(event, Move)]

    @property
    def nominations(self) -> list[tuple[str, str]]:
        return [(e.pod.key, e.node_name) for e in self.told if isinstance(e, Nomination)]

    def places(self) -> dict[str, str]:
        """Return where each pod is, by key; a pod in two places fails the test."""
        parts = {
            "active": [q.key for q in self.queue.active_pods()],
            "backoff": [q.key for q in self.queue.backoff_pods()],
            "unschedulable": [q.key for q in self.queue.unschedulable_pods()],
            "gated": [q.key for q in self.queue.gated_pods()],
            "in flight": [pod.key for pod in self.queue.in_flight_pods()],
        }
        places: dict[str, str] = {}
        for part, keys in parts.items():
            for key in keys:
                assert key not in places, f"{key} is {places[key]} and {part}"
                places[key] = part
        return places
