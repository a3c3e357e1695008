"""A simulated cluster driven the way the recordings were made: no kubelets, no delays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from kviz.headless.conformance.cases import Case
from scheduler_core.api import KubeObject, Pod
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import KubeSchedulerConfiguration
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.status import Status
from scheduler_core.queue.moves import QueueEvent
from scheduler_core.scheduler.build import SchedulerOptions
from scheduler_core.scheduler.cycle import Cycle
from scheduler_core.scheduler.scheduler import Failure
from scheduler_core.sim.admission import admit
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.events import AnyEvent, CycleFinished, Result
from scheduler_core.trace.recorder import Recorder

MILLI_NS = 1_000_000
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
    """What one scheduling attempt came to."""

    cycle: Cycle
    result: str = ""
    message: str = ""
    unschedulable_plugins: frozenset[str] = frozenset()
    post_filter: PostFilterOutcome | None = None


class Replay:
    """A cluster at the time of the recordings. Raises ConfigError for a bad configuration."""

    def __init__(self, case: Case) -> None:
        self.trace: list[AnyEvent] = []
        self.queue_events: list[QueueEvent] = []
        configuration = case.configuration()
        if case.given.get("sampling") != "configured":
            configuration = _without_sampling(configuration)
        options = SchedulerOptions(
            configuration=configuration,
            features=case.gates,
            on_queue_event=self.queue_events.append,
        )
        timing = Timing(attempt_ns=MILLI_NS, binding_ns=0, kubelet_start_ns=None)
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

    def pod(self, key: str) -> PodInfo:
        pod = self.simulation.server.get(Pod, key)
        assert pod is not None
        return self.scheduler.cache.columns.templates.info(pod)

    def attempt(self) -> Attempt | None:
        """Run the next attempt, None if the queue yields no pod."""
        self.trace.clear()
        if not self.simulation.attempt():
            return None
        last = self.scheduler.last_attempt
        assert last is not None
        attempt = Attempt(last.cycle, post_filter=last.post_filter)
        finished = [event for event in self.trace if isinstance(event, CycleFinished)]
        attempt.result = RESULTS[finished[-1].result]
        if isinstance(last.failure, Failure):
            attempt.message = last.failure.message
            attempt.unschedulable_plugins = last.failure.unschedulable_plugins
        return attempt


def completed(item: KubeObject) -> KubeObject:
    """Fill in what the recorder filled in."""
    metadata = item.metadata
    if metadata.creation_timestamp is None:
        item = replace(item, metadata=replace(metadata, creation_timestamp=CREATED_NS))
    if isinstance(item, Pod):
        item = admit(item)
        if item.spec.node_name and item.status.start_time is None:
            item = replace(item, status=replace(item.status, start_time=CREATED_NS))
    return item


def status_of(status: Status) -> dict[str, object]:
    """Word a status as the recordings do, reasons sorted."""
    worded: dict[str, object] = {"code": status.code.label}
    if status.plugin:
        worded["plugin"] = status.plugin
    if status.reasons:
        worded["reasons"] = sorted(status.reasons)
    return worded


def _without_sampling(configuration: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """Look at every node, whatever the configuration says."""
    profiles = tuple(
        replace(profile, percentage_of_nodes_to_score=100) for profile in configuration.profiles
    )
    return replace(configuration, profiles=profiles)
