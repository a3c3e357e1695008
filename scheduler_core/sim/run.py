"""A whole run: a cluster goes in, the trace comes out.

The run ends when nothing more can happen by itself: no pod may be tried, nothing is under way,
and the scenario is over. Pods that only the five-minute flush would try again stay pending. A
scenario may instead say when the run ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from scheduler_core import ENGINE_VERSION
from scheduler_core.api import KubeObject, Node, ObjectMeta, Pod, PriorityClass
from scheduler_core.api.gc_freeze import gc_frozen
from scheduler_core.api.priority import PriorityClasses, UnknownPriorityClassError
from scheduler_core.changes.admission import admit
from scheduler_core.changes.plan import StepAtCycle
from scheduler_core.changes.vocabulary import Create, Put, StepChange
from scheduler_core.config import KubeSchedulerConfiguration, default_configuration
from scheduler_core.config.features import FeatureGates
from scheduler_core.extender.transport import Transport
from scheduler_core.framework.chance import PINNED, Chance
from scheduler_core.framework.interface import TakesOver, implements
from scheduler_core.registry import Registry, in_tree_registry
from scheduler_core.releases import UNNAMED
from scheduler_core.releases.table import TieBreak
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.decision import CycleObserver
from scheduler_core.scheduler.event_handlers import is_visible
from scheduler_core.scheduler.profile_records import profile_records
from scheduler_core.sim.not_modelled import inputs_not_modelled
from scheduler_core.sim.pick import SeededDraw
from scheduler_core.sim.preview import BeforeCycle
from scheduler_core.sim.scenario import Scenario, ScenarioOptions, Step
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.sim.steps import Steps
from scheduler_core.trace.events import (
    AnyEvent,
    RunFinished,
    RunStarted,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import MAX_INT64, GateRecord, QueueOrder
from scheduler_core.wording import made_of, packed, say, told

DEFAULT_START_NS = 1_767_225_600_000_000_000
"""2026-01-01T00:00:00Z: when a run starts whose objects name no later time."""

SECOND_NS = 1_000_000_000


def _nothing() -> None:
    """Nobody counts the cycles."""


@dataclass(frozen=True)
class RunOptions:
    """Everything besides the objects that decides a run; equal options give an equal trace.

    `features` are the gates of a release (`gates_of_run` joins in those of a scenario); the
    configuration must be loaded with the same. `tie_break` is the release's own unless another is
    wanted: with `draw` lots are drawn with `seed` among the best nodes. With `heap` the seed
    counts only where an extender has scored, for there v1.36 draws, too. `queue_order` is that of
    the pods that are pending at the start. `max_cycles` 0 means no limit; a run also ends when no
    pod has been bound for `patience_ns` (a pod that meets an error is tried again for ever).
    `details` False leaves the per-node columns out of the trace. `scenario` is what happens
    meanwhile; its options go before `timing`. `later` are changes made when a cycle would begin,
    in order of the cycles. `on_cycle` is called after every cycle, by who counts them or ends the
    run by raising something. `chance` is what real threads and maps decide; a trace does not hold
    it. `ignored` counts the objects of the cluster that were not read, by kind: what of them is
    not modelled the trace says. `left_out` says which could not be read, in sentences for the
    trace. Extenders of the configuration are called over `transport`; without one they are not,
    and the trace says so.
    """

    configuration: KubeSchedulerConfiguration = field(default_factory=default_configuration)
    features: FeatureGates = field(default_factory=FeatureGates)
    registry: Registry = field(default_factory=in_tree_registry)
    seed: int = 0
    tie_break: TieBreak = UNNAMED.tie_break
    queue_order: QueueOrder = "listed"
    timing: Timing = field(default_factory=Timing)
    max_cycles: int = 0
    details: bool = True
    patience_ns: int = 600 * SECOND_NS
    transport: Transport | None = None
    scenario: Scenario = field(default_factory=Scenario)
    later: tuple[StepAtCycle, ...] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    chance: Chance = PINNED
    on_cycle: Callable[[], None] = field(default=_nothing, compare=False)


def simulate(
    objects: Sequence[KubeObject], options: RunOptions | None = None
) -> Iterator[AnyEvent]:
    """Run the scheduler over a cluster and yield the trace as it comes.

    `objects` are in creation order. Raises ConfigError for a bad configuration.
    """
    return Run(objects, options or RunOptions()).events()


class Run:
    """One run of a simulated cluster; `on_decision` see `Scheduler`, another may be set."""

    def __init__(
        self,
        objects: Sequence[KubeObject],
        options: RunOptions,
        on_decision: CycleObserver = lambda cycle: None,
    ) -> None:
        self._objects, refused = admitted(objects)
        self._refused = tuple(refused)
        self._options = options
        self._scenario = options.scenario
        self._events: list[AnyEvent] = []
        self._recorder = Recorder(self._events.append, options.details)
        self._last_step_ns = 0
        self._later = deque(options.later)
        self._arriving: list[Pod] | None = None
        """The pods that pend at the start, once all else is loaded."""
        self.on_decision = on_decision
        self.draw = SeededDraw(options.seed)
        scheduling = SchedulerOptions(
            tie_break=options.tie_break,
            draw=self.draw,
            break_tie=options.chance.break_tie,
            chance=options.chance,
            configuration=options.configuration,
            features=options.features,
            registry=options.registry,
            transport=options.transport,
            on_decision=self._decided,
        )
        timing = timing_of(options.scenario.options, options.timing)
        self.simulation = Simulation(scheduling, self._recorder, start_ns(objects), timing)
        self._begin_ns = self.simulation.clock.now_ns()
        self._steps = Steps(
            self.simulation, recreate_evicted=options.scenario.options.recreate_evicted
        )

    @property
    def _end_ns(self) -> int | None:
        """When the scenario ends the run, None if it does not."""
        until_ns = self._scenario.until_ns
        return self._begin_ns + until_ns if until_ns else None

    def events(self) -> Iterator[AnyEvent]:
        """Yield the trace from beginning to end."""
        with gc_frozen(self._start):
            yield from self.drain()
            reason = yield from self._until_over()
            self._recorder.emit(self._finished(reason))
            yield from self.drain()

    def go_to(self, cycle: int) -> bool:
        """Run until a cycle is about to begin, without its trace; False if it never does."""
        scheduler = self.simulation.scheduler
        with gc_frozen(self._start):
            while scheduler.n_cycles < cycle - 1 or not scheduler.queue.may_pop:
                if not self._step() or self._limit_met():
                    return False
                self._events.clear()
        self._make_changes_due()
        return scheduler.queue.may_pop

    @property
    def still_to_come(self) -> tuple[tuple[Step, ...], tuple[StepAtCycle, ...]]:
        """The steps of the scenario whose time has not come, and the later changes not made."""
        since_ns = self.simulation.clock.now_ns() - self._begin_ns
        steps = tuple(step for step in self._scenario.steps if step.at_ns > since_ns)
        return steps, tuple(self._later)

    def go_on(self, changes: Iterable[StepChange]) -> Iterator[AnyEvent]:
        """Make changes now that the run is over, and yield what follows until it is over again."""
        simulation = self.simulation
        now_ns = self._last_step_ns = simulation.clock.now_ns()
        for index, change in enumerate(changes):
            self._steps.play(index, Step(now_ns - self._begin_ns, change))
        simulation.advance_to(now_ns)
        yield from self.drain()
        yield from self._until_over()

    def _until_over(self) -> Generator[AnyEvent, None, str]:
        """Yield what happens until nothing more does; return why it was stopped, if it was."""
        reason = ""
        while not reason:
            if not self._step():
                break
            yield from self.drain()
            reason = self._limit_met()
        return reason

    def _decided(self, cycle: Cycle) -> None:
        self.on_decision(cycle)
        self._options.on_cycle()

    def before_cycle(self) -> BeforeCycle:
        """Return what the next cycle would use up."""
        scheduler = self.simulation.scheduler
        batches = {
            name: batch.fork(scheduler.profiles[name]) for name, batch in scheduler.batches.items()
        }
        return BeforeCycle(self.draw.fork(), batches)

    @property
    def undrained(self) -> Sequence[AnyEvent]:
        """The events that have happened and are still to be handed out."""
        return self._events

    def drain(self) -> Sequence[AnyEvent]:
        """Hand out the events that have happened since they were last handed out."""
        events = self._events[:]
        self._events.clear()
        return events

    def load(self) -> None:
        """Create all but the pods that pend: what runs share that differ by chance alone."""
        scheduler, features = self.simulation.scheduler, self._options.features
        not_modelled = self._not_modelled()
        self._recorder.emit(
            RunStarted(
                ENGINE_VERSION,
                self._options.seed,
                self.simulation.clock.now_ns(),
                tuple(self._recorder.plugins),
                profile_records(
                    scheduler.profiles, self._recorder, scheduler.queue.registered_events()
                ),
                tuple(map(str, not_modelled)),
                release=features.release.name,
                gates=tuple(GateRecord(name, on) for name, on in features.changed.items()),
                tie_break=self._options.tie_break,
                queue_order=self._options.queue_order,
                said=packed(not_modelled),
            )
        )
        standing, self._arriving = _in_stages(self._objects, self._options.queue_order)
        self.simulation.load(standing)

    def take_back(self, other: Run) -> None:
        """Take over, loaded, what a copy of this run that has gone on has worked out so far.

        Only what holds at the beginning, too: it is there sooner, and nothing else is different.
        """
        mine, its = self.simulation.scheduler, other.simulation.scheduler
        mine.cache.columns.take_back(its.cache.columns)
        for name, framework in mine.profiles.items():
            theirs = its.profiles[name].plugins
            for plugin in framework.plugins.values():
                if implements(plugin, TakesOver):
                    plugin.take_back(theirs[plugin.name])

    def number_templates(self) -> None:
        """Number the templates of the pods that arrive later, so that copies agree on them."""
        self.simulation.scheduler.cache.columns.templates.number(self._arriving or ())

    def expect(self, objects: Sequence[KubeObject]) -> None:
        """Let the pods arrive that pend in `objects`, in place of those that it was made with."""
        asked, _ = admitted(
            [each for each in objects if isinstance(each, PriorityClass) or _is_pending(each)]
        )
        _, self._arriving = _in_stages(asked, self._options.queue_order)

    def _start(self) -> None:
        if self._arriving is None:
            self.load()
        chance, simulation, pending = self._options.chance, self.simulation, self._arriving or []
        order = chance.arrival_order(len(pending))
        simulation.load(pending if order is None else [pending[i] for i in order.tolist()])
        if n_nodes := simulation.n_nodes:
            simulation.scheduler.algorithm.next_start_index = chance.start_index(n_nodes)
        self._plan_scenario()

    def _plan_scenario(self) -> None:
        simulation, begin_ns = self.simulation, self._begin_ns
        for index, step in enumerate(self._scenario.steps):
            at_ns = begin_ns + step.at_ns
            simulation.clock.call_at(at_ns, partial(self._steps.play, index, step))
            self._last_step_ns = at_ns
        simulation.advance_to(begin_ns)

    def _not_modelled(self) -> tuple[str, ...]:
        """Name what the input asks for and is not done, unreachable extenders among it."""
        options = self._options
        uncalled = options.configuration.extenders if options.transport is None else ()
        found = inputs_not_modelled(
            list(self._all_objects()),
            options.ignored,
            uncalled,
            options.left_out,
            options.configuration,
            options.features,
        )
        return (*self._refused, *found)

    def _all_objects(self) -> Iterator[KubeObject]:
        """Yield the objects of the input, those that the scenario creates among them."""
        yield from self._objects
        steps = (step.action for step in self._scenario.steps)
        for change in (*steps, *(step.change for step in self._options.later)):
            if isinstance(change, Create | Put):
                yield from change.objects

    def _step(self) -> bool:
        """Do the next thing: an attempt, or what falls due next; return whether there was one."""
        simulation, end_ns = self.simulation, self._end_ns
        if end_ns is not None and simulation.clock.now_ns() >= end_ns:
            return False
        self._make_changes_due()
        if simulation.attempt():
            simulation.advance_to(simulation.clock.now_ns() + simulation.timing.attempt_ns)
            return True
        due_ns = self._next_ns()
        if due_ns is None:
            return False
        simulation.advance_to(due_ns)
        return True

    def _make_changes_due(self) -> None:
        """Make the changes of the cycle that would begin now, as steps of this moment."""
        scheduler, clock = self.simulation.scheduler, self.simulation.clock
        cycle = scheduler.n_cycles + 1
        if not self._later or self._later[0].cycle > cycle or not scheduler.queue.may_pop:
            return
        now_ns, n_steps = clock.now_ns(), len(self._scenario.steps)
        while self._later and self._later[0].cycle <= cycle:
            step = Step(now_ns - self._begin_ns, self._later.popleft().change)
            index = n_steps + len(self._options.later) - len(self._later) - 1
            clock.call_at(now_ns, partial(self._steps.play, index, step))
        self.simulation.advance_to(now_ns)
        self._last_step_ns = max(self._last_step_ns, now_ns)

    def _next_ns(self) -> int | None:
        """Return when to go on, None if nothing is left to come."""
        simulation, end_ns = self.simulation, self._end_ns
        if end_ns is None:
            return simulation.next_due_ns()
        stop_ns = simulation.next_stop_ns()
        return end_ns if stop_ns is None else min(stop_ns, end_ns)

    def _limit_met(self) -> str:
        """Return why the run must not go on, empty if it may."""
        simulation, options = self.simulation, self._options
        if 0 < options.max_cycles <= simulation.scheduler.n_cycles:
            return say("stopped.cycles", "stopped after {n} cycles", n=options.max_cycles)
        if self._end_ns is not None:
            return ""
        since_ns = max(simulation.last_progress_ns, self._last_step_ns)
        if simulation.clock.now_ns() - since_ns > options.patience_ns:
            return say(
                "stopped.idle",
                "stopped: no pod was bound for {n} s",
                n=options.patience_ns // SECOND_NS,
            )
        return ""

    def _finished(self, reason: str) -> RunFinished:
        server = self.simulation.server
        bound = pending = 0
        for pod in server.all(Pod):
            if not is_visible(pod):
                continue
            if pod.spec.node_name:
                bound += 1
            else:
                pending += 1
        return RunFinished(
            self.simulation.scheduler.n_cycles, bound, pending, str(reason), made_of(reason)
        )


def start_ns(objects: Sequence[KubeObject]) -> int:
    """Return when the run starts: the second after an object was last created or deleted.

    What is being deleted names the end of its grace period, which may be yet to come.
    """
    latest = max((_touched_ns(item.metadata) for item in objects), default=0)
    return max(DEFAULT_START_NS, -(-latest // SECOND_NS) * SECOND_NS)


def _touched_ns(metadata: ObjectMeta) -> int:
    grace_ns = max(0, metadata.deletion_grace_period_seconds or 0) * SECOND_NS
    deleted_ns = (metadata.deletion_timestamp or 0) - grace_ns
    return max(metadata.creation_timestamp or 0, deleted_ns)


def timing_of(options: ScenarioOptions, timing: Timing) -> Timing:
    """Return the timing with what a scenario says about it."""
    start_ns = options.pod_start
    if start_ns is None:
        start_ns = timing.kubelet_start_ns
    if options.kubelet is not None:
        start_ns = (start_ns or SECOND_NS) if options.kubelet else None
    return Timing(
        attempt_ns=timing.attempt_ns if options.attempt is None else options.attempt,
        pre_bind_ns=timing.pre_bind_ns if options.pre_bind is None else options.pre_bind,
        binding_ns=timing.binding_ns if options.binding is None else options.binding,
        kubelet_start_ns=start_ns,
    )


def admitted(objects: Sequence[KubeObject]) -> tuple[list[KubeObject], list[str]]:
    """Return the objects as the API server lets them in, pods with their priority.

    A pod whose priority class is not there comes in without; the list says so.
    """
    classes = PriorityClasses(item for item in objects if isinstance(item, PriorityClass))
    items: list[KubeObject] = []
    refused: list[str] = []
    for item in objects:
        if isinstance(item, Pod):
            try:
                item = classes.resolve(admit(item))
            except UnknownPriorityClassError as error:
                refused.append(
                    say(
                        "note.priority_zero",
                        "{what}: {why}; its priority counts as 0",
                        what=f"Pod {item.key}",
                        why=told(error),
                    )
                )
        items.append(item)
    return items, refused


def _is_pending(item: KubeObject) -> bool:
    return isinstance(item, Pod) and not item.spec.node_name


def in_sync_order(
    objects: Sequence[KubeObject], queue_order: QueueOrder = "listed"
) -> list[KubeObject]:
    """Return the objects as a starting scheduler gets to know them: pending pods last."""
    standing, pending = _in_stages(objects, queue_order)
    return [*standing, *pending]


def _in_stages(
    objects: Sequence[KubeObject], queue_order: QueueOrder
) -> tuple[list[KubeObject], list[Pod]]:
    """Return what a starting scheduler gets to know first, and the pods that then queue up."""

    def stage(item: KubeObject) -> int:
        if isinstance(item, Pod):
            return 3 if not item.spec.node_name else 2
        return 1 if isinstance(item, Node) else 0

    in_stages = sorted(objects, key=stage)
    first_pending = next(
        (i for i, item in enumerate(in_stages) if stage(item) == 3), len(in_stages)
    )
    pending = [item for item in in_stages[first_pending:] if isinstance(item, Pod)]
    return in_stages[:first_pending], _in_queue_order(pending, queue_order)


def _in_queue_order(pods: list[Pod], order: QueueOrder) -> list[Pod]:
    """Sort pods that are pending at the start; of equal age, and without a time, as listed."""
    match order:
        case "listed":
            return pods
        case "name":
            return sorted(pods, key=lambda pod: pod.key)
        case "created":
            return sorted(pods, key=_created_ns)


def _created_ns(pod: Pod) -> int:
    created_ns = pod.metadata.creation_timestamp
    return MAX_INT64 if created_ns is None else created_ns
