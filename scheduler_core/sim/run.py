"""A whole run: a cluster goes in, the trace comes out.

The run ends when nothing more can happen by itself: no pod may be tried, nothing is under way,
and the scenario is over. Pods that only the five-minute flush would try again stay pending.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from scheduler_core import ENGINE_VERSION
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.config import KubeSchedulerConfiguration, default_configuration
from scheduler_core.config.features import FeatureGates
from scheduler_core.extender.transport import Transport
from scheduler_core.registry import Registry, in_tree_registry
from scheduler_core.scheduler.build import SchedulerOptions, profile_records
from scheduler_core.scheduler.event_handlers import TERMINAL_PHASES
from scheduler_core.sim.pick import random_pick
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.events import AnyEvent, RunFinished, RunStarted
from scheduler_core.trace.recorder import Recorder

DEFAULT_START_NS = 1_767_225_600_000_000_000
"""2026-01-01T00:00:00Z: when a run starts whose objects name no later time."""

SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class RunOptions:
    """Everything beside the objects that decides a run; equal options give an equal trace.

    `draw` picks uniformly among the best nodes with the seed, as schedulers before v1.36 did.
    `max_cycles` 0 means no limit; a run also ends when no pod has been bound for `patience_ns`
    (a pod that meets an error is tried again for ever). `details` False leaves the per-node
    columns out of the trace. Extenders of the configuration are asked over `transport`; without
    one they are not, and the trace says so.
    """

    configuration: KubeSchedulerConfiguration = field(default_factory=default_configuration)
    features: FeatureGates = field(default_factory=FeatureGates)
    registry: Registry = field(default_factory=in_tree_registry)
    seed: int = 0
    draw: bool = False
    timing: Timing = field(default_factory=Timing)
    max_cycles: int = 0
    details: bool = True
    patience_ns: int = 600 * SECOND_NS
    transport: Transport | None = None


def simulate(
    objects: Sequence[KubeObject], options: RunOptions | None = None
) -> Iterator[AnyEvent]:
    """Run the scheduler over a cluster and yield the trace as it comes.

    `objects` are in creation order. Raises ConfigError for a bad configuration.
    """
    return Run(objects, options or RunOptions()).events()


class Run:
    """One run of a simulated cluster."""

    def __init__(self, objects: Sequence[KubeObject], options: RunOptions) -> None:
        self._objects = objects
        self._options = options
        self._events: list[AnyEvent] = []
        self._recorder = Recorder(self._events.append, options.details)
        scheduling = SchedulerOptions(
            configuration=options.configuration,
            features=options.features,
            registry=options.registry,
            transport=options.transport,
        )
        if options.draw:
            scheduling = replace(scheduling, pick=random_pick(options.seed), pick_rule="draw")
        self.simulation = Simulation(scheduling, self._recorder, start_ns(objects), options.timing)

    def events(self) -> Iterator[AnyEvent]:
        """Yield the trace from beginning to end."""
        self._start()
        yield from self._drain()
        reason = ""
        while not reason:
            if not self._step():
                break
            yield from self._drain()
            reason = self._limit_met()
        self._recorder.emit(self._finished(reason))
        yield from self._drain()

    def _drain(self) -> Iterator[AnyEvent]:
        events = self._events[:]
        self._events.clear()
        yield from events

    def _start(self) -> None:
        scheduler = self.simulation.scheduler
        self._recorder.emit(
            RunStarted(
                ENGINE_VERSION,
                self._options.seed,
                self.simulation.clock.now_ns(),
                tuple(self._recorder.plugins),
                profile_records(scheduler.profiles, self._recorder),
                self._not_modelled(),
            )
        )
        self.simulation.load(in_sync_order(self._objects))

    def _not_modelled(self) -> tuple[str, ...]:
        """Name the extenders that are not asked for want of a way to reach them."""
        if self._options.transport is not None:
            return ()
        extenders = self._options.configuration.extenders
        return tuple(f"the extender {each.url_prefix} was not asked" for each in extenders)

    def _step(self) -> bool:
        """Do the next thing: an attempt, or what falls due next; tell whether there was one."""
        simulation = self.simulation
        if simulation.attempt():
            simulation.advance_to(simulation.clock.now_ns() + simulation.timing.attempt_ns)
            return True
        due_ns = simulation.next_due_ns()
        if due_ns is None:
            return False
        simulation.advance_to(due_ns)
        return True

    def _limit_met(self) -> str:
        """Return why the run must not go on, empty if it may."""
        simulation, options = self.simulation, self._options
        if 0 < options.max_cycles <= simulation.scheduler.n_cycles:
            return f"stopped after {options.max_cycles} cycles"
        if simulation.clock.now_ns() - simulation.last_progress_ns > options.patience_ns:
            return f"stopped: no pod was bound for {options.patience_ns // SECOND_NS} s"
        return ""

    def _finished(self, reason: str) -> RunFinished:
        server = self.simulation.server
        bound = pending = 0
        for pod in server.all(Pod):
            if pod.spec.node_name:
                bound += 1
            elif pod.status.phase not in TERMINAL_PHASES:
                pending += 1
        return RunFinished(self.simulation.scheduler.n_cycles, bound, pending, reason)


def start_ns(objects: Sequence[KubeObject]) -> int:
    """Return when the run starts: the second after the latest time an object names."""
    latest = max((item.metadata.creation_timestamp or 0 for item in objects), default=0)
    return max(DEFAULT_START_NS, -(-latest // SECOND_NS) * SECOND_NS)


def in_sync_order(objects: Sequence[KubeObject]) -> list[KubeObject]:
    """Return the objects as a starting scheduler gets to know them: pending pods last."""

    def stage(item: KubeObject) -> int:
        if isinstance(item, Pod):
            return 3 if not item.spec.node_name else 2
        return 1 if isinstance(item, Node) else 0

    return sorted(objects, key=stage)
