"""What a cycle would have decided, had something been different.

A held cycle is evaluated again in a copy of its cluster, with some objects changed or by other
rules: PreFilter, Filter, PostFilter, PreScore, Score and the pick, by the steps and the plugins of
the scheduler itself (`decide`). It answers with the events that the run would have recorded.
Nothing is bound or evicted, and the held cycle, which is only copied from, stays as it was.

docs/lab.md is the contract. Upstream has no counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import structs

from scheduler_core.api import Pod
from scheduler_core.api.gc_freeze import gc_paused
from scheduler_core.changes import Change
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import KubeSchedulerConfiguration, Problem
from scheduler_core.config.types import PluginSet, Profile
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.interface import TakesOver, implements
from scheduler_core.framework.plugin_calls import call
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.scheduler.assembly import (
    Profiles,
    make_algorithm,
    make_profiles,
    number_plugins,
)
from scheduler_core.scheduler.assumed_pod import AssumedPod
from scheduler_core.scheduler.batching import BatchTurn, OpportunisticBatch
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.cycle_trace import CycleTrace
from scheduler_core.scheduler.decision import decide
from scheduler_core.scheduler.outcome import Scheduled
from scheduler_core.scheduler.profile_records import profile_records
from scheduler_core.sim.decided import DecidedCycle
from scheduler_core.sim.fate import fate_of, verdict
from scheduler_core.sim.pick import SeededDraw
from scheduler_core.sim.preview_changes import HeldState, plan
from scheduler_core.sim.preview_world import Edit, PreviewWorld
from scheduler_core.sim.simulation import Simulation
from scheduler_core.sim.world_trace import WorldTrace
from scheduler_core.trace.events import AnyEvent
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import ProfileRecord
from scheduler_core.wording import say

MAX_WORLDS: Final = 4
"""So many changed clusters are held, each with the plugins that look at it."""
MAX_RULES: Final = 4
"""So many configurations are held ready for each of them."""
MAX_TEMPLATES: Final = 256
"""A cluster in which so many kinds of pods have been tried is copied afresh."""


class CannotPreview(Exception):
    """A cycle cannot be evaluated again, or not with that change; the text says why."""


@dataclass(frozen=True)
class BeforeCycle:
    """What a cycle found that it used up: lots to be drawn, and batches of nodes."""

    draw: SeededDraw
    batches: Mapping[str, OpportunisticBatch]


@dataclass(frozen=True)
class PreviewedCycle:
    """The events of a cycle as it would have gone, details among them.

    The first `n_world` events are those of the changed cluster and pod; then comes the cycle, up
    to its `CycleFinished`. `gated` is the status of a PreEnqueue plugin that holds the changed pod
    back: then there is no cycle. `plugins` are all plugins by number, `profiles` those of another
    configuration; None where they are the run's own. `as_recorded` says that the cycle decides as
    it did, `without_effect` which changes cannot matter to it, and why,
    `limits` to which a real cluster may have something to say.
    """

    events: Sequence[AnyEvent]
    n_world: int
    as_recorded: bool
    gated: Status | None = None
    plugins: tuple[str, ...] | None = None
    profiles: tuple[ProfileRecord, ...] | None = None
    without_effect: tuple[Problem, ...] = ()
    limits: tuple[Problem, ...] = ()
    verdict: str = ""
    """What becomes of the pod, beside what became of it; empty for one that is held back."""
    decided: DecidedCycle | None = field(default=None, compare=False, repr=False)
    """What answers for the cycle until another is previewed; None if there is none."""

    @property
    def cycle(self) -> Sequence[AnyEvent]:
        return self.events[self.n_world :]


@dataclass(frozen=True)
class _Rules:
    """The profiles of one configuration, in one world."""

    configuration: KubeSchedulerConfiguration
    frameworks: Mapping[str, Framework]
    recorder: Recorder
    plugins: tuple[str, ...] | None
    profiles: tuple[ProfileRecord, ...] | None


class _Variant:
    """A world, and the rules that have been tried in it, the latest last."""

    def __init__(self, world: PreviewWorld) -> None:
        self.world = world
        self.rules: list[_Rules] = []


class CyclePreviews:
    """Evaluates one held cycle again and again; changed clusters are cached for the next time."""

    def __init__(self, cycle: Cycle, simulation: Simulation, before: BeforeCycle) -> None:
        self._cycle = cycle
        self._simulation = simulation
        self._options = simulation.scheduling
        self._before = before
        self._variants: list[_Variant] = []
        self._recorded: PreviewedCycle | None = None

    def change(self, changes: Sequence[Change]) -> PreviewedCycle:
        """Evaluate the cycle after some changes.

        Raises ChangeError for changes that cannot be carried out; CannotPreview, ConfigError and
        PluginFailure as `preview` does.
        """
        with gc_paused():
            planned = plan(changes, self._held_state())
            found = self.preview(planned.edits, planned.configuration)
            return replace(found, without_effect=planned.without_effect, limits=planned.limits)

    def profile_of(self, scheduler_name: str) -> Profile | None:
        """Return a profile of the run's configuration."""
        profiles = self._options.configuration.profiles
        return next((each for each in profiles if each.scheduler_name == scheduler_name), None)

    def _held_state(self) -> HeldState:
        simulation, pod = self._simulation, self._cycle.pod
        return HeldState(
            objects=simulation.server,
            configuration=self._options.configuration,
            features=self._options.features,
            now_ns=simulation.clock.now_ns(),
            own_key=pod.key,
            nominated=simulation.plugin_handle.nominator.nominations(),
        )

    def preview(
        self, edits: Sequence[Edit] = (), configuration: KubeSchedulerConfiguration | None = None
    ) -> PreviewedCycle:
        """Evaluate the cycle with some objects changed, or by another configuration.

        Raises CannotPreview; ConfigError for a configuration that the scheduler refuses; and
        PluginFailure.
        """
        if self._calls_extenders or (configuration is not None and configuration.extenders):
            raise CannotPreview(
                "Scheduler extenders decide here together with the plugins, and a preview does not "
                "call them. Start a run with the change instead."
            )
        recorded = self._recorded
        if recorded is None:
            recorded = self._recorded = self._evaluate((), None)
        if not edits and configuration is None:
            return recorded
        return self._evaluate(edits, configuration)

    @property
    def _calls_extenders(self) -> bool:
        return self._options.transport is not None and bool(self._options.configuration.extenders)

    def _evaluate(
        self, edits: Sequence[Edit], configuration: KubeSchedulerConfiguration | None
    ) -> PreviewedCycle:
        own = [edit for edit in edits if edit.item.key == self._cycle.pod.key and _is_pod(edit)]
        others = [edit for edit in edits if edit not in own]
        pod = self._cycle.pod.pod
        if own:
            changed = own[-1].new
            if not isinstance(changed, Pod) or changed.spec.node_name:
                fate = "bound" if isinstance(changed, Pod) else "deleted"
                raise CannotPreview(
                    f"Pod {self._cycle.pod.key} is {fate}, so it has no scheduling cycle."
                )
            pod = changed
        variant = self._variant(others)
        rules = self._rules(variant, configuration)
        return self._decide(variant.world, rules, pod)

    # ------------------------------------------------------------ what is cached

    def _variant(self, edits: Sequence[Edit]) -> _Variant:
        for i, variant in enumerate(self._variants):
            if variant.world.edits == edits:
                del self._variants[i]
                if variant.world.n_new_templates < MAX_TEMPLATES:
                    break
        else:
            variant = _Variant(self._world(edits))
        self._variants.append(variant)
        del self._variants[:-MAX_WORLDS]
        return variant

    def _world(self, edits: Sequence[Edit]) -> PreviewWorld:
        simulation = self._simulation
        return PreviewWorld(simulation.plugin_handle, simulation.recorder, simulation.pod, edits)

    def _rules(self, variant: _Variant, configuration: KubeSchedulerConfiguration | None) -> _Rules:
        wanted = self._options.configuration if configuration is None else configuration
        for i, rules in enumerate(variant.rules):
            if rules.configuration == wanted:
                variant.rules.append(variant.rules.pop(i))
                return rules
        rules = self._made(variant.world, wanted)
        variant.rules.append(rules)
        del variant.rules[:-MAX_RULES]
        return rules

    def _made(self, world: PreviewWorld, configuration: KubeSchedulerConfiguration) -> _Rules:
        made = make_profiles(configuration, self._options.registry, world.handle)
        if _unweighted(configuration) == _unweighted(self._options.configuration):
            self._take_over(made)
        if configuration == self._options.configuration:
            return _Rules(configuration, made.frameworks, world.recorder, None, None)
        recorder = world.recorder.fork(world.recorder.sink, details=True)
        known = len(recorder.plugins)
        number_plugins(made.plugins, recorder, extenders=False)
        names = tuple(recorder.plugins) if len(recorder.plugins) > known else None
        profiles = profile_records(made.frameworks, recorder, {})
        return _Rules(configuration, made.frameworks, recorder, names, profiles)

    def _take_over(self, made: Profiles) -> None:
        """Let new plugins go on with what those of the held scheduler have cached."""
        for name, framework in self._simulation.scheduler.profiles.items():
            held = framework.plugins
            for plugin in made.plugins[name].values():
                if implements(plugin, TakesOver):
                    plugin.take_over(held[plugin.name])

    # ------------------------------------------------------------ the cycle again

    def _decide(self, world: PreviewWorld, rules: _Rules, pod: Pod) -> PreviewedCycle:
        events: list[AnyEvent] = list(world.events)
        recorder = rules.recorder.fork(events.append, details=True)
        held = self._cycle.queued
        changed = pod is not held.pod.pod
        own = world.set_own(pod)
        if changed:
            WorldTrace(recorder, world.cache).pod_updated(held.pod, own)
        n_world = len(events)
        framework = rules.frameworks.get(pod.spec.scheduler_name)
        if framework is None:
            names = ", ".join(rules.frameworks)
            raise CannotPreview(
                f"No profile schedules pod {pod.key}: it names {pod.spec.scheduler_name}, the "
                f"profiles are {names}."
            )
        gated = _gate(framework, own) if changed else None
        if gated is not None:
            return PreviewedCycle(events, n_world, False, gated, rules.plugins, rules.profiles)
        queued = replace(held, pod=own) if changed else held
        cycle = self._decide_again(world, rules, framework, queued, recorder)
        decided = DecidedCycle(cycle, world.handle.objects)
        found = PreviewedCycle(
            events, n_world, True, None, rules.plugins, rules.profiles, decided=decided
        )
        recorded = self._recorded
        before = recorded.decided if recorded is not None else decided
        assert before is not None
        said = verdict(fate_of(before.decision), fate_of(cycle))
        text = say("preview.verdict", "{text}.", text=said)
        same = recorded is None or found.cycle[1:] == recorded.cycle[1:]
        return replace(found, as_recorded=same, verdict=text)

    def _decide_again(
        self,
        world: PreviewWorld,
        rules: _Rules,
        framework: Framework,
        queued: QueuedPodInfo,
        recorder: Recorder,
    ) -> Cycle:
        held, before = self._cycle, self._before
        algorithm = make_algorithm(replace(self._options, draw=before.draw.fork()))
        algorithm.next_start_index = held.start_index
        cycle = Cycle(
            number=held.number,
            framework=framework,
            queued=queued,
            nodes=world.nodes,
            start_index=held.start_index,
            batch=self._batch(framework, queued),
            diagnosis=Diagnosis(world.nodes),
            popped_from=held.popped_from,
        )
        trace = CycleTrace(recorder)
        trace.started(cycle, list(rules.frameworks).index(framework.profile_name))
        ended = decide(cycle, algorithm, trace, _nobody)
        world.unheard.finish_attempt()
        if queued is held.queued and self._recorded is None:
            _check_the_same(held, cycle)
        node = cycle.suggested_host
        trace.finished(
            cycle.number,
            ended
            or Scheduled(AssumedPod(cycle.number, queued, cycle.pod, node, framework, cycle.state)),
        )
        return cycle

    def _batch(self, framework: Framework, queued: QueuedPodInfo) -> BatchTurn | None:
        batch = self._before.batches.get(framework.profile_name)
        if batch is None:
            return None
        held = self._cycle.queued
        signature = held.signature if queued is held else framework.sign_pod(queued.pod)
        return BatchTurn(batch.fork(framework), signature, self._cycle.number)


def _is_pod(edit: Edit) -> bool:
    return isinstance(edit.item, Pod)


def _unweighted(configuration: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """Return a configuration without weights, on which nothing depends before the pick."""

    def of_set(plugins: PluginSet) -> PluginSet:
        enabled = tuple(structs.replace(each, weight=0) for each in plugins.enabled)
        return structs.replace(plugins, enabled=enabled)

    def of_profile(profile: Profile) -> Profile:
        plugins = profile.plugins
        sets = {"score": of_set(plugins.score), "multi_point": of_set(plugins.multi_point)}
        return structs.replace(profile, plugins=structs.replace(plugins, **sets))

    return structs.replace(configuration, profiles=tuple(map(of_profile, configuration.profiles)))


def _nobody(cycle: Cycle) -> None:
    """Hear of the decision of a cycle that nobody waits for."""


def _gate(framework: Framework, pod: PodInfo) -> Status | None:
    """Return the status of the first PreEnqueue plugin that holds a pod back."""
    for plugin in framework.pre_enqueue_plugins:
        status = call("PreEnqueue", plugin.name, pod, plugin.pre_enqueue, pod)
        if not status.is_success:
            return status.by(plugin.name)
    return None


def _check_the_same(held: Cycle, again: Cycle) -> None:
    """Raise CannotPreview unless a cycle, with nothing changed, decides as it did.

    It may not where a plugin remembers what happened in earlier cycles.
    """
    if _found(held) != _found(again):
        raise CannotPreview(
            "Evaluated again, this cycle goes another way though nothing is changed: a plugin of "
            "this run remembers earlier cycles. There is no preview of it."
        )


def _found(cycle: Cycle) -> object:
    """Return what the plugins said up to the decision, as values to be compared."""
    pre_filter, filtering, scoring = cycle.pre_filter, cycle.filtering, cycle.scoring
    status = pre_filter.status if pre_filter is not None else SUCCESS
    if filtering is None:
        return cycle.suggested_host, status
    statuses = [filtering.verdicts.status(i) for i in range(filtering.examined.n)]
    totals = scoring.totals.tolist() if scoring is not None else []
    return cycle.suggested_host, status, filtering.examined.names, statuses, totals
