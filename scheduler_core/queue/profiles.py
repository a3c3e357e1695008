"""What plugins decide for the queue: whether a pod may enter, and whether an event may help it.

Upstream: v1.36 pkg/scheduler/backend/queue/scheduling_queue.go (runPreEnqueuePlugins,
isPodWorthRequeuing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import ClusterEvent, EventObject, QueueingHint
from scheduler_core.framework.interface import PreEnqueuePlugin
from scheduler_core.framework.plugin_calls import call
from scheduler_core.queue.cluster_events import is_wild_card
from scheduler_core.queue.moves import Hint, Strategy
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.queueing_hints import QueueingHints


@dataclass(frozen=True, slots=True)
class QueueProfile:
    """What the queue needs of a profile: its PreEnqueue plugins in order, and its hints."""

    pre_enqueue: tuple[PreEnqueuePlugin, ...]
    hints: QueueingHints


class Worth(NamedTuple):
    """Whether an event is worth requeueing a pod, and what each rejector said."""

    strategy: Strategy
    hints: tuple[Hint, ...] = ()


class QueueProfiles:
    """The profiles by scheduler name; a pod belongs to the one its spec names."""

    def __init__(self, profiles: Mapping[str, QueueProfile]) -> None:
        self._profiles = dict(profiles)

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Return whether any plugin registered for the event."""
        return is_wild_card(event) or any(
            profile.hints.matching(event) for profile in self._profiles.values()
        )

    def opens_gate(self, plugin: str, event: ClusterEvent) -> bool:
        """Return whether a plugin that holds pods at PreEnqueue registered for the event."""
        return any(
            profile.hints.is_of_interest_to(plugin, event) for profile in self._profiles.values()
        )

    def run_pre_enqueue_plugins(self, queued: QueuedPodInfo) -> None:
        """Find the plugin that holds the pod, if any, asking the one that held it first."""
        profile = self._of(queued)
        plugins = profile.pre_enqueue if profile else ()
        holder = queued.gating_plugin
        queued.gating_plugin = ""
        for plugin in sorted(plugins, key=lambda plugin: plugin.name != holder):
            ask = plugin.pre_enqueue
            if not call("PreEnqueue", plugin.name, queued.pod, ask, queued.pod).is_success:
                queued.unschedulable_plugins.add(plugin.name)
                queued.gating_plugin = plugin.name
                return

    def worth_requeuing(
        self, queued: QueuedPodInfo, event: ClusterEvent, old: EventObject, new: EventObject
    ) -> Worth:
        """Ask the plugins that rejected the pod about an event.

        A plugin that left the pod pending may spare it the backoff. A wild card wakes every
        pod, or the one it is about.
        """
        if not queued.has_rejectors:
            return Worth(Strategy.AFTER_BACKOFF)
        if is_wild_card(event):
            for_another = new is not None and not _is_about(new, queued)
            return Worth(Strategy.SKIP if for_another else Strategy.AFTER_BACKOFF)
        profile = self._of(queued)
        if profile is None:
            return Worth(Strategy.AFTER_BACKOFF)
        hints = profile.hints.ask(queued, event, old, new)
        willing = [hint.plugin for hint in hints if hint.hint is QueueingHint.QUEUE]
        if any(plugin in queued.pending_plugins for plugin in willing):
            return Worth(Strategy.IMMEDIATELY, hints)
        return Worth(Strategy.AFTER_BACKOFF if willing else Strategy.SKIP, hints)

    def concerned(self, parked: list[QueuedPodInfo], event: ClusterEvent) -> list[QueuedPodInfo]:
        """Return the pods that the event may wake; of the others no rejector registered for it."""
        if is_wild_card(event):
            return parked
        asking = {
            name: profile.hints.asking_plugins(event) for name, profile in self._profiles.items()
        }
        return [queued for queued in parked if _may_wake(queued, asking)]

    def waking_events(self, queued: QueuedPodInfo) -> dict[str, Sequence[ClusterEvent]]:
        """Return by rejector plugin which events it wants to weigh for the pod."""
        profile = self._of(queued)
        plugins = sorted(queued.unschedulable_plugins | queued.pending_plugins)
        return {plugin: profile.hints.events_of(plugin) for plugin in plugins if profile}

    def registered(self) -> dict[str, dict[str, list[ClusterEvent]]]:
        """Return by scheduler name what each plugin registered for."""
        return {name: profile.hints.registered() for name, profile in self._profiles.items()}

    def _of(self, queued: QueuedPodInfo) -> QueueProfile | None:
        return self._profiles.get(queued.pod.pod.spec.scheduler_name)


def _may_wake(queued: QueuedPodInfo, asking: Mapping[str, frozenset[str]]) -> bool:
    plugins = asking.get(queued.pod.pod.spec.scheduler_name)
    rejectors, pending = queued.unschedulable_plugins, queued.pending_plugins
    if plugins is None or not (rejectors or pending):
        return True
    return not plugins.isdisjoint(rejectors) or not plugins.isdisjoint(pending)


def _is_about(item: EventObject, queued: QueuedPodInfo) -> bool:
    return isinstance(item, PodInfo) and item.uid == queued.pod.uid
