"""Puts a scheduler together from a configuration: plugins, queue, cache, profiles.

Upstream: v1.36 pkg/scheduler/scheduler.go (New, buildQueueingHintMap) and profile/profile.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scheduler_core.api import KubeObject, Pod
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import (
    ConfigError,
    ExtensionPoint,
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
from scheduler_core.framework.extenders import EXTENDER
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.plugin_calls import in_words
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.signatures import PodSignature
from scheduler_core.framework.waiting import PodsInPreBind, WaitingPods
from scheduler_core.preemption.pick import BreakTie, first
from scheduler_core.queue.hints import QueueingHints
from scheduler_core.queue.moves import Move, QueueEvent, Strategy, Via
from scheduler_core.queue.nominator import Nominator
from scheduler_core.queue.profiles import QueueProfile
from scheduler_core.queue.scheduling_queue import QueueSettings, SchedulingQueue
from scheduler_core.registry import Registry, in_tree_registry
from scheduler_core.scheduler.batching import OpportunisticBatch
from scheduler_core.scheduler.binding import BindingCycles
from scheduler_core.scheduler.client import Background, Client
from scheduler_core.scheduler.cycle import SchedulingAlgorithm
from scheduler_core.scheduler.failure import FailureHandler
from scheduler_core.scheduler.report import CycleReport
from scheduler_core.scheduler.scheduler import Scheduler
from scheduler_core.scheduler.selection import Pick, heap_root
from scheduler_core.trace.events import (
    NominationChanged,
    QueueMoved,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import (
    HintRecord,
    PointPlugins,
    ProfileRecord,
)

SECOND_NS = 1_000_000_000
PREEMPTING_PLUGIN = "DefaultPreemption"


@dataclass(frozen=True)
class SchedulerOptions:
    """What decides how a scheduler behaves. `pick` chooses among the best nodes.

    `pick_rule` names it in the trace; `on_queue_event` hears of every queue decision beside
    the trace; `break_tie` decides where upstream takes any one of several nodes. `transport`
    reaches the extenders of the configuration; without it they are not asked.
    """

    configuration: KubeSchedulerConfiguration = field(default_factory=default_configuration)
    features: FeatureGates = field(default_factory=FeatureGates)
    registry: Registry = field(default_factory=in_tree_registry)
    pick: Pick = heap_root
    pick_rule: str = "heap"
    on_queue_event: Callable[[QueueEvent], None] | None = None
    break_tie: BreakTie = first
    transport: Transport | None = None


@dataclass(frozen=True)
class Assembly:
    """A scheduler and the parts of it that the world needs."""

    scheduler: Scheduler
    objects: ObjectStore
    plugins: Mapping[str, Mapping[str, Plugin]]
    """All plugins by scheduler name and plugin name."""
    waiting_pods: WaitingPods


class SchedulerHandle:
    """The scheduler as its plugins see it (implements `framework.handle.Handle`)."""

    def __init__(
        self,
        *,
        cache: Cache,
        features: FeatureGates,
        client: Client,
        background: Background,
        now_ns: Callable[[], int],
        break_tie: BreakTie,
        extenders: Extenders | None = None,
    ) -> None:
        self.break_tie = break_tie
        self.extenders = extenders
        self.cache = cache
        self.objects = ObjectStore()
        self.features = features
        self.waiting_pods = WaitingPods()
        self.pods_in_pre_bind = PodsInPreBind()
        self._client = client
        self._background = background
        self._now_ns = now_ns
        self._queue: SchedulingQueue | None = None

    def attach(self, queue: SchedulingQueue) -> None:
        """Make the queue known; it is built from the plugins that hold this handle."""
        self._queue = queue

    @property
    def cluster(self) -> ClusterColumns:
        return self.cache.columns

    @property
    def nominator(self) -> Nominator:
        assert self._queue is not None
        return self._queue.nominator

    def nominated_by_node(self) -> Mapping[str, list[PodInfo]]:
        return self.nominator.nominated_by_node() if self._queue is not None else {}

    def nominated_node(self, pod: PodInfo) -> str:
        return self.nominator.node_of(pod) if self._queue is not None else ""

    def now_ns(self) -> int:
        return self._now_ns()

    def all_nodes(self) -> Nodes:
        return self.cache.update_snapshot()

    def live_pod(self, key: str) -> Pod | None:
        return self._client.pod(key)

    def evict(self, victim: PodInfo, preemptor: PodInfo, message: str) -> None:
        """Send a victim back that is not bound yet, or delete it through the API server."""
        if self._sends_back(victim):
            message += " (in kube-scheduler memory)."
        elif not self._client.evict_pod(victim, preemptor, message):
            return
        self._client.record_event(victim, "Normal", "Preempted", message)

    def _sends_back(self, victim: PodInfo) -> bool:
        """Stop the binding cycle of a pod that waits on Permit or is in PreBind."""
        waiting = self.waiting_pods.get(victim.uid)
        if waiting is not None:
            return waiting.preempt(PREEMPTING_PLUGIN, "preempted")
        in_pre_bind = self.pods_in_pre_bind.get(victim.uid)
        return in_pre_bind is not None and in_pre_bind.cancel(f"preempted by {PREEMPTING_PLUGIN}")

    def bind(self, pod: PodInfo, node_name: str) -> str:
        return self._client.bind(pod, node_name)

    def write(self, item: KubeObject) -> None:
        self._client.write(item)

    def clear_nomination(self, pod: PodInfo) -> None:
        self._client.patch_pod_status(pod, None, "")

    def after_attempt(self, work: Callable[[], None]) -> None:
        self._background.after_attempt(work)


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
    profiles = resolve_profiles(options.configuration, options.registry.implements())
    cache = Cache(ClusterColumns(), now_ns=now_ns)
    extenders = _extenders(options, cache.columns)
    handle = SchedulerHandle(
        cache=cache,
        features=options.features,
        client=client,
        background=background,
        now_ns=now_ns,
        break_tie=options.break_tie,
        extenders=extenders,
    )
    plugins = _plugins(options.registry, profiles, handle)
    for by_name in plugins.values():
        for plugin in by_name:
            recorder.plugins.setdefault(plugin, len(recorder.plugins))
    if extenders is not None:
        recorder.plugins.setdefault(EXTENDER, len(recorder.plugins))
    frameworks = {
        name: _framework(profile, plugins[name], handle) for name, profile in profiles.items()
    }
    queue = _queue(options, frameworks, plugins, client, recorder, now_ns)
    handle.attach(queue)
    failures = FailureHandler(queue, client, cache.columns.templates)
    scheduler = Scheduler(
        profiles=frameworks,
        cache=cache,
        queue=queue,
        bindings=BindingCycles(
            cache=cache,
            queue=queue,
            waiting_pods=handle.waiting_pods,
            pods_in_pre_bind=handle.pods_in_pre_bind,
            client=client,
            background=background,
            failures=failures,
            recorder=recorder,
            features=options.features,
            now_ns=now_ns,
            extenders=extenders,
        ),
        failures=failures,
        client=client,
        algorithm=SchedulingAlgorithm(options.pick, extenders),
        recorder=recorder,
        report=CycleReport(recorder, options.pick_rule),
        batches=_batches(options, frameworks, now_ns),
    )
    return Assembly(scheduler, handle.objects, plugins, handle.waiting_pods)


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
    options: SchedulerOptions, frameworks: Mapping[str, Framework], now_ns: Callable[[], int]
) -> dict[str, OpportunisticBatch]:
    """Return a batch per profile; none if nodes may be picked in another order than v1.36's."""
    if not _batches_pods(options):
        return {}
    return {name: OpportunisticBatch(each, now_ns) for name, each in frameworks.items()}


def _batches_pods(options: SchedulerOptions) -> bool:
    return (
        options.features.enabled("OpportunisticBatching")
        and options.pick is heap_root
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
        if not _says_nothing(event):
            recorder.emit(_queue_record(event, recorder))
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
                    list(plugins[name].values()), extenders=bool(configuration.extenders)
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
            tell_overlooked=options.on_queue_event is not None,
        ),
        features=options.features,
        sign_pod=sign_pod,
    )


def _says_nothing(event: QueueEvent) -> bool:
    """Tell whether an event went past a parked pod without any of its plugins asking for it.

    With many pods parked that is most of what the queue decides.
    """
    return (
        isinstance(event, Move)
        and event.strategy is Strategy.SKIP
        and not event.hints
        and (event.via in (Via.CLUSTER_EVENT, Via.SELF_UPDATE))
    )


def _queue_record(event: QueueEvent, recorder: Recorder) -> QueueMoved | NominationChanged:
    pod = recorder.pod(event.pod.uid)
    if not isinstance(event, Move):
        return NominationChanged(pod, recorder.node(event.node_name))
    return QueueMoved(
        pod=pod,
        queue=event.queue,
        event=event.event,
        cause=event.cause,
        hints=tuple(HintRecord(recorder.plugin(h.plugin), h.hint.value) for h in event.hints),
        strategy=event.strategy.value if event.strategy else "",
        gated_by=recorder.plugin(event.gated_by),
        backoff_until_ns=event.backoff_until_ns,
    )


def profile_records(
    frameworks: Mapping[str, Framework], recorder: Recorder
) -> tuple[ProfileRecord, ...]:
    """Describe the profiles for the start of a trace."""
    return tuple(
        ProfileRecord(
            name,
            tuple(
                PointPlugins(
                    point.value,
                    tuple(recorder.plugin(plugin.name) for plugin, _ in attached),
                    tuple(w for _, w in attached) if point is ExtensionPoint.SCORE else (),
                )
                for point, attached in framework.points.items()
            ),
        )
        for name, framework in frameworks.items()
    )
