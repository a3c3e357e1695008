"""A cluster in virtual time: API server, scheduler, kubelets, and the loop that drives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from scheduler_core.api import (
    KubeObject,
    Node,
    Pod,
    PodCondition,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
)
from scheduler_core.api.reach import is_out_of_reach
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.scheduler.assembly import Assembly, SchedulerOptions, assemble
from scheduler_core.scheduler.event_handlers import EventHandlers, is_visible
from scheduler_core.sim.api_server import ApiServer, bound_to, with_condition
from scheduler_core.sim.clock import SECOND_NS, VirtualClock
from scheduler_core.sim.eviction import PodGarbageCollector, TaintEviction, pods_on
from scheduler_core.sim.resource_claims import ResourceClaimController
from scheduler_core.sim.world_trace import WorldTrace
from scheduler_core.trace.events import (
    ClockAdvanced,
    EventRecorded,
    NodeOrderChanged,
    PodEvicted,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import NONE, EventType
from scheduler_core.trace.tables import TERMINAL_PHASES
from scheduler_core.wording import made_of

# What kubelets do in the simulated cluster: start bound pods, end deleted ones.


class Kubelets:
    """All kubelets of the cluster; a watcher of the API server.

    A bound pod runs `start_after_ns` after its binding. A pod being deleted is gone when its
    grace period is over, or at once if it has finished; on a node out of reach it stays until the
    node is back.
    """

    def __init__(self, server: ApiServer, clock: VirtualClock, start_after_ns: int) -> None:
        self._server = server
        self._clock = clock
        self._start_after_ns = start_after_ns

    def added(self, item: KubeObject) -> None:
        if isinstance(item, Pod):
            self._heed_deletion(item)
            self._heed_binding(item)

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        if isinstance(old, Node) and isinstance(new, Node):
            if is_out_of_reach(old) and not is_out_of_reach(new):
                for pod in pods_on(self._server, new.name):
                    self._heed_deletion(pod)
            return
        if not isinstance(old, Pod) or not isinstance(new, Pod):
            return
        if new.metadata.deletion_timestamp != old.metadata.deletion_timestamp:
            self._heed_deletion(new)
        if new.spec.node_name != old.spec.node_name:
            self._heed_binding(new)

    def deleted(self, item: KubeObject) -> None:
        return None

    def _heed_deletion(self, pod: Pod) -> None:
        gone_at_ns = pod.metadata.deletion_timestamp
        if gone_at_ns is not None:
            if pod.status.phase in TERMINAL_PHASES:
                gone_at_ns = self._clock.now_ns()
            at_ns = max(gone_at_ns, self._clock.now_ns())
            self._clock.call_at(at_ns, lambda: self._end(pod))

    def _end(self, pod: Pod) -> None:
        live = self._live(pod)
        node = self._server.get(Node, pod.spec.node_name)
        if live is not None and (node is None or not is_out_of_reach(node)):
            self._server.delete(live)

    def _heed_binding(self, pod: Pod) -> None:
        if pod.spec.node_name and pod.status.phase in ("", "Pending"):
            at_ns = self._clock.now_ns() + self._start_after_ns
            self._clock.call_at(at_ns, lambda: self._run(pod))

    def _run(self, pod: Pod) -> None:
        live = self._live(pod)
        waiting = live is not None and live.status.phase in ("", "Pending")
        if live is not None and waiting and live.metadata.deletion_timestamp is None:
            self._server.update(replace(live, status=replace(live.status, phase="Running")))

    def _live(self, pod: Pod) -> Pod | None:
        """Return the pod as it is now, None if it is gone or another of its name is there."""
        live = self._server.get(Pod, pod.key)
        return live if live is not None and live.uid == pod.uid else None


MILLI_NS = 1_000_000
DEFAULT_GRACE_SECONDS = 30
DISRUPTION_TARGET = "DisruptionTarget"


@dataclass(frozen=True, slots=True)
class Timing:
    """How long things take in the simulated cluster, in nanoseconds.

    `pre_bind_ns` is what PreBind takes for a pod that needs it (volumes to bind); `binding_ns`
    passes before Bind. With `kubelet_start_ns` None there are neither kubelets nor controllers:
    bound pods stay Pending, and deleted pods are gone at once instead of after their grace
    period.
    """

    attempt_ns: int = MILLI_NS
    pre_bind_ns: int = SECOND_NS
    binding_ns: int = 2 * MILLI_NS
    kubelet_start_ns: int | None = SECOND_NS


class Simulation:
    """One simulated cluster. Implements what the scheduler writes to (`Client`, `Background`)."""

    def __init__(
        self, options: SchedulerOptions, recorder: Recorder, now_ns: int, timing: Timing
    ) -> None:
        self.server = ApiServer()
        self.clock = VirtualClock(now_ns)
        self.timing = timing
        self.recorder = recorder
        self.last_progress_ns = now_ns
        self._recorded_ns = now_ns
        self._after_attempt: list[Callable[[], None]] = []
        self._recorded_order: list[str] | None = None
        assembly: Assembly = assemble(
            options, client=self, background=self, recorder=recorder, now_ns=self.clock.now_ns
        )
        self.scheduler = assembly.scheduler
        self.scheduling = options
        self.plugin_handle = assembly.handle
        self.objects = assembly.objects
        self.waiting_pods = assembly.waiting_pods
        self.server.watch(WorldTrace(recorder, self.scheduler.cache))
        self.server.watch(
            EventHandlers(self.scheduler, assembly.objects, self.waiting_pods, options.features)
        )
        if timing.kubelet_start_ns is not None:
            self.server.watch(Kubelets(self.server, self.clock, timing.kubelet_start_ns))
            self.server.watch(TaintEviction(self.server, self.clock, self))
            self.server.watch(PodGarbageCollector(self.server, self.clock))
            self.server.watch(ResourceClaimController(self.server, self.clock))

    # ------------------------------------------------------------ the world's doings

    def load(self, objects: Iterable[KubeObject]) -> None:
        """Create objects in the order given."""
        for item in objects:
            self.server.create(item, self.clock.now_ns())

    def delete_pod(self, pod: Pod, grace_seconds: int | None = None) -> int:
        """Delete a pod, gracefully if it runs somewhere; return when it will be gone.

        `grace_seconds` None leaves the grace period to the pod. One that is being deleted
        already goes sooner, never later.
        """
        now_ns = self.clock.now_ns()
        gone_at_ns = self._gone_at_ns(pod, grace_seconds)
        if gone_at_ns <= now_ns:
            self.server.delete(pod)
            return now_ns
        known_ns = pod.metadata.deletion_timestamp
        if known_ns is not None and known_ns <= gone_at_ns:
            return known_ns
        grace_s = (gone_at_ns - now_ns) // SECOND_NS
        metadata = replace(
            pod.metadata, deletion_timestamp=gone_at_ns, deletion_grace_period_seconds=grace_s
        )
        self.server.update(replace(pod, metadata=metadata))
        return gone_at_ns

    def delete_object(self, item: KubeObject) -> None:
        """Delete an object that is not a pod: at once, unless it is a claim still protected."""
        protected = isinstance(item, ResourceClaim) and item.metadata.finalizers
        if not protected or self.timing.kubelet_start_ns is None:
            self.server.delete(item)
        elif item.metadata.deletion_timestamp is None:
            metadata = replace(item.metadata, deletion_timestamp=self.clock.now_ns())
            self.server.update(replace(item, metadata=metadata))

    def _gone_at_ns(self, pod: Pod, grace_seconds: int | None = None) -> int:
        now_ns = self.clock.now_ns()
        runs = pod.spec.node_name and pod.status.phase not in TERMINAL_PHASES
        if self.timing.kubelet_start_ns is None or not runs:
            return now_ns
        if grace_seconds is None:
            grace_seconds = pod.spec.termination_grace_period_seconds
        return now_ns + SECOND_NS * (
            DEFAULT_GRACE_SECONDS if grace_seconds is None else max(grace_seconds, 0)
        )

    def evict(self, pod: Pod, reason: str, condition_reason: str) -> None:
        """Delete a pod that has to leave its node, unless it is on its way already."""
        live = self.server.get(Pod, pod.key)
        if live is None or live.uid != pod.uid:
            return
        if live.metadata.deletion_timestamp is None:
            condition = PodCondition(reason=condition_reason, message=str(reason))
            self._evict(live, NONE, reason, condition)

    def _evict(self, pod: Pod, by: int, reason: str, condition: PodCondition) -> None:
        condition = replace(condition, type=DISRUPTION_TARGET, status="True")
        if not _has_condition(pod, condition):
            status = replace(pod.status, conditions=with_condition(pod, condition))
            pod = self.server.update(replace(pod, status=status))
        gone_at_ns = self._gone_at_ns(pod)
        self.recorder.emit(
            PodEvicted(
                self.recorder.pod(pod.uid), by, str(reason), gone_at_ns, said=made_of(reason)
            )
        )
        self.delete_pod(pod)

    # ------------------------------------------------------------ what the scheduler writes

    def pod(self, key: str) -> Pod | None:
        found = self.server.get(Pod, key)
        return found if found is not None and is_visible(found) else None

    def bind(self, pod: PodInfo, node_name: str) -> str:
        live = self.server.get(Pod, pod.key)
        if refusal := _binding_refusal(live, pod):
            return refusal
        assert live is not None
        bound = bound_to(live, node_name)
        start_time = live.status.start_time or self.clock.now_ns()
        self.server.update(replace(bound, status=replace(bound.status, start_time=start_time)))
        self.last_progress_ns = self.clock.now_ns()
        return ""

    def patch_pod_status(
        self, pod: PodInfo, condition: PodCondition | None, nominated_node_name: str | None
    ) -> None:
        live = self.server.get(Pod, pod.key)
        if live is None or live.uid != pod.uid:
            return
        status = live.status
        if condition is not None:
            status = replace(status, conditions=with_condition(live, condition))
        if nominated_node_name is not None:
            status = replace(status, nominated_node_name=nominated_node_name)
        if status != live.status:
            self.server.update(replace(live, status=status))

    def set_extended_resource_claim(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None:
        live = self.server.get(Pod, pod.key)
        if live is not None and live.uid == pod.uid:
            patched = replace(live.status, extended_resource_claim_status=status)
            self.server.update(replace(live, status=patched))

    def write(self, item: KubeObject) -> None:
        self.server.write(item, self.clock.now_ns())

    def delete(self, item: KubeObject) -> None:
        self.server.delete(item)

    def evict_pod(self, pod: PodInfo, preemptor: PodInfo, message: str) -> bool:
        live = self.server.get(Pod, pod.key)
        if live is None or live.uid != pod.uid:
            return False
        scheduler_name = preemptor.pod.spec.scheduler_name
        condition = PodCondition(
            reason="PreemptionByScheduler",
            message=f"{scheduler_name}: preempting to accommodate a higher priority pod",
        )
        self._evict(live, self.recorder.pod(preemptor.uid), message, condition)
        return True

    def record_event(self, pod: PodInfo, kind: EventType, reason: str, message: str) -> None:
        self.recorder.emit(EventRecorded(self.recorder.pod(pod.uid), kind, reason, message))

    def after_attempt(self, work: Callable[[], None]) -> None:
        self._after_attempt.append(work)

    def soon(self, work: Callable[[], None]) -> None:
        self.clock.call_at(self.clock.now_ns(), work)

    def pre_bind_later(self, work: Callable[[], None]) -> None:
        self._after(self.timing.pre_bind_ns, work)

    def bind_later(self, work: Callable[[], None]) -> None:
        self._after(self.timing.binding_ns, work)

    def _after(self, delay_ns: int, work: Callable[[], None]) -> None:
        if delay_ns == 0:
            work()
        else:
            self.clock.call_at(self.clock.now_ns() + delay_ns, work)

    # ------------------------------------------------------------ the loop

    def attempt(self) -> bool:
        """Run one scheduling attempt and what follows from it; return whether there was one."""
        self.record_node_order()
        tried = self.scheduler.schedule_one()
        self.finish_attempt()
        return tried

    def finish_attempt(self) -> None:
        """Do what the attempt has left to be done in the background."""
        while self._after_attempt:
            self._after_attempt.pop(0)()
        self.scheduler.settle_waiting_pods()

    def next_due_ns(self) -> int | None:
        """Return when something happens next by itself, None if nothing does.

        Left out is the flush of pods parked for five minutes: it would go on for ever.
        """
        times = (
            self.clock.next_due_ns,
            self.waiting_pods.next_deadline_ns,
            self.scheduler.queue.next_backoff_flush_ns(),
        )
        return _earliest(times)

    def next_stop_ns(self) -> int | None:
        """Return when something happens next, that flush included."""
        return _earliest((self.next_due_ns(), self.scheduler.queue.next_leftover_flush_ns()))

    def advance_to(self, now_ns: int) -> None:
        """Move the clock and do all that is due by then, in order."""
        while (due_ns := self.next_stop_ns()) is not None and due_ns <= now_ns:
            self._move_clock(max(due_ns, self.clock.now_ns()))
            self._do_what_is_due()
        self._move_clock(now_ns)

    def _do_what_is_due(self) -> None:
        now_ns, queue = self.clock.now_ns(), self.scheduler.queue
        while (work := self.clock.pop_due()) is not None:
            work()
        self.scheduler.settle_waiting_pods()
        if (due_ns := queue.next_backoff_flush_ns()) is not None and due_ns <= now_ns:
            queue.flush_backoff_completed()
        if (due_ns := queue.next_leftover_flush_ns()) is not None and due_ns <= now_ns:
            queue.flush_unschedulable_leftover()

    def _move_clock(self, now_ns: int) -> None:
        self.clock.move_to(now_ns)
        if now_ns != self._recorded_ns:
            self._recorded_ns = now_ns
            self.recorder.emit(ClockAdvanced(now_ns))

    def record_node_order(self) -> None:
        """Record the order of nodes if it has changed, as a cycle that started now would see it."""
        names = self.scheduler.cache.next_order()
        if names is not self._recorded_order and names != self._recorded_order:
            self._recorded_order = names
            self.recorder.emit(NodeOrderChanged(tuple(map(self.recorder.node, names))))

    @property
    def n_nodes(self) -> int:
        return sum(1 for _ in self.server.all(Node))


def _earliest(times_ns: Iterable[int | None]) -> int | None:
    return min([due_ns for due_ns in times_ns if due_ns is not None], default=None)


def _binding_refusal(live: Pod | None, pod: PodInfo) -> str:
    """Return why the API server refuses to bind the pod, empty if it does not.

    Upstream: v1.36 pkg/registry/core/pod/storage/storage.go (setPodNodeAndMetadata).
    """
    name = pod.pod.name
    if live is None:
        return f'pods "{name}" not found'
    reason = ""
    if live.uid != pod.uid:
        reason = f"UID in precondition: {pod.uid}, UID in object meta: {live.uid}"
    elif live.metadata.deletion_timestamp is not None:
        reason = f"pod {name} is being deleted, cannot be assigned to a host"
    elif live.spec.node_name:
        reason = f'pod {name} is already assigned to node "{live.spec.node_name}"'
    elif live.spec.scheduling_gates:
        reason = f"pod {name} has non-empty .spec.schedulingGates"
    return f'Operation cannot be fulfilled on pods/binding "{name}": {reason}' if reason else ""


def _has_condition(pod: Pod, condition: PodCondition) -> bool:
    return condition in pod.status.conditions
