"""The binding cycle: from the permission to bind until the pod is bound, or back in the queue.

It runs beside the next scheduling cycles: each step that takes time goes through `Background`.

Upstream: v1.36 pkg/scheduler/schedule_one.go (bindingCycle, handleBindingCycleError).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler_core.cluster.cache import Cache, CacheError
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.extender.extenders import Extenders
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.waiting import PodInPreBind, PodsInPreBind, WaitingPods
from scheduler_core.queue.cluster_events import ASSIGNED_POD_DELETE
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.scheduling_queue import SchedulingQueue
from scheduler_core.scheduler.client import Background, Client
from scheduler_core.scheduler.failure import Failure, FailureHandler, refusal
from scheduler_core.scheduler.report import CycleEnd, extender_called, status_record
from scheduler_core.trace.events import (
    Forgotten,
    NominationChanged,
    PermitResolved,
    PermitWaiting,
    PointFinished,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import (
    NONE,
    Result,
)


@dataclass(slots=True, eq=False)
class Binding:
    """A pod on its way to its node; `assumed` carries the node name already.

    `expected` says that the pod's status names the node ahead of its binding.
    """

    cycle: int
    queued: QueuedPodInfo
    assumed: PodInfo
    node_name: str
    framework: Framework
    state: CycleState
    pre_flight: Status = SKIP
    expected: bool = False
    in_pre_bind: PodInPreBind | None = None


class BindingCycles:
    """All binding cycles under way."""

    def __init__(
        self,
        *,
        cache: Cache,
        queue: SchedulingQueue,
        waiting_pods: WaitingPods,
        pods_in_pre_bind: PodsInPreBind,
        client: Client,
        background: Background,
        failures: FailureHandler,
        recorder: Recorder,
        features: FeatureGates,
        now_ns: Callable[[], int],
        extenders: Extenders | None = None,
    ) -> None:
        self._extenders = extenders
        self._cache = cache
        self._queue = queue
        self._waiting_pods = waiting_pods
        self._pods_in_pre_bind = pods_in_pre_bind
        self._client = client
        self._background = background
        self._failures = failures
        self._recorder = recorder
        self._end = CycleEnd(recorder)
        self._names_node_early = features.enabled("NominatedNodeNameForExpectation")
        self._now_ns = now_ns
        self._held: dict[str, Binding] = {}

    def hold(self, binding: Binding, waits_ns: Mapping[str, int]) -> None:
        """Let the pod wait for the Permit plugins that asked for it, each so long at most."""
        waiting = self._waiting_pods.add(binding.assumed, waits_ns, self._now_ns())
        self._held[binding.assumed.uid] = binding
        pod = self._recorder.pod(binding.assumed.uid)
        for plugin, until_ns in waiting.deadlines_ns.items():
            self._recorder.emit(PermitWaiting(pod, self._recorder.plugin(plugin), until_ns))

    def start(self, binding: Binding) -> None:
        """Begin with a pod that has its permission, or waits for it."""
        status = self._prepare(binding)
        if not status.is_success:
            self._held.pop(binding.assumed.uid, None)
            self._waiting_pods.remove(binding.assumed.uid)
            self._fail(binding, status)
        elif binding.assumed.uid not in self._held:
            self._after_permit(binding)

    def _prepare(self, binding: Binding) -> Status:
        """Ask PreBind plugins whether they will have work; if so, tell the pod's node early.

        A pod that waits on Permit has its node told as well: others may count on it.
        """
        if not self._names_node_early:
            return SUCCESS
        framework = binding.framework
        status = framework.run_pre_bind_pre_flights(
            binding.state, binding.assumed, binding.node_name
        )
        if status.is_skip:
            if binding.assumed.uid in self._held:
                self._name_node(binding)
            return SUCCESS
        self.emit_point(binding, "PreBindPreFlight", status)
        binding.pre_flight = status
        if status.is_success:
            self._name_node(binding)
        return status

    def _name_node(self, binding: Binding) -> None:
        binding.expected = True
        self._client.patch_pod_status(binding.assumed, None, binding.node_name)
        self._recorder.emit(NominationChanged(*self.numbers(binding)))

    # ------------------------------------------------------------ permit

    def settle_waiting_pods(self) -> None:
        """Let go of held pods that everyone has allowed, and fail those refused or out of time.

        What one pod's end brings about may decide on others; they are settled as well.
        """
        timed_out = {w.pod.uid for w in self._waiting_pods if w.expire(self._now_ns())}
        while self._waiting_pods.any_decided:
            for waiting in self._waiting_pods:
                if waiting.decision is not None:
                    timeout = waiting.pod.uid in timed_out
                    self._settle(waiting.pod, waiting.decision, "timeout" if timeout else "reject")

    def _settle(self, pod: PodInfo, decision: Status, refused: str) -> None:
        binding = self._held.pop(pod.uid)
        self._waiting_pods.remove(pod.uid)
        word = "allow" if decision.is_success else refused
        self._recorder.emit(
            PermitResolved(
                self._recorder.pod(pod.uid), self._recorder.plugin(decision.plugin), word
            )
        )
        if decision.is_success:
            self._after_permit(binding)
        elif decision.is_rejected:
            self._fail(binding, decision, refusal(decision))
        else:
            text = f"waiting on permit for pod: {decision.message}"
            self._fail(binding, Status(Code.ERROR, (text,), decision.plugin))

    # ------------------------------------------------------------ binding

    def _after_permit(self, binding: Binding) -> None:
        """From here on a failure no longer makes the pod unschedulable: it is tried again."""
        self._queue.done(binding.assumed.uid)
        if binding.pre_flight.is_success:
            binding.in_pre_bind = self._pods_in_pre_bind.add(
                binding.assumed.uid, lambda: self._cancelled(binding)
            )
            self._background.pre_bind_later(lambda: self._pre_bind(binding))
        else:
            self._pre_bind(binding)

    def _cancelled(self, binding: Binding) -> None:
        """A preemptor has stopped PreBind: the plugin at work gives up."""
        assert binding.in_pre_bind is not None
        plugin = binding.framework.pre_bind_plugin_at_work(binding.state)
        text = f'running PreBind plugin "{plugin}": {binding.in_pre_bind.cancelled}'
        self._background.soon(lambda: self._end_pre_bind(binding, Status(Code.ERROR, (text,))))

    def _pre_bind(self, binding: Binding) -> None:
        if binding.in_pre_bind is not None and binding.in_pre_bind.cancelled:
            return
        status = binding.framework.run_pre_bind(binding.state, binding.assumed, binding.node_name)
        self._end_pre_bind(binding, status)

    def _end_pre_bind(self, binding: Binding, status: Status) -> None:
        self.emit_point(binding, "PreBind", status)
        if binding.in_pre_bind is not None:
            binding.in_pre_bind.mark_prebound()
        if status.is_success:
            self._background.bind_later(lambda: self._bind(binding))
        else:
            self._fail(binding, status)

    def _bind(self, binding: Binding) -> None:
        framework, state, assumed = binding.framework, binding.state, binding.assumed
        status = self._bind_by_extender(binding)
        if status.is_skip:
            status = framework.run_bind(state, assumed, binding.node_name)
        self._cache.finish_binding(assumed)
        self.emit_point(binding, "Bind", status)
        if not status.is_success:
            self._fail(binding, status)
            return
        self._pods_in_pre_bind.remove(assumed.uid)
        text = f"Successfully assigned {assumed.key} to {binding.node_name}"
        self._client.record_event(assumed, "Normal", "Scheduled", text)
        framework.run_post_bind(state, assumed, binding.node_name)
        self.emit_point(binding, "PostBind", SUCCESS)

    def _bind_by_extender(self, binding: Binding) -> Status:
        """Let an extender bind; SKIP if none takes it on.

        A real extender creates the binding itself. None can in a simulated cluster, so that is
        done for it.
        """
        if self._extenders is None:
            return SKIP
        answer = self._extenders.bind(binding.assumed, binding.node_name)
        for call in answer.calls:
            self._recorder.emit(extender_called(call, self._recorder))
        if not answer.taken:
            return SKIP
        error = answer.error or self._client.bind(binding.assumed, binding.node_name)
        return Status(Code.ERROR, (error,)) if error else SUCCESS

    # ------------------------------------------------------------ failure

    def _fail(self, binding: Binding, status: Status, failure: Failure | None = None) -> None:
        """Undo the assumption and send the pod back; the room it took wakes others.

        Without a `failure` of its own the status is an error, which blames no plugin.
        """
        refused = status.is_rejected
        self._pods_in_pre_bind.remove(binding.assumed.uid)
        forgotten = self.unreserve_and_forget(binding)
        if forgotten and not refused:
            self._wake_others(binding.assumed)
        if binding.expected:
            self._recorder.emit(NominationChanged(self._recorder.pod(binding.assumed.uid), NONE))
        failure = failure or Failure(status.message, fit=refused)
        result = Result.UNSCHEDULABLE if failure.unschedulable_plugins else Result.BIND_ERROR
        self._end.emit(binding.cycle, result, NONE, failure)
        self._failures.handle(binding.queued, failure)
        if forgotten and refused:
            self._wake_others(binding.assumed, but_not=binding.assumed.uid)

    def _wake_others(self, assumed: PodInfo, but_not: str = "") -> None:
        self._queue.move_all_to_active_or_backoff_queue(
            ASSIGNED_POD_DELETE, assumed, None, lambda pod: pod.uid != but_not
        )

    def unreserve_and_forget(self, binding: Binding) -> bool:
        """Take back what the scheduling cycle did; tell whether the cache had no objection."""
        binding.framework.run_unreserve(binding.state, binding.assumed, binding.node_name)
        try:
            if self._cache.forget_pod(binding.assumed):
                self._recorder.emit(Forgotten(*self.numbers(binding)))
        except CacheError:
            # Somebody else has bound the pod meanwhile: upstream logs this and goes on.
            return False
        return True

    # ------------------------------------------------------------ trace

    def emit_point(self, binding: Binding, point: str, status: Status) -> None:
        pod = self._recorder.pod(binding.assumed.uid)
        self._recorder.emit(PointFinished(pod, point, status_record(status, self._recorder)))

    def numbers(self, binding: Binding) -> tuple[int, int]:
        """Return the pod's and the node's number in the trace."""
        recorder = self._recorder
        return recorder.pod(binding.assumed.uid), recorder.node(binding.node_name)
