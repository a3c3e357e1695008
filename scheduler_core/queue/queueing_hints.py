"""Which plugins are interested in which events, and what they say about a pod.

Upstream: v1.36 pkg/scheduler/scheduler.go (buildQueueingHintMap), framework/runtime
(fillEnqueueExtensions) and backend/queue/scheduling_queue.go (isPodWorthRequeuing).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    HintFn,
    QueueingHint,
)
from scheduler_core.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
    implements,
)
from scheduler_core.framework.plugin_calls import PluginFailure, call
from scheduler_core.queue.cluster_events import match_cluster_events
from scheduler_core.queue.moves import Hint
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.releases.switches import AS_IN_1_36_2, Switches

EXTENDER_NAME: Final = "Extender"
"""Stands for all extenders among the plugins that rejected a pod."""

EVERY_RESOURCE: Final = tuple(
    ClusterEventWithHint(ClusterEvent(resource, ActionType.ALL))
    for resource in (
        EventResource.POD,
        EventResource.NODE,
        EventResource.PERSISTENT_VOLUME,
        EventResource.PERSISTENT_VOLUME_CLAIM,
        EventResource.CSI_NODE,
        EventResource.CSI_DRIVER,
        EventResource.CSI_STORAGE_CAPACITY,
        EventResource.STORAGE_CLASS,
        EventResource.RESOURCE_CLAIM,
        EventResource.DEVICE_CLASS,
    )
)
"""What a plugin is registered for that does not say (upstream: UnrollWildCardResource)."""

_REJECTING_POINTS: Final = (
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    ReservePlugin,
    PermitPlugin,
)


_OF_BOUND_PODS: Final = (
    ActionType.ADD
    | ActionType.DELETE
    | ActionType.UPDATE_POD_LABEL
    | ActionType.UPDATE_POD_SCALE_DOWN
)


@dataclass(frozen=True, slots=True)
class Registration:
    """One event a plugin registered for; without `hint` it always queues the pod."""

    plugin: str
    event: ClusterEvent
    hint: HintFn | None


class QueueingHints:
    """The registrations of one profile, in plugin order, looked up by incoming event."""

    def __init__(self, registrations: Sequence[Registration]) -> None:
        self._registrations = tuple(registrations)
        self._matching: dict[ClusterEvent, tuple[Registration, ...]] = {}

    @staticmethod
    def of(
        plugins: Sequence[Plugin], switches: Switches = AS_IN_1_36_2, *, extenders: bool = False
    ) -> QueueingHints:
        """Ask the profile's plugins, each once, for their events. Raises PluginFailure.

        Only plugins that can reject a pod are asked; `extenders` says that the profile has any.
        """
        registrations = _register(EXTENDER_NAME, EVERY_RESOURCE, switches) if extenders else []
        for plugin in plugins:
            if any(implements(plugin, point) for point in _REJECTING_POINTS):
                registrations += _register(plugin.name, _events_of(plugin), switches)
        return QueueingHints(registrations)

    def matching(self, event: ClusterEvent) -> Sequence[Registration]:
        """Return the registrations that an incoming event falls under."""
        found = self._matching.get(event)
        if found is None:
            found = tuple(r for r in self._registrations if match_cluster_events(r.event, event))
            self._matching[event] = found
        return found

    def asking_plugins(self, event: ClusterEvent) -> frozenset[str]:
        """Return the plugins that registered for what an incoming event falls under."""
        return frozenset([registration.plugin for registration in self.matching(event)])

    def is_of_interest_to(self, plugin: str, event: ClusterEvent) -> bool:
        return any(registration.plugin == plugin for registration in self.matching(event))

    def registered(self) -> dict[str, list[ClusterEvent]]:
        """Return what each plugin registered for, in plugin order."""
        found: dict[str, list[ClusterEvent]] = {}
        for each in self._registrations:
            found.setdefault(each.plugin, []).append(each.event)
        return found

    def events_of(self, plugin: str) -> Sequence[ClusterEvent]:
        """Return the events a plugin registered for: what may wake a pod it rejected."""
        return [r.event for r in self._registrations if r.plugin == plugin]

    def ask(
        self, queued: QueuedPodInfo, event: ClusterEvent, old: EventObject, new: EventObject
    ) -> tuple[Hint, ...]:
        """Return what each plugin that rejected the pod says about the event.

        A plugin with several matching registrations says Queue if one of them does.
        """
        answers: dict[str, QueueingHint] = {}
        for registration in self.matching(event):
            plugin = registration.plugin
            if plugin not in queued.unschedulable_plugins and plugin not in queued.pending_plugins:
                continue
            if answers.get(plugin) is not QueueingHint.QUEUE:
                answers[plugin] = _ask(registration, queued, old, new)
        return tuple(Hint(plugin, hint) for plugin, hint in answers.items())


def _ask(
    registration: Registration, queued: QueuedPodInfo, old: EventObject, new: EventObject
) -> QueueingHint:
    hint, pod = registration.hint, queued.pod
    if hint is None:
        return QueueingHint.QUEUE
    return call("QueueingHint", registration.plugin, pod, hint, pod, old, new)


def _events_of(plugin: Plugin) -> Sequence[ClusterEventWithHint]:
    if not implements(plugin, EnqueueExtensions):
        return EVERY_RESOURCE
    events = call("EventsToRegister", plugin.name, None, plugin.events_to_register)
    for each in events:
        if not isinstance(each, ClusterEventWithHint):
            what = f"returned {type(each).__name__}, not ClusterEventWithHint"
            raise PluginFailure(plugin.name, "EventsToRegister", "", what)
    return events


def _whose(event: ClusterEvent) -> Iterator[ClusterEvent]:
    """Tell events about any pod apart: those of bound pods, and those of the waiting pod itself.

    Other pods come and go while one waits. Labels and requests matter of both, everything else
    that may change only of the waiting pod.
    """
    if event.resource is not EventResource.POD:
        yield event
        return
    action = event.action
    if action & ActionType.UPDATE == ActionType.UPDATE:
        of_others, own = action & ~ActionType.UPDATE, ActionType.UPDATE
    else:
        of_others, own = action & _OF_BOUND_PODS, action & ActionType.UPDATE
    if of_others:
        yield ClusterEvent(EventResource.ASSIGNED_POD, of_others)
    if own:
        yield ClusterEvent(EventResource.TARGET_POD, own)


def _register(
    plugin: str, events: Sequence[ClusterEventWithHint], switches: Switches
) -> list[Registration]:
    """List a plugin's registrations.

    One for new nodes brings along changes of taints where upstream has its workaround for a
    pre-check (kubernetes issue 109437).
    """
    told_apart = switches.target_pod_events and events is not EVERY_RESOURCE
    registrations = [
        Registration(plugin, event, each.hint)
        for each in events
        for event in (_whose(each.event) if told_apart else (each.event,))
    ]
    if switches.narrow_taint_events:
        return registrations
    on_node = [e.event.action for e in events if e.event.resource is EventResource.NODE]
    adds = any(action & ActionType.ADD for action in on_node)
    taints = any(action & ActionType.UPDATE_NODE_TAINT for action in on_node)
    if adds and not taints:
        event = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
        registrations.append(Registration(plugin, event, None))
    return registrations
