"""One pod at a time: scheduling cycle, binding cycle, and what happens when one fails.

Upstream: v1.36 pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler_core.api import PodCondition
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.waiting import WaitingPods
from scheduler_core.queue.cluster_events import ASSIGNED_POD_DELETE
from scheduler_core.queue.nominator import OVERRIDE
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.scheduling_queue import SchedulingQueue
from scheduler_core.scheduler.batching import BatchTurn, OpportunisticBatch
from scheduler_core.scheduler.client import Background, Client
from scheduler_core.scheduler.cycle import (
    NO_NODES_AVAILABLE,
    Cycle,
    CycleError,
    FitError,
    NoNodesAvailableError,
    SchedulingAlgorithm,
)
from scheduler_core.scheduler.report import CycleReport, status_record
from scheduler_core.trace.events import (
    NONE,
    Assumed,
    AssumeExpired,
    Bound,
    CycleFinished,
    CycleStarted,
    Forgotten,
    PermitResolved,
    PermitWaiting,
    PointFinished,
    PostFilterFinished,
    Queue,
    Result,
)
from scheduler_core.trace.recorder import Recorder

POD_SCHEDULED = "PodScheduled"
UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"
MAX_NOTE_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt ended without a node; `fit` says that plugins turned the pod down.

    Unless PostFilter says otherwise the pod's nomination is cleared.
    """

    message: str
    fit: bool
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    nominating: str = OVERRIDE
    node_name: str = ""


@dataclass(slots=True)
class Attempt:
    """The latest attempt, for whoever wants to look behind the trace."""

    cycle: Cycle
    post_filter: PostFilterOutcome | None = None
    failure: Failure | None = None


@dataclass(slots=True, eq=False)
class Binding:
    """A pod on its way to its node; `assumed` carries the node name already."""

    cycle: int
    queued: QueuedPodInfo
    assumed: PodInfo
    node_name: str
    framework: Framework
    state: CycleState


class Scheduler:
    """The scheduler of one cluster, all profiles; driven from outside, one attempt at a time."""

    def __init__(
        self,
        *,
        profiles: Mapping[str, Framework],
        cache: Cache,
        queue: SchedulingQueue,
        waiting_pods: WaitingPods,
        client: Client,
        background: Background,
        algorithm: SchedulingAlgorithm,
        recorder: Recorder,
        report: CycleReport,
        now_ns: Callable[[], int],
        batches: Mapping[str, OpportunisticBatch] | None = None,
    ) -> None:
        self.profiles = profiles
        self.cache = cache
        self.queue = queue
        self.waiting_pods = waiting_pods
        self.algorithm = algorithm
        self.n_cycles = 0
        self.last_attempt: Attempt | None = None
        self._client = client
        self._background = background
        self._recorder = recorder
        self._report = report
        self._now_ns = now_ns
        self._batches = batches or {}
        self._profile_numbers = {name: i for i, name in enumerate(profiles)}
        self._held: dict[str, Binding] = {}

    # ------------------------------------------------------------ scheduling cycle

    def schedule_one(self) -> bool:
        """Run one attempt for the pod at the head of the queue; tell whether there was one."""
        popped = self.queue.pop()
        if popped is None:
            return False
        self.attempt(popped.queued, popped.source)
        return True

    def attempt(self, queued: QueuedPodInfo, source: Queue) -> None:
        """Run one attempt for a pod taken out of `source`."""
        framework = self.profiles.get(queued.pod.pod.spec.scheduler_name)
        if framework is None:
            self.queue.done(queued.pod.uid)
            return
        self.n_cycles += 1
        self._attempt(framework, queued, source)

    def _attempt(self, framework: Framework, queued: QueuedPodInfo, source: Queue) -> None:
        nodes = self.cache.update_snapshot()
        cycle = Cycle(
            queued.pod,
            nodes,
            self.algorithm.next_start_index,
            self._batch_turn(framework, queued),
        )
        self.last_attempt = attempt = Attempt(cycle)
        self._recorder.emit(
            CycleStarted(
                self.n_cycles,
                self._recorder.pod(queued.pod.uid),
                queued.attempts,
                self._profile_numbers[framework.profile_name],
                source,
                cycle.start_index,
                nodes.n,
            )
        )
        if self._skips(queued.pod):
            self.queue.done(queued.pod.uid)
            self._finish(Result.SKIPPED, NONE)
            return
        attempt.failure = self._schedule(framework, queued, attempt)
        if attempt.failure is not None:
            self._handle_failure(queued, attempt.failure)

    def _batch_turn(self, framework: Framework, queued: QueuedPodInfo) -> BatchTurn | None:
        batch = self._batches.get(framework.profile_name)
        return BatchTurn(batch, queued.signature, self.n_cycles) if batch else None

    def _skips(self, pod: PodInfo) -> bool:
        """Tell whether there is nothing to schedule: being deleted, or assumed already."""
        if pod.terminating:
            text = f"skip schedule deleting pod: {pod.key}"
            self._client.record_event(pod, "Warning", "FailedScheduling", text)
            return True
        return self.cache.is_assumed_pod(pod.uid)

    def _schedule(
        self, framework: Framework, queued: QueuedPodInfo, attempt: Attempt
    ) -> Failure | None:
        """Find a node, assume and reserve it, ask for permission, hand over to binding."""
        cycle = attempt.cycle
        try:
            node_name = self.algorithm.schedule_pod(framework, cycle)
        except NoNodesAvailableError:
            return Failure(NO_NODES_AVAILABLE, fit=True)
        except FitError as error:
            self._emit_cycle(cycle)
            return self._post_filter(framework, attempt, error.diagnosis)
        except CycleError as error:
            self._emit_cycle(cycle)
            return Failure(error.message, fit=False)
        self._emit_cycle(cycle)
        return self._prepare_binding(framework, queued, cycle, node_name)

    def _emit_cycle(self, cycle: Cycle) -> None:
        for event in self._report.events(cycle):
            self._recorder.emit(event)

    def _post_filter(self, framework: Framework, attempt: Attempt, diagnosis: Diagnosis) -> Failure:
        """Let PostFilter plugins make room for later, and word the fit error."""
        cycle = attempt.cycle
        outcome = PostFilterOutcome(SUCCESS, OVERRIDE, "")
        if framework.has_post_filter_plugins:
            outcome = framework.run_post_filter(cycle.state, cycle.pod, diagnosis)
            attempt.post_filter = outcome
            diagnosis.post_filter_message = outcome.status.message
            for event in self._report.post_filter(outcome):
                self._recorder.emit(event)
            self._recorder.emit(
                PostFilterFinished(
                    status_record(outcome.status, self._recorder),
                    outcome.nominating,
                    self._recorder.node(outcome.node_name),
                )
            )
        return Failure(
            diagnosis.message(),
            fit=True,
            unschedulable_plugins=frozenset(diagnosis.unschedulable_plugins),
            pending_plugins=frozenset(diagnosis.pending_plugins),
            nominating=outcome.nominating,
            node_name=outcome.node_name,
        )

    def _prepare_binding(
        self, framework: Framework, queued: QueuedPodInfo, cycle: Cycle, node_name: str
    ) -> Failure | None:
        assumed = self.cache.assume_pod(queued.pod, node_name)
        binding = Binding(self.n_cycles, queued, assumed, node_name, framework, cycle.state)
        self.queue.nominator.delete(queued.pod)
        self._recorder.emit(Assumed(*self._pod_and_node(binding)))
        status = framework.run_reserve(cycle.state, assumed, node_name)
        self._emit_point(binding, "Reserve", status)
        if status.is_success:
            permit = framework.run_permit(cycle.state, assumed, node_name)
            status = permit.status
            self._emit_point(binding, "Permit", status)
            if status.code is Code.WAIT:
                self._hold(binding, permit.waits_ns)
                return None
        if not status.is_success:
            self._unreserve_and_forget(binding)
            return _refusal(cycle, node_name, status)
        self._finish(Result.SCHEDULED, self._recorder.node(node_name))
        self._background.binding_cycle(lambda: self._binding_cycle(binding))
        return None

    # ------------------------------------------------------------ permit

    def _hold(self, binding: Binding, waits_ns: Mapping[str, int]) -> None:
        waiting = self.waiting_pods.add(binding.assumed, waits_ns, self._now_ns())
        self._held[binding.assumed.uid] = binding
        pod = self._recorder.pod(binding.assumed.uid)
        for plugin, until_ns in waiting.deadlines_ns.items():
            self._recorder.emit(PermitWaiting(pod, self._recorder.plugin(plugin), until_ns))
        self._finish(Result.WAITING, self._recorder.node(binding.node_name))

    def settle_waiting_pods(self) -> None:
        """Let go of held pods that everyone has allowed, and fail those refused or out of time."""
        for waiting in self.waiting_pods:
            waiting.expire(self._now_ns())
            if waiting.decision is None:
                continue
            binding = self._held.pop(waiting.pod.uid)
            self.waiting_pods.remove(waiting.pod.uid)
            self._settle(binding, waiting.decision)

    def _settle(self, binding: Binding, decision: Status) -> None:
        timed_out = any("timeout" in reason for reason in decision.reasons)
        word = "allow" if decision.is_success else "timeout" if timed_out else "reject"
        self._recorder.emit(
            PermitResolved(
                self._recorder.pod(binding.assumed.uid),
                self._recorder.plugin(decision.plugin),
                word,
            )
        )
        if decision.is_success:
            self._background.binding_cycle(lambda: self._binding_cycle(binding))
        else:
            self._binding_failed(binding, decision)

    # ------------------------------------------------------------ binding cycle

    def _binding_cycle(self, binding: Binding) -> None:
        """PreBind, Bind, PostBind; any failure undoes the assumption and requeues the pod."""
        framework, state = binding.framework, binding.state
        self.queue.done(binding.assumed.uid)
        status = framework.run_pre_bind(state, binding.assumed, binding.node_name)
        self._emit_point(binding, "PreBind", status)
        if status.is_success:
            status = self._bind(binding)
            self._emit_point(binding, "Bind", status)
        if not status.is_success:
            self._binding_failed(binding, status)
            return
        text = f"Successfully assigned {binding.assumed.key} to {binding.node_name}"
        self._client.record_event(binding.assumed, "Normal", "Scheduled", text)
        framework.run_post_bind(state, binding.assumed, binding.node_name)
        self._emit_point(binding, "PostBind", SUCCESS)

    def _bind(self, binding: Binding) -> Status:
        status = binding.framework.run_bind(binding.state, binding.assumed, binding.node_name)
        if not status.is_success:
            return status
        error = self._client.bind(binding.assumed, binding.node_name)
        self.cache.finish_binding(binding.assumed)
        if error:
            return Status(Code.ERROR, (error,))
        self._recorder.emit(Bound(*self._pod_and_node(binding)))
        return SUCCESS

    def _binding_failed(self, binding: Binding, status: Status) -> None:
        self._unreserve_and_forget(binding)
        refused = status.is_rejected
        if not refused:
            self._assumed_pod_gone(binding.assumed)
        rejectors = frozenset({status.plugin} if status.plugin and refused else ())
        message = f"0/1 nodes are available: 1 {status.message}." if refused else status.message
        self._handle_failure(
            binding.queued,
            Failure(message, fit=refused, unschedulable_plugins=rejectors),
            Result.UNSCHEDULABLE if refused else Result.BIND_ERROR,
            binding.cycle,
        )
        if refused:
            self._assumed_pod_gone(binding.assumed, but_not=binding.assumed.uid)

    def _assumed_pod_gone(self, assumed: PodInfo, but_not: str = "") -> None:
        """Wake pods that may fit now that an assumed one has let go of its node."""
        self.queue.move_all_to_active_or_backoff_queue(
            ASSIGNED_POD_DELETE, assumed, None, lambda pod: pod.uid != but_not
        )

    def _unreserve_and_forget(self, binding: Binding) -> None:
        binding.framework.run_unreserve(binding.state, binding.assumed, binding.node_name)
        self.cache.forget_pod(binding.assumed)
        self._recorder.emit(Forgotten(*self._pod_and_node(binding)))

    def expire_assumed_pods(self) -> None:
        """Give up on assumed pods whose binding was never confirmed in time."""
        for pod in self.cache.expire_assumed_pods():
            numbers = self._recorder.pod(pod.uid), self._recorder.node(pod.node_name)
            self._recorder.emit(AssumeExpired(*numbers))

    # ------------------------------------------------------------ failure

    def _handle_failure(
        self,
        queued: QueuedPodInfo,
        failure: Failure,
        result: Result | None = None,
        cycle: int | None = None,
    ) -> None:
        """Requeue the pod, keep or change its nomination, and tell the user."""
        queued.clear_rejector_plugins()
        queued.unschedulable_plugins = set(failure.unschedulable_plugins)
        queued.pending_plugins = set(failure.pending_plugins)
        if result is None:
            result = Result.UNSCHEDULABLE if failure.fit else Result.ERROR
        self._finish(result, NONE, failure, cycle)
        self._requeue(queued)
        self.queue.nominator.add(queued.pod, failure.nominating, failure.node_name)
        pod, message = queued.pod, failure.message
        self._client.record_event(pod, "Warning", "FailedScheduling", _truncated(message))
        self._client.patch_pod_status(
            pod,
            PodCondition(
                type=POD_SCHEDULED,
                status="False",
                reason=UNSCHEDULABLE if failure.fit else SCHEDULER_ERROR,
                message=message,
            ),
            failure.node_name if failure.nominating == OVERRIDE else None,
        )

    def _requeue(self, queued: QueuedPodInfo) -> None:
        """Put the pod back as it is now, unless it is gone, bound or another of its name."""
        live = self._client.pod(queued.pod.key)
        if live is None or live.spec.node_name or live.uid != queued.pod.uid:
            self.queue.done(queued.pod.uid)
            return
        queued.pod = self.cache.columns.templates.info(live)
        self.queue.add_unschedulable_if_not_present(queued)

    # ------------------------------------------------------------ trace

    def _finish(
        self, result: Result, node: int, failure: Failure | None = None, cycle: int | None = None
    ) -> None:
        unschedulable = sorted(failure.unschedulable_plugins) if failure else ()
        pending = sorted(failure.pending_plugins) if failure else ()
        self._recorder.emit(
            CycleFinished(
                self.n_cycles if cycle is None else cycle,
                result,
                node,
                failure.message if failure else "",
                tuple(map(self._recorder.plugin, unschedulable)),
                tuple(map(self._recorder.plugin, pending)),
            )
        )

    def _emit_point(self, binding: Binding, point: str, status: Status) -> None:
        pod = self._recorder.pod(binding.assumed.uid)
        self._recorder.emit(PointFinished(pod, point, status_record(status, self._recorder)))

    def _pod_and_node(self, binding: Binding) -> tuple[int, int]:
        recorder = self._recorder
        return recorder.pod(binding.assumed.uid), recorder.node(binding.node_name)


def _refusal(cycle: Cycle, node_name: str, status: Status) -> Failure:
    """Word the failure of Reserve or Permit: a fit error over just that one node."""
    if not status.is_rejected:
        return Failure(status.message, fit=False)
    row = cycle.nodes.cluster.row_of[node_name]
    diagnosis = Diagnosis(cycle.nodes.take(cycle.nodes.rows == row))
    diagnosis.set_status(node_name, status)
    diagnosis.add_plugin_status(status)
    return Failure(
        diagnosis.message(),
        fit=True,
        unschedulable_plugins=frozenset(diagnosis.unschedulable_plugins),
        pending_plugins=frozenset(diagnosis.pending_plugins),
    )


def _truncated(message: str) -> str:
    """Cut a note to what an Event may hold."""
    suffix = " ..."
    if len(message) <= MAX_NOTE_BYTES:
        return message
    return message[: MAX_NOTE_BYTES - len(suffix)] + suffix
