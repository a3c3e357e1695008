"""The queue of pending pods: activeQ, backoffQ, unschedulable and gated pods, pods in flight.

Upstream: v1.36 pkg/scheduler/backend/queue/scheduling_queue.go (PriorityQueue). Feature gate
SchedulerQueueingHints is locked on in v1.36, so only that behaviour is here. What upstream reads
out of maps in any order goes in order of arrival here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from scheduler_core.api import Pod
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.framework.events import ActionType, ClusterEvent, EventObject
from scheduler_core.framework.interface import Queued
from scheduler_core.framework.signatures import PodSignature
from scheduler_core.queue.backoff_queue import BackoffQueue
from scheduler_core.queue.cluster_events import (
    ASSIGNED_POD_ADD,
    BACKOFF_COMPLETE,
    FORCE_ACTIVATE,
    SCHEDULE_ATTEMPT_FAILURE,
    UNSCHEDULABLE_TIMEOUT,
    event_for,
    unscheduled_pod,
)
from scheduler_core.queue.event_changes import pod_scheduling_properties_change
from scheduler_core.queue.heap import PodHeap
from scheduler_core.queue.in_flight import InFlight
from scheduler_core.queue.moves import Hint, Move, QueueEvent, Strategy, Via, key_of
from scheduler_core.queue.nominator import Nominator
from scheduler_core.queue.profiles import QueueProfile, QueueProfiles
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.trace.records import Queue
from scheduler_core.trace.tables import UNSCHEDULABLE_MINUTES

SECOND_NS: Final = 1_000_000_000
BACKOFF_FLUSH_PERIOD_NS: Final = SECOND_NS
LEFTOVER_FLUSH_PERIOD_NS: Final = 30 * SECOND_NS

PodCheck = Callable[[PodInfo], bool]


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Durations in nanoseconds, with upstream's defaults.

    `emit_overlooked` says whether decisions are emitted by which a pod stays parked as none of the
    plugins that rejected it registered for the event: with many pods parked, that is most of them.
    """

    initial_backoff_ns: int = SECOND_NS
    max_backoff_ns: int = 10 * SECOND_NS
    max_in_unschedulable_pods_ns: int = UNSCHEDULABLE_MINUTES * 60 * SECOND_NS
    emit_overlooked: bool = True


class Popped(NamedTuple):
    """A pod taken out for an attempt; `source` is `ACTIVE` or `BACKOFF`."""

    queued: QueuedPodInfo
    source: Queue


class SchedulingQueue:
    """Every pending pod is in one of activeQ, backoffQ, unschedulable pods or in flight.

    Only a pod that was updated may be in two, see `_weigh_own_update`.

    `profiles` is keyed by scheduler name; `sort_key` is that of the QueueSort plugin, which all
    profiles share. `now_ns` is the virtual clock. `live_pod` looks a pod up by key as the API
    server has it now. `emit` is called with every decision and change of a nomination, in
    order. `sign_pod` signs pods for batching.
    """

    def __init__(
        self,
        *,
        profiles: Mapping[str, QueueProfile],
        sort_key: Callable[[Queued], tuple[int, ...]],
        now_ns: Callable[[], int],
        live_pod: Callable[[str], Pod | None],
        emit: Callable[[QueueEvent], None],
        settings: QueueSettings,
        features: FeatureGates,
        sign_pod: Callable[[PodInfo], PodSignature | None] = lambda pod: None,
    ) -> None:
        self._profiles = QueueProfiles(profiles)
        self._now_ns = now_ns
        self._emit = emit
        self._settings = settings
        self._sign_pod = sign_pod
        self._pops_early = features.enabled("SchedulerPopFromBackoffQ")
        self._switches = features.switches
        unscheduled = unscheduled_pod(self._switches)
        self._added = ClusterEvent(unscheduled, ActionType.ADD)
        self._updated = ClusterEvent(unscheduled, ActionType.UPDATE)
        self._deleted = ClusterEvent(unscheduled, ActionType.DELETE)
        self._nominating_events = (self._added.label, self._updated.label)
        self._active_q = PodHeap(sort_key)
        self._backoff_q = BackoffQueue(
            initial_backoff_ns=settings.initial_backoff_ns,
            max_backoff_ns=settings.max_backoff_ns,
            sort_key=sort_key,
            pop_early=self._pops_early,
        )
        self._unschedulable_pods: dict[str, QueuedPodInfo] = {}
        self._in_flight = InFlight()
        self.nominator = Nominator(live_pod=live_pod, emit=emit)

    # ------------------------------------------------------------ taking pods out

    def pop(self) -> Popped | None:
        """Take out the next pod and count the attempt; None if none may be tried now.

        With activeQ empty, the pod whose backoff ends first comes early, unless it met an error
        (feature gate SchedulerPopFromBackoffQ). The pod is in flight until `done`.
        """
        source = Queue.ACTIVE
        queued = self._active_q.pop()
        if queued is None:
            source = Queue.BACKOFF
            queued = self._backoff_q.pop_early()
        if queued is None:
            return None
        queued.attempts += 1
        self._in_flight.start(queued.pod)
        return Popped(queued, source)

    @property
    def may_pop(self) -> bool:
        """Whether `pop` would find a pod now."""
        return bool(len(self._active_q)) or self._backoff_q.may_pop_early

    def done(self, uid: str) -> None:
        """End the flight of a pod, if it is in flight: it is bound, gone, or back in the queue."""
        self._in_flight.done(uid)

    # ------------------------------------------------------------ pods come and go

    def add(self, pod: PodInfo) -> None:
        """Take in a pod that is new to the scheduler."""
        self._add_new(pod, self._added)

    def update(self, old: PodInfo, new: PodInfo) -> None:
        """Take over a pending pod's new state; a parked pod may be requeued by it.

        For a pod in flight the update is kept and weighed if its attempt fails.
        """
        events = pod_scheduling_properties_change(old, new, self._switches)
        if new.uid in self._in_flight:
            for event in events:
                self._in_flight.record(event, old, new)
        elif not self._updated_in_heap(old, new):
            queued = self._unschedulable_pods.get(new.key)
            if queued is None:
                told_apart = self._switches.target_pod_events
                self._add_new(new, self._added if told_apart else self._updated)
            else:
                self._take_over(queued, new)
                self.nominator.update(old, new)
                self._weigh_own_update(queued, events, old, new)

    def delete(self, pod: PodInfo) -> None:
        """Drop a pod that is gone or bound, and its nomination."""
        self.nominator.delete(pod)
        queued = self._active_q.delete(pod.key) or self._backoff_q.delete(pod.key)
        if self._unschedulable_pods.pop(pod.key, None) or queued:
            self.leave(pod)

    def leave(self, pod: PodInfo) -> None:
        """Write down that a pod is in none of the queues any more, nor on its way out of them."""
        self._emit(Move(pod, Queue.NOWHERE, self._deleted.label, Via.DELETED))

    def activate(self, pods: Iterable[PodInfo]) -> None:
        """Move parked or backing-off pods to activeQ at once.

        For a pod in flight this is kept as an event that requeues it if its attempt fails.
        """
        for pod in pods:
            if (queued := self._unschedulable_pods.get(pod.key)) is not None:
                entered = self._move_to_active_q(queued, FORCE_ACTIVATE.label)
            elif (queued := self._backoff_q.delete(pod.key)) is not None:
                entered = self._move_from_backoff_q(queued, FORCE_ACTIVATE.label)
            else:
                if pod.uid in self._in_flight:
                    self._in_flight.record(FORCE_ACTIVATE, None, pod)
                continue
            place = self._place(queued, entered)
            self._emit_move(queued, place, FORCE_ACTIVATE.label, Via.ACTIVATED)

    def add_unschedulable_if_not_present(self, queued: QueuedPodInfo) -> None:
        """Take a pod back whose attempt has failed, and end its flight.

        The caller has set `queued.pod` to the latest state and the rejector plugins to those of
        the attempt (none after an error). Events that arrived during the attempt are weighed now.
        Raises ValueError if the pod is in the queue already.
        """
        uid = queued.pod.uid
        try:
            if self.get(queued.key) is not None:
                raise ValueError(f"pod {queued.key} is already in the queue")
            if queued.has_rejectors:
                queued.unschedulable_count += 1
                queued.consecutive_errors_count = 0
            else:
                queued.consecutive_errors_count += 1
            queued.timestamp_ns = self._now_ns()
            queued.backoff_until_ns = None
            queued.was_flushed_from_unschedulable = False
            queued.flushed_ns = -1
            strategy = self._weigh_in_flight_events(queued)
            place = self._requeue(queued, strategy, SCHEDULE_ATTEMPT_FAILURE)
            self._emit_move(
                queued, place, SCHEDULE_ATTEMPT_FAILURE, Via.ATTEMPT_FAILURE, strategy=strategy
            )
        finally:
            self._in_flight.done(uid)

    # ------------------------------------------------------------ cluster events

    def move_all_to_active_or_backoff_queue(
        self,
        event: ClusterEvent,
        old: EventObject = None,
        new: EventObject = None,
        pre_check: PodCheck | None = None,
    ) -> None:
        """Let an event wake the parked pods it is worth trying again, all or those checked.

        `old` is None for an addition, `new` for a deletion.
        """
        nobody_hears = not self._unschedulable_pods and not self._in_flight
        if not nobody_hears and self._profiles.is_of_interest(event):
            parked = self._unschedulable_pods.values()
            chosen = [q for q in parked if pre_check is None or pre_check(q.pod)]
            if not self._settings.emit_overlooked:
                chosen = self._profiles.concerned(chosen, event)
            self._move_pods(chosen, event, old, new)

    def assigned_pod_added(self, pod: PodInfo) -> None:
        """Weigh that a pod was bound or came bound."""
        self.move_all_to_active_or_backoff_queue(ASSIGNED_POD_ADD, None, pod)

    def assigned_pod_updated(self, old: PodInfo, new: PodInfo) -> None:
        """Weigh each kind of change of a bound pod."""
        for event in pod_scheduling_properties_change(old, new, self._switches):
            self.move_all_to_active_or_backoff_queue(event, old, new)

    # ------------------------------------------------------------ periodic flushes

    def flush_backoff_completed(self) -> None:
        """Move the pods whose backoff is over to activeQ; due at every whole second."""
        for queued in self._backoff_q.pop_all_completed(self._now_ns()):
            entered = self._move_from_backoff_q(queued, BACKOFF_COMPLETE)
            place = self._place(queued, entered)
            self._emit_move(queued, place, BACKOFF_COMPLETE, Via.BACKOFF_COMPLETE)

    def flush_unschedulable_leftover(self) -> None:
        """Requeue pods that have been parked for too long; due every 30 seconds."""
        now_ns = self._now_ns()
        leftover = [
            queued
            for queued in self._unschedulable_pods.values()
            if now_ns - queued.parked_since_ns > self._settings.max_in_unschedulable_pods_ns
        ]
        for queued in leftover:
            queued.was_flushed_from_unschedulable = True
            if self._switches.gated_pods_flushed:
                queued.flushed_ns = now_ns
        if leftover:
            self._move_pods(leftover, UNSCHEDULABLE_TIMEOUT, None, None)

    def next_backoff_flush_ns(self) -> int | None:
        """Return the first whole second whose flush will move a pod, None if backoffQ is empty."""
        return self._backoff_q.next_completion_ns()

    def next_leftover_flush_ns(self) -> int | None:
        """Return the first multiple of 30 s whose flush will move a pod, None if none will."""
        parked = self._unschedulable_pods.values()
        if self._switches.gated_pods_flushed:
            since_ns = [queued.parked_since_ns for queued in parked]
        else:
            since_ns = [queued.timestamp_ns for queued in parked if not queued.gating_plugin]
        if not since_ns:
            return None
        due_after_ns = min(since_ns) + self._settings.max_in_unschedulable_pods_ns
        return (due_after_ns // LEFTOVER_FLUSH_PERIOD_NS + 1) * LEFTOVER_FLUSH_PERIOD_NS

    # ------------------------------------------------------------ looking in

    def get(self, key: str) -> QueuedPodInfo | None:
        """Return a pod that is in the queue, by `namespace/name`; not one in flight."""
        return (
            self._active_q.get(key) or self._backoff_q.get(key) or self._unschedulable_pods.get(key)
        )

    def active_pods(self) -> list[QueuedPodInfo]:
        """Return the pods in activeQ in the order in which they will be popped."""
        return self._active_q.in_order()

    def backoff_pods(self) -> list[QueuedPodInfo]:
        """Return the pods in backoffQ by end of backoff, those that met an error last."""
        return self._backoff_q.in_order()

    def backoff_until_ns(self, queued: QueuedPodInfo) -> int:
        """Return when a pod's backoff ends, as it counts; -1 if it has none."""
        return self._backoff_q.until_ns(queued)

    def unschedulable_pods(self) -> list[QueuedPodInfo]:
        """Return the parked pods that are not gated."""
        return [queued for queued in self._unschedulable_pods.values() if not queued.gated]

    def gated_pods(self) -> list[QueuedPodInfo]:
        """Return the pods that a PreEnqueue plugin (`gating_plugin`) holds."""
        return [queued for queued in self._unschedulable_pods.values() if queued.gated]

    def in_flight_pods(self) -> list[PodInfo]:
        """Return the pods being scheduled or bound, in the order in which they were popped."""
        return self._in_flight.pods()

    def is_in_flight(self, uid: str) -> bool:
        return uid in self._in_flight

    def waking_events(self, queued: QueuedPodInfo) -> dict[str, Sequence[ClusterEvent]]:
        """Return by rejector plugin which events it wants to weigh for the pod."""
        return self._profiles.waking_events(queued)

    def registered_events(self) -> dict[str, dict[str, list[ClusterEvent]]]:
        """Return by scheduler name the events that each plugin registered for."""
        return self._profiles.registered()

    # ------------------------------------------------------------ moving between the parts

    def _add_new(self, pod: PodInfo, event: ClusterEvent) -> None:
        queued = QueuedPodInfo(pod, self._now_ns(), signature=self._sign_pod(pod))
        entered = self._move_to_active_q(queued, event.label)
        self._emit_move(queued, self._place(queued, entered), event.label, Via.ADDED)

    def _take_over(self, queued: QueuedPodInfo, pod: PodInfo) -> None:
        queued.pod = pod
        queued.signature = self._sign_pod(pod)

    def _updated_in_heap(self, old: PodInfo, new: PodInfo) -> bool:
        if (queued := self._active_q.get(old.key)) is not None:
            self._take_over(queued, new)
            self._active_q.add_or_update(queued)
        elif (queued := self._backoff_q.get(old.key)) is not None:
            self._take_over(queued, new)
            self._backoff_q.update(queued)
        else:
            return False
        self.nominator.update(old, new)
        return True

    def _move_to_active_q(self, queued: QueuedPodInfo, event: str) -> bool:
        self._profiles.run_pre_enqueue_plugins(queued)
        return self._enter_active_q(queued, event)

    def _move_from_backoff_q(self, queued: QueuedPodInfo, event: str) -> bool:
        # PreEnqueue ran when the pod entered backoffQ if it might have been popped from there.
        if self._pops_early:
            return self._enter_active_q(queued, event)
        return self._move_to_active_q(queued, event)

    def _enter_active_q(self, queued: QueuedPodInfo, event: str) -> bool:
        """Put a pod into activeQ, or park it if it is gated; return whether it went in."""
        nominates = event in self._nominating_events
        if queued.gated:
            if queued.key not in self._backoff_q:
                self._unschedulable_pods[queued.key] = queued
            if nominates and self._switches.gated_pods_nominated:
                self.nominator.add(queued.pod)
            return False
        if queued.initial_attempt_timestamp_ns is None:
            queued.initial_attempt_timestamp_ns = self._now_ns()
        self._unschedulable_pods.pop(queued.key, None)
        if not self._pops_early:
            self._backoff_q.delete(queued.key)
        self._active_q.add_or_update(queued)
        if nominates:
            self.nominator.add(queued.pod)
        return True

    def _move_to_backoff_q(self, queued: QueuedPodInfo) -> bool:
        """Put a pod into backoffQ, or park it if it is gated; return whether it went in."""
        if self._pops_early:
            self._profiles.run_pre_enqueue_plugins(queued)
            if queued.gated:
                self._unschedulable_pods[queued.key] = queued
                return False
        self._unschedulable_pods.pop(queued.key, None)
        self._backoff_q.add(queued)
        return True

    def _requeue(self, queued: QueuedPodInfo, strategy: Strategy, event: str) -> Queue:
        """Put a pod where the strategy wants it and return where it is now."""
        if strategy is Strategy.SKIP:
            self._unschedulable_pods[queued.key] = queued
            return self._place(queued, False)
        if strategy is Strategy.AFTER_BACKOFF and self._is_backing_off(queued):
            entered = self._move_to_backoff_q(queued)
            return Queue.BACKOFF if entered else self._place(queued, False)
        return self._place(queued, self._move_to_active_q(queued, event))

    def _is_backing_off(self, queued: QueuedPodInfo) -> bool:
        return self._backoff_q.is_backing_off(queued, self._now_ns())

    @staticmethod
    def _place(queued: QueuedPodInfo, in_active_q: bool) -> Queue:
        if in_active_q:
            return Queue.ACTIVE
        return Queue.GATED if queued.gated else Queue.UNSCHEDULABLE

    # ------------------------------------------------------------ weighing events

    def _move_pods(
        self,
        chosen: Sequence[QueuedPodInfo],
        event: ClusterEvent,
        old: EventObject,
        new: EventObject,
    ) -> None:
        """Requeue the chosen parked pods as the event deserves, and keep it for those in flight."""
        opens_gate: dict[str, bool] = {}
        asks_gates = self._switches.gated_pods_flushed and event is UNSCHEDULABLE_TIMEOUT
        for queued in chosen:
            gate = queued.gating_plugin
            if gate and not asks_gates:
                if gate not in opens_gate:
                    opens_gate[gate] = self._profiles.opens_gate(gate, event)
                if not opens_gate[gate]:
                    continue
            strategy, hints = self._profiles.worth_requeuing(queued, event, old, new)
            place = self._place(queued, False)
            if strategy is not Strategy.SKIP:
                del self._unschedulable_pods[queued.key]
                place = self._requeue(queued, strategy, event.label)
            self._emit_move(
                queued, place, event.label, Via.CLUSTER_EVENT, key_of(old, new), hints, strategy
            )
        self._in_flight.record(event, old, new)

    def _weigh_own_update(
        self, queued: QueuedPodInfo, events: Sequence[ClusterEvent], old: PodInfo, new: PodInfo
    ) -> None:
        """Requeue a parked pod at the first of its own changes that lets it be tried.

        As upstream, that it backs off does not end this if it may not be popped early: a change
        after that which is worth nothing leaves it both backing off and parked.
        """
        for event in events:
            strategy, hints = self._profiles.worth_requeuing(queued, event, old, new)
            place = self._requeue(queued, strategy, event.label)
            self._emit_move(queued, place, event.label, Via.SELF_UPDATE, new.key, hints, strategy)
            if place is Queue.ACTIVE or (place is Queue.BACKOFF and self._pops_early):
                return

    def _weigh_in_flight_events(self, queued: QueuedPodInfo) -> Strategy:
        """Return the best strategy that an event since the pod was popped deserves.

        A pod that no plugin rejected met an error and is tried again in any case, and so is
        one whose flight was over before its binding failed: nobody knows what it missed.
        """
        if not queued.has_rejectors or queued.pod.uid not in self._in_flight:
            return Strategy.AFTER_BACKOFF
        best = Strategy.SKIP
        for seen in self._in_flight.events_since_start(queued.pod.uid):
            event = event_for(queued.pod, seen.event, seen.new)
            strategy, hints = self._profiles.worth_requeuing(queued, event, seen.old, seen.new)
            cause = key_of(seen.old, seen.new)
            label, via = event.label, Via.IN_FLIGHT_EVENT
            self._emit_move(queued, Queue.IN_FLIGHT, label, via, cause, hints, strategy)
            if strategy is Strategy.IMMEDIATELY:
                return strategy
            if strategy is Strategy.AFTER_BACKOFF:
                best = strategy
                if not queued.pending_plugins:
                    break
        return best

    # ------------------------------------------------------------ recording decisions

    def _emit_move(
        self,
        queued: QueuedPodInfo,
        place: Queue,
        event: str,
        via: Via,
        cause: str = "",
        hints: tuple[Hint, ...] = (),
        strategy: Strategy | None = None,
    ) -> None:
        gated_by = queued.gating_plugin if place is Queue.GATED else ""
        until_ns = self._backoff_q.until_ns(queued) if place is Queue.BACKOFF else 0
        self._emit(Move(queued.pod, place, event, via, cause, hints, strategy, gated_by, until_ns))
