"""A simulated cluster driven the way the recordings were made: no kubelets, no delays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from msgspec.structs import replace

from kviz.conformance.cases import Case, Json, read_object
from scheduler_core.api import KINDS, KubeObject, Pod
from scheduler_core.changes.admission import merge_label_keys
from scheduler_core.changes.merge_patch import merge_patch
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import KubeSchedulerConfiguration
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.status import Code, Status
from scheduler_core.preemption.pick import BreakTie, first
from scheduler_core.queue.moves import QueueEvent
from scheduler_core.queue.nominator import OVERRIDE
from scheduler_core.queue.scheduling_queue import Popped
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.outcome import Failed, Unschedulable
from scheduler_core.sim.api_server import NotFoundError
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.events import (
    AnyEvent,
    CycleFinished,
    CycleStarted,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import Result

MILLI_NS = 1_000_000
SECOND_MS = 1000
LEFTOVER_FLUSH_MS = 30 * SECOND_MS
"""At every multiple of this the pods are flushed that stayed unschedulable for long."""

RECORDING_START_NS = 1_767_225_600_000_000_000
"""2026-01-01T00:00:00Z, the zero of the recordings' clock."""

CREATED_NS = RECORDING_START_NS - 3600 * 1_000_000_000
"""2025-12-31T23:00:00Z: when an object without a time counts as created or started."""

RESULTS = {
    Result.SCHEDULED: "scheduled",
    Result.WAITING: "scheduled",
    Result.UNSCHEDULABLE: "unschedulable",
    Result.ERROR: "error",
    Result.BIND_ERROR: "bindError",
    Result.SKIPPED: "skipped",
}


@dataclass
class Attempt:
    """What one scheduling attempt came to; `source` is `active` or `backoff`."""

    cycle: Cycle
    number: int = 0
    source: str = ""
    result: str = ""
    message: str = ""
    unschedulable_plugins: frozenset[str] = frozenset()
    post_filter: PostFilterOutcome | None = None
    nominates: str = ""
    nominated_node: str = ""

    def totals(self) -> dict[str, int] | None:
        """Return the total score of every feasible node, None if nothing was scored."""
        scoring, filtering = self.cycle.scoring, self.cycle.filtering
        if scoring is None or filtering is None:
            return None
        return dict(zip(filtering.feasible.names, scoring.totals.tolist(), strict=True))

    def nominating(self) -> dict[str, str]:
        return {"mode": self.nominates, "node": self.nominated_node}


class Replay:
    """A cluster at the time of the recordings. Raises ConfigError for a bad configuration."""

    def __init__(self, case: Case, break_tie: BreakTie = first) -> None:
        self.trace: list[AnyEvent] = []
        self.queue_events: list[QueueEvent] = []
        configuration = case.configuration()
        if case.given.get("sampling") != "configured":
            configuration = _without_sampling(configuration)
        options = SchedulerOptions(
            configuration=configuration,
            features=case.gates,
            on_queue_event=self.queue_events.append,
            break_tie=break_tie,
        )
        timing = Timing(attempt_ns=MILLI_NS, pre_bind_ns=0, binding_ns=0, kubelet_start_ns=None)
        self.simulation = Simulation(
            options, Recorder(self.trace.append), RECORDING_START_NS, timing
        )
        self.scheduler = self.simulation.scheduler

    def load(self, objects: Iterable[KubeObject]) -> None:
        """Create objects, one millisecond apart, as the recorder completed them."""
        for item in objects:
            self.tick()
            self.simulation.load([completed(item)])

    def tick(self) -> None:
        self.simulation.advance_to(self.simulation.clock.now_ns() + MILLI_NS)

    def apply(self, event: Json) -> str:
        """Create, update or delete an object; return `NotFound` if it has gone, else nothing."""
        server, raw = self.simulation.server, cast(Json, event["object"])
        try:
            if event["op"] == "create":
                self.simulation.load([completed(read_object(raw))])
            elif event["op"] == "delete":
                server.delete(self._stored(raw))
            else:
                patch = cast("dict[str, object]", event["patch"])
                server.update(merge_patch(self._stored(raw), patch))
        except NotFoundError:
            return "NotFound"
        return ""

    def _stored(self, raw: Json) -> KubeObject:
        metadata = cast(Mapping[str, str], raw["metadata"])
        kind = KINDS[str(raw["kind"])]
        namespace = metadata.get("namespace", "default")
        key = f"{namespace}/{metadata['name']}" if kind.namespaced else metadata["name"]
        stored = self.simulation.server.get(kind, key)
        if stored is None:
            raise NotFoundError(key)
        return stored

    def full_seconds(self, start_ms: int, seconds: int) -> Iterator[int]:
        """Let time pass; at every full second flush what is due, then yield the second in ms."""
        first_ms = start_ms // SECOND_MS * SECOND_MS + SECOND_MS
        for second_ms in range(first_ms, start_ms + seconds * SECOND_MS + 1, SECOND_MS):
            self.set_clock(second_ms)
            self.scheduler.queue.flush_backoff_completed()
            if second_ms % LEFTOVER_FLUSH_MS == 0:
                self.scheduler.queue.flush_unschedulable_leftover()
            yield second_ms

    @property
    def now_ms(self) -> int:
        return (self.simulation.clock.now_ns() - RECORDING_START_NS) // MILLI_NS

    def set_clock(self, t_ms: int) -> None:
        """Move the clock on to a time of the recording, unless it is past it already."""
        self.simulation.clock.move_to(
            max(RECORDING_START_NS + t_ms * MILLI_NS, self.simulation.clock.now_ns())
        )

    def pod(self, key: str) -> PodInfo:
        pod = self.simulation.server.get(Pod, key)
        assert pod is not None
        return self.scheduler.cache.columns.templates.info(pod)

    def attempt_pod(self, pod: PodInfo) -> Attempt:
        """Attempt this pod, even if others are queued before it."""
        self.trace.clear()
        if not self.scheduler.schedule_one(lambda: self._pop(pod)):
            raise LookupError(f"{pod.key} is not in the queue")
        return self._last_attempt()

    def _pop(self, pod: PodInfo) -> Popped | None:
        """Take a pod out of the queue, and all that are queued before it."""
        while (popped := self.scheduler.queue.pop()) is not None:
            if popped.queued.pod.uid == pod.uid:
                return popped
        return None

    def attempt(self, before_background: Callable[[], None] = lambda: None) -> Attempt | None:
        """Run the next attempt, None if the queue yields no pod.

        `before_background` is called between the attempt and what it left to be done after it.
        """
        self.trace.clear()
        self.simulation.record_node_order()
        tried = self.scheduler.schedule_one()
        before_background()
        self.simulation.finish_attempt()
        return self._last_attempt() if tried else None

    def _last_attempt(self) -> Attempt:
        cycle = self.scheduler.last_cycle
        assert cycle is not None
        attempt = Attempt(cycle, post_filter=cycle.post_filter)
        started = next(event for event in self.trace if isinstance(event, CycleStarted))
        attempt.number, attempt.source = started.attempt, started.popped_from.name.lower()
        finished = [
            event
            for event in self.trace
            if isinstance(event, CycleFinished) and event.cycle == started.cycle
        ]
        attempt.result = RESULTS[finished[-1].result]
        outcome = cycle.outcome
        if isinstance(outcome, Unschedulable | Failed):
            attempt.message = outcome.message
            attempt.unschedulable_plugins = outcome.unschedulable_plugins
            attempt.nominates = outcome.nominating
            attempt.nominated_node = outcome.nominated_node
        elif finished[-1].result is Result.BIND_ERROR:
            attempt.message, attempt.nominates = finished[-1].message, OVERRIDE
        return attempt


def completed(item: KubeObject) -> KubeObject:
    """Fill in what the recorder filled in."""
    metadata = item.metadata
    if metadata.creation_timestamp is None:
        item = replace(item, metadata=replace(metadata, creation_timestamp=CREATED_NS))
    if isinstance(item, Pod):
        item = merge_label_keys(item)
        if item.spec.node_name and item.status.start_time is None:
            item = replace(item, status=replace(item.status, start_time=CREATED_NS))
    return item


def status_of(status: Status) -> dict[str, object]:
    """Word a status as the recordings do, reasons sorted."""
    document: dict[str, object] = {"code": status.code.label}
    if status.plugin:
        document["plugin"] = status.plugin
    if status.reasons:
        document["reasons"] = sorted(status.reasons)
    if status.code is Code.ERROR:
        document["error"] = status.message
    return document


def _without_sampling(configuration: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """Look at every node, whatever the configuration says."""
    profiles = tuple(
        replace(profile, percentage_of_nodes_to_score=100) for profile in configuration.profiles
    )
    return replace(configuration, profiles=profiles)
