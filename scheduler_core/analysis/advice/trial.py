"""A trial: what becomes of every pod of a cluster, and nothing else of the run.

`trial(objects, options)` runs once. `Trials(objects, options)` is for many runs of one cluster
that differ by changes. A caller with a `Run` plays it with `played_out`. All three give a
`RunEnd`; `differences` compares two of them. No per-node columns are recorded and nothing is
folded: a trial costs loading the cluster and deciding the cycles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal

from scheduler_core.api import KubeObject, Pod
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.vocabulary import Change
from scheduler_core.evidence.cycle import PluginEvidence, pre_enqueue_evidence
from scheduler_core.sim.loaded import LoadedCluster
from scheduler_core.sim.reenactment import ReenactedCycle, stopped_at
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.trace.events import (
    AnyEvent,
    CycleFinished,
    CycleStarted,
    PodAdded,
    PodEvicted,
    RunFinished,
)
from scheduler_core.trace.tables import TERMINAL_PHASES

Outcome = Literal["bound", "pending", "evicted", "finished", "absent"]


@dataclass(frozen=True, slots=True)
class PodEnd:
    """Where a pod is when a run is over; `cycle` is its last one, 0 if it had none.

    `message` is what its last cycle said, empty if that bound it. An evicted pod has the node
    that it was on while it is still on its way out, none when it is gone. `scheduler_name` is the
    scheduler that it names.
    """

    outcome: Outcome
    node: str = ""
    cycle: int = 0
    message: str = ""
    scheduler_name: str = ""


ABSENT: Final = PodEnd("absent")


@dataclass(frozen=True, slots=True)
class RunEnd:
    """What became of the pods of a run, by `namespace/name`.

    First those that were evicted and are gone, then all that are there, in order of creation.
    `stopped` says why the run ended before its time, empty if it did not.
    """

    pods: Mapping[str, PodEnd]
    stopped: str = ""

    def of(self, pod: str) -> PodEnd:
        return self.pods.get(pod, ABSENT)

    def keys(self, outcome: Outcome) -> tuple[str, ...]:
        """Return the pods that ended so."""
        return tuple(key for key, end in self.pods.items() if end.outcome == outcome)


def trial(objects: Sequence[KubeObject], options: RunOptions) -> RunEnd:
    """Run a cluster and say where every pod ended.

    `objects` are in creation order, after any changes (`changes.apply`). Raises ConfigError and
    PluginFailure as a run does.
    """
    return played_out(Run(objects, replace(options, details=False)))


class Trials:
    """Many trials of one cluster, by the same rules.

    The cluster is loaded once, and most changes are made to copies of that (`sim.loaded`): a trial
    costs the cycles, not the cluster. For other rules (a configuration, gates, a seed) make other
    options, and `Trials` of them.
    """

    def __init__(self, objects: Sequence[KubeObject], options: RunOptions) -> None:
        self.objects: Final = tuple(objects)
        self.options: Final = replace(options, details=False)
        self._standing: Mapping[str, tuple[Pod, PodEnd]] = {}
        """The pods that are placed in the end and were never tried, by uid: as they are then, and
        where they ended. To another run that says of the same object what it says there."""

    @cached_property
    def as_it_is(self) -> RunEnd:
        """The trial without changes, run once."""
        run = self._loaded.run_of(self.objects)
        if run is None:
            return trial(self.objects, self.options)
        end = _play(run, self._names_loaded)
        self._loaded.learn_from(run)
        placed = (pod for pod in run.simulation.server.all(Pod) if pod.spec.node_name)
        ends = ((pod, end.of(pod.key)) for pod in placed)
        self._standing = {pod.uid: (pod, each) for pod, each in ends if not each.cycle}
        return end

    @cached_property
    def resting(self) -> RestingCluster:
        """The cluster before any run, to be asked and to be changed in copies."""
        return RestingCluster(self.objects)

    def after(self, changes: Iterable[Change]) -> RunEnd:
        """Try the cluster with some changes, made in order before the run begins.

        Changes of rules change nothing here. Raises ChangeError for changes that cannot be carried
        out, and what `trial` raises.
        """
        return self.of(self.resting.after(changes).objects())

    def of(self, objects: Sequence[KubeObject]) -> RunEnd:
        """Try other objects; it is fast where most of them are those of the cluster."""
        run = self._loaded.run_of(objects)
        if run is None:
            return trial(objects, self.options)
        return _play(run, self._names_loaded, self._standing)

    def again(self, draw_seed: Sequence[int] | None = None) -> RunEnd:
        """Try the cluster as it is once more: something else may happen by other chance.

        With a `draw_seed`, lots among equal totals are drawn with that.
        """
        run = self._loaded.run_of(self.objects) or Run(self.objects, self.options)
        if draw_seed is not None:
            run.draw.restart(draw_seed)
        return _play(run, self._names_loaded, self._standing)

    def held_at(self, objects: Sequence[KubeObject], cycle: int) -> ReenactedCycle | None:
        """Return a cycle of a run over other objects, to look at and to preview.

        It is the moment at which the cycle decided; see `sim.reenactment`.
        """
        return stopped_at(self._loaded.run_of(objects) or Run(objects, self.options), cycle)

    def held_back(self, objects: Sequence[KubeObject], pod: str) -> tuple[PluginEvidence, ...]:
        """Return the plugins that keep a pod out of the active queue when a run is over."""
        run = self._loaded.run_of(objects) or Run(objects, self.options)
        deque(run.events(), maxlen=0)
        simulation = run.simulation
        for queued in simulation.scheduler.queue.gated_pods():
            if queued.key == pod:
                framework = simulation.scheduler.profiles[queued.pod.pod.spec.scheduler_name]
                return pre_enqueue_evidence(framework, queued.pod, simulation.objects)
        return ()

    @cached_property
    def _loaded(self) -> LoadedCluster:
        return LoadedCluster(self.objects, self.options)

    @cached_property
    def _names_loaded(self) -> Mapping[int, str]:
        return dict(_names(self._loaded.loading))


def played_out(run: Run) -> RunEnd:
    """Play a run that has not begun, loaded or not, to its end, and say where every pod ended."""
    return _play(run, {})


def _play(
    run: Run,
    names: Mapping[int, str],
    known: Mapping[str, tuple[Pod, PodEnd]] = MappingProxyType({}),
) -> RunEnd:
    """Play a run to its end; `names` are those of the pods whose events have been taken.

    A pod that is still the same object as in `known`, and was not tried, ended as it says there.
    """
    heard = _Heard(names)
    for event in run.events():
        heard.take(event)
    server, pods = run.simulation.server, run.simulation.recorder.pods
    ends = {key: PodEnd("evicted") for key in sorted(heard.evicted)}
    for pod in server.all(Pod):
        before, end = known.get(pod.uid, (None, ABSENT))
        if before is pod:
            ends[pod.key] = end
            continue
        cycle = heard.last_cycle.get(pods[pod.uid], 0)
        message, spec = heard.messages.get(cycle, ""), pod.spec
        ends[pod.key] = PodEnd(_outcome(pod), spec.node_name, cycle, message, spec.scheduler_name)
    return RunEnd(ends, heard.stopped)


class _Heard:
    """What the events of a run say that its pods do not show in the end."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.evicted: set[str] = set()
        self.last_cycle: dict[int, int] = {}
        self.messages: dict[int, str] = {}
        self.stopped = ""
        self._names = dict(names)

    def take(self, event: AnyEvent) -> None:
        match event:
            case PodAdded():
                self._names |= _names((event,))
            case CycleStarted():
                self.last_cycle[event.pod] = event.cycle
            case CycleFinished():
                self.messages[event.cycle] = event.message
            case PodEvicted():
                self.evicted.add(self._names[event.pod])
            case RunFinished():
                self.stopped = event.reason
            case _:
                pass


def _names(events: Iterable[AnyEvent]) -> Iterator[tuple[int, str]]:
    for event in events:
        if isinstance(event, PodAdded):
            yield event.pod, f"{event.namespace}/{event.name}"


def _outcome(pod: Pod) -> Outcome:
    if pod.status.phase in TERMINAL_PHASES:
        return "finished"
    if pod.metadata.deletion_timestamp is not None:
        return "evicted"
    return "bound" if pod.spec.node_name else "pending"


# ---------------------------------------------------------------- two of them


Difference = Literal["moved", "newly bound", "newly pending", "evicted", "finished", "gone", "new"]
"""How a pod ends differently. `new`: it was not there; how it ended says its end."""


@dataclass(frozen=True, slots=True)
class Differing:
    """A pod that ends differently in two runs."""

    pod: str
    what: Difference
    before: PodEnd
    after: PodEnd


def differences(before: RunEnd, after: RunEnd) -> Iterator[Differing]:
    """Yield the pods that end differently, those of the first run in its order, then new ones."""
    for key in dict.fromkeys((*before.pods, *after.pods)):
        then, now = before.of(key), after.of(key)
        what = None if then is now else difference(then, now)
        if what is not None:
            yield Differing(key, what, then, now)


def difference(before: PodEnd, after: PodEnd) -> Difference | None:
    """Name how a pod ends differently, None if it does not."""
    match before.outcome, after.outcome:
        case "bound", "bound":
            return None if before.node == after.node else "moved"
        case was, now if was == now:
            return None
        case "absent", _:
            return "new"
        case _, "bound":
            return "newly bound"
        case _, "pending":
            return "newly pending"
        case _, "evicted":
            return "evicted"
        case _, "finished":
            return "finished"
        case _:
            return "gone"
