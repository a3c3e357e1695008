"""Puts a scheduler together from a configuration: plugins, queue, cache, profiles.

Upstream: v1.36 pkg/scheduler/scheduler.go (New, buildQueueingHintMap) and profile/profile.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import Counted
from scheduler_core.config import (
    ConfigError,
    KubeSchedulerConfiguration,
    Problem,
    ResolvedProfile,
    default_configuration,
    resolve_profiles,
)
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.problems import ByName
from scheduler_core.extender.extenders import Extenders
from scheduler_core.extender.transport import Transport
from scheduler_core.framework.chance import PINNED, Chance
from scheduler_core.framework.extenders import EXTENDER
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.plugin_calls import in_words
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.signatures import PodSignature
from scheduler_core.framework.waiting import WaitingPods
from scheduler_core.preemption.pick import BreakTie, first
from scheduler_core.queue.moves import Move, QueueEvent, Strategy, Via
from scheduler_core.queue.profiles import QueueProfile
from scheduler_core.queue.queueing_hints import QueueingHints
from scheduler_core.queue.scheduling_queue import QueueSettings, SchedulingQueue
from scheduler_core.registry import Registry, in_tree_registry
from scheduler_core.releases import UNNAMED
from scheduler_core.releases.table import TieBreak
from scheduler_core.scheduler.algorithm import SchedulingAlgorithm
from scheduler_core.scheduler.batching import OpportunisticBatch
from scheduler_core.scheduler.binding import BindingCycles
from scheduler_core.scheduler.client import Background, Client
from scheduler_core.scheduler.cycle import Scheduler
from scheduler_core.scheduler.cycle_trace import CycleTrace
from scheduler_core.scheduler.decision import CycleObserver
from scheduler_core.scheduler.failure import FailureHandler
from scheduler_core.scheduler.plugin_handle import SchedulerHandle
from scheduler_core.scheduler.selection import PICKS, Draw, Pick
from scheduler_core.trace.events import NominationChanged, QueueMoved
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import HintRecord

# What the queue decides, as trace events.


def record_queue_event(event: QueueEvent, recorder: Recorder) -> None:
    """Record a decision, unless it left a parked pod where it is without asking its plugins.

    With many pods parked those are most of what the queue decides.
    """
    if isinstance(event, Move) and _is_overlooked(event):
        return
    pod = recorder.pod(event.pod.uid)
    if isinstance(event, Move):
        recorder.emit(_queue_moved(event, pod, recorder))
    else:
        recorder.emit(NominationChanged(pod, recorder.node(event.node_name)))


def _is_overlooked(move: Move) -> bool:
    """Return whether none of the plugins that rejected the pod registered for the event."""
    return (
        move.strategy is Strategy.SKIP
        and not move.hints
        and move.via in (Via.CLUSTER_EVENT, Via.SELF_UPDATE)
    )


def _queue_moved(move: Move, pod: int, recorder: Recorder) -> QueueMoved:
    return QueueMoved(
        pod=pod,
        queue=move.queue,
        event=move.event,
        cause=move.cause,
        hints=tuple(HintRecord(recorder.plugin(h.plugin), h.hint.value) for h in move.hints),
        strategy=move.strategy.value if move.strategy else "",
        gated_by=recorder.plugin(move.gated_by),
        backoff_until_ns=move.backoff_until_ns,
    )


SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class SchedulerOptions:
    """What decides how a scheduler behaves.

    `tie_break` chooses among the best nodes, unless `pick` does, as where recorded picks are
    repeated. `draw` draws lots where upstream does. `on_queue_event` is called with every decision
    of the queue, `on_decision` with every cycle, in addition to the trace; `break_tie` decides
    where upstream takes any one of several nodes; `chance` is the rest of what threads and maps
    decide there. `transport` reaches the extenders of the configuration; without it they are not
    called.
    """

    configuration: KubeSchedulerConfiguration = field(default_factory=default_configuration)
    features: FeatureGates = field(default_factory=FeatureGates)
    registry: Registry = field(default_factory=in_tree_registry)
    tie_break: TieBreak = UNNAMED.tie_break
    pick: Pick | None = None
    draw: Draw = lambda n: 0
    on_queue_event: Callable[[QueueEvent], None] | None = None
    on_decision: CycleObserver = lambda cycle: None
    break_tie: BreakTie = first
    chance: Chance = PINNED
    transport: Transport | None = None


@dataclass(frozen=True)
class Assembly:
    """A scheduler and the parts of it that the world needs."""

    scheduler: Scheduler
    handle: SchedulerHandle
    """The scheduler as its plugins see it."""
    plugins: Mapping[str, Mapping[str, Plugin]]
    """All plugins by scheduler name and plugin name."""

    @property
    def objects(self) -> ObjectStore:
        return self.handle.objects

    @property
    def waiting_pods(self) -> WaitingPods:
        return self.handle.waiting_pods


@dataclass(frozen=True)
class Profiles:
    """The profiles of a configuration, ready to run, by scheduler name."""

    frameworks: Mapping[str, Framework]
    plugins: Mapping[str, Mapping[str, Plugin]]


def make_profiles(
    configuration: KubeSchedulerConfiguration, registry: Registry, handle: SchedulerHandle
) -> Profiles:
    """Make the plugins of all profiles, and what runs them.

    Raises ConfigError for a bad configuration, PluginFailure for a plugin that is broken.
    """
    profiles = resolve_profiles(configuration, registry.implements())
    plugins = _plugins(registry, profiles, handle)
    frameworks = {
        name: _framework(profile, plugins[name], handle) for name, profile in profiles.items()
    }
    return Profiles(frameworks, plugins)


def assemble(
    options: SchedulerOptions,
    *,
    client: Client,
    background: Background,
    recorder: Recorder,
    now_ns: Callable[[], int],
) -> Assembly:
    """Build a scheduler with an empty cluster.

    Raises ConfigError for a bad configuration, PluginFailure for a plugin that is broken.
    """
    cache = Cache(ClusterColumns(_counted(options.features)))
    extenders = _extenders(options, cache.columns)
    handle = SchedulerHandle(
        cache=cache,
        features=options.features,
        client=client,
        background=background,
        now_ns=now_ns,
        break_tie=options.break_tie,
        chance=options.chance,
        extenders=extenders,
    )
    profiles = make_profiles(options.configuration, options.registry, handle)
    plugins, frameworks = profiles.plugins, profiles.frameworks
    number_plugins(plugins, recorder, extenders=extenders is not None)
    queue = _queue(options, frameworks, plugins, client, recorder, now_ns)
    handle.attach(queue)
    trace = CycleTrace(recorder)
    failures = FailureHandler(queue, client, cache.columns.templates)
    bindings = BindingCycles(
        cache=cache,
        queue=queue,
        waiting_pods=handle.waiting_pods,
        pods_in_pre_bind=handle.pods_in_pre_bind,
        client=client,
        background=background,
        failures=failures,
        recorder=recorder,
        trace=trace,
        features=options.features,
        now_ns=now_ns,
        extenders=extenders,
    )
    algorithm = make_algorithm(options, extenders)
    scheduler = Scheduler(
        profiles=frameworks,
        cache=cache,
        queue=queue,
        bindings=bindings,
        failures=failures,
        client=client,
        algorithm=algorithm,
        trace=trace,
        batches=_batches(options, frameworks, now_ns, algorithm),
        on_decision=options.on_decision,
    )
    return Assembly(scheduler, handle, plugins)


def number_plugins(
    plugins: Mapping[str, Mapping[str, Plugin]], recorder: Recorder, *, extenders: bool
) -> None:
    """Give the plugins of all profiles their numbers in the trace, extenders the last one."""
    names = [name for by_name in plugins.values() for name in by_name]
    for name in [*names, EXTENDER] if extenders else names:
        recorder.plugins.setdefault(name, len(recorder.plugins))


def _counted(features: FeatureGates) -> Counted:
    return Counted(
        pod_level=features.enabled("PodLevelResources"),
        pod_level_resizes=features.enabled("InPlacePodLevelResourcesVerticalScaling"),
        by_pod=features.switches.requests_by_pod,
    )


def make_algorithm(
    options: SchedulerOptions, extenders: Extenders | None = None
) -> SchedulingAlgorithm:
    pick = options.pick or PICKS[options.tie_break](options.draw)
    return SchedulingAlgorithm(pick, options.tie_break, options.draw, extenders, options.chance)


def _extenders(options: SchedulerOptions, cluster: ClusterColumns) -> Extenders | None:
    configs = options.configuration.extenders
    if not configs or options.transport is None:
        return None
    return Extenders(configs, options.transport, cluster)


def _plugins(
    registry: Registry, profiles: Mapping[str, ResolvedProfile], handle: Handle
) -> dict[str, dict[str, Plugin]]:
    """Make the plugins of every profile. Raises ConfigError for one that refuses."""
    made: dict[str, dict[str, Plugin]] = {}
    for index, (profile_name, profile) in enumerate(profiles.items()):
        made[profile_name] = {}
        for name in profile.plugin_names:
            try:
                made[profile_name][name] = registry.make(name, profile.args.get(name), handle)
            except Exception as error:
                reason = str(error) if isinstance(error, ValueError) else in_words(error)
                path = ("profiles", index, "pluginConfig", ByName(name))
                problem = Problem(path, f'initializing plugin "{name}": {reason}')
                raise ConfigError([problem]) from error
    return made


def _batches(
    options: SchedulerOptions,
    frameworks: Mapping[str, Framework],
    now_ns: Callable[[], int],
    algorithm: SchedulingAlgorithm,
) -> dict[str, OpportunisticBatch]:
    """Return a batch per profile; none if the heap's order does not say which node comes next."""
    if not _batches_pods(options):
        return {}
    rescores = options.features.switches.batches_rescore
    prioritize = algorithm.totals if rescores else None
    return {name: OpportunisticBatch(each, now_ns, prioritize) for name, each in frameworks.items()}


def _batches_pods(options: SchedulerOptions) -> bool:
    return (
        options.features.enabled("OpportunisticBatching")
        and options.tie_break == "heap"
        and options.pick is None
        and not options.configuration.extenders
    )


def _framework(
    profile: ResolvedProfile, plugins: Mapping[str, Plugin], handle: SchedulerHandle
) -> Framework:
    points = {
        point: [(plugins[ref.name], ref.weight) for ref in refs]
        for point, refs in profile.points.items()
    }
    return Framework(profile.scheduler_name, points, handle, profile.percentage_of_nodes_to_score)


def _queue(
    options: SchedulerOptions,
    frameworks: Mapping[str, Framework],
    plugins: Mapping[str, Mapping[str, Plugin]],
    client: Client,
    recorder: Recorder,
    now_ns: Callable[[], int],
) -> SchedulingQueue:
    configuration = options.configuration

    def emit(event: QueueEvent) -> None:
        record_queue_event(event, recorder)
        if options.on_queue_event is not None:
            options.on_queue_event(event)

    def sign_pod(pod: PodInfo) -> PodSignature | None:
        framework = frameworks.get(pod.pod.spec.scheduler_name)
        return framework.sign_pod(pod) if framework and signs else None

    signs = _batches_pods(options)
    return SchedulingQueue(
        profiles={
            name: QueueProfile(
                tuple(framework.pre_enqueue_plugins),
                QueueingHints.of(
                    list(plugins[name].values()),
                    options.features.switches,
                    extenders=bool(configuration.extenders),
                ),
            )
            for name, framework in frameworks.items()
        },
        sort_key=next(iter(frameworks.values())).sort_key,
        now_ns=now_ns,
        live_pod=client.pod,
        emit=emit,
        settings=QueueSettings(
            initial_backoff_ns=configuration.pod_initial_backoff_seconds * SECOND_NS,
            max_backoff_ns=configuration.pod_max_backoff_seconds * SECOND_NS,
            emit_overlooked=options.on_queue_event is not None,
        ),
        features=options.features,
        sign_pod=sign_pod,
    )
