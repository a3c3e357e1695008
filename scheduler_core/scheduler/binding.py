"""The binding cycle: from the permission to bind until the pod is bound, or back in the queue.

It runs concurrently with the next scheduling cycles: each step that takes time goes through
`Background`.

Upstream: v1.36 pkg/scheduler/schedule_one.go (bindingCycle, handleBindingCycleError).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.cluster.cache import Cache, CacheError
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.extender.extenders import Extenders
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.waiting import PodsInPreBind, WaitingPods
from scheduler_core.queue.cluster_events import ASSIGNED_POD_DELETE
from scheduler_core.queue.scheduling_queue import SchedulingQueue
from scheduler_core.scheduler.assumed_pod import AssumedPod
from scheduler_core.scheduler.client import Background, Client
from scheduler_core.scheduler.cycle_trace import CycleTrace, extender_called
from scheduler_core.scheduler.failure import FailureHandler
from scheduler_core.scheduler.outcome import Failed, NotScheduled, Unschedulable, refused
from scheduler_core.trace.events import (
    Forgotten,
    NominationChanged,
    PermitResolved,
    PermitWaiting,
    Unreserved,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import NONE, PermitDecision


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
        trace: CycleTrace,
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
        self._trace = trace
        self._names_node_early = features.enabled("NominatedNodeNameForExpectation")
        self._now_ns = now_ns
        self._held: dict[str, AssumedPod] = {}

    def hold(self, assumed: AssumedPod, waits_ns: Mapping[str, int]) -> None:
        """Let the pod wait for the Permit plugins that asked for it, each so long at most."""
        waiting = self._waiting_pods.add(assumed.pod, waits_ns, self._now_ns())
        self._held[assumed.pod.uid] = assumed
        pod = self._recorder.pod(assumed.pod.uid)
        for plugin, until_ns in waiting.deadlines_ns.items():
            self._recorder.emit(PermitWaiting(pod, self._recorder.plugin(plugin), until_ns))

    def start(self, assumed: AssumedPod) -> None:
        """Begin with a pod that has its permission, or waits for it."""
        status = self._prepare(assumed)
        if not status.is_success:
            self._held.pop(assumed.pod.uid, None)
            self._waiting_pods.remove(assumed.pod.uid)
            self._fail(assumed, status)
        elif assumed.pod.uid not in self._held:
            self._after_permit(assumed)

    def _prepare(self, assumed: AssumedPod) -> Status:
        """Find out whether PreBind plugins will have work; if so, name the pod's node early.

        A pod that waits on Permit has its node named as well: others may count on it.
        """
        if not self._names_node_early:
            return SUCCESS
        framework = assumed.framework
        status = framework.run_pre_bind_pre_flights(assumed.state, assumed.pod, assumed.node_name)
        if status.is_skip:
            if assumed.pod.uid in self._held:
                self._name_node(assumed)
            return SUCCESS
        self._trace.point(assumed.pod, "PreBindPreFlight", status)
        assumed.pre_flight = status
        if status.is_success:
            self._name_node(assumed)
        return status

    def _name_node(self, assumed: AssumedPod) -> None:
        assumed.expected = True
        self._client.patch_pod_status(assumed.pod, None, assumed.node_name)
        self._recorder.emit(NominationChanged(*self.numbers(assumed)))

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

    def _settle(self, pod: PodInfo, decision: Status, negative: PermitDecision) -> None:
        assumed = self._held.pop(pod.uid)
        self._waiting_pods.remove(pod.uid)
        word: PermitDecision = "allow" if decision.is_success else negative
        self._recorder.emit(
            PermitResolved(
                self._recorder.pod(pod.uid), self._recorder.plugin(decision.plugin), word
            )
        )
        if decision.is_success:
            self._trace.permitted(assumed)
            self._after_permit(assumed)
        elif decision.is_rejected:
            self._fail(assumed, decision, refused(decision))
        else:
            text = f"waiting on permit for pod: {decision.message}"
            self._fail(assumed, Status(Code.ERROR, (text,), decision.plugin))

    # ------------------------------------------------------------ binding

    def _after_permit(self, assumed: AssumedPod) -> None:
        """From here on a failure no longer makes the pod unschedulable: it is tried again."""
        self._queue.done(assumed.pod.uid)
        if assumed.pre_flight.is_success:
            assumed.in_pre_bind = self._pods_in_pre_bind.add(
                assumed.pod.uid, lambda: self._cancelled(assumed)
            )
            self._background.pre_bind_later(lambda: self._pre_bind(assumed))
        else:
            self._pre_bind(assumed)

    def _cancelled(self, assumed: AssumedPod) -> None:
        """A preemptor has stopped PreBind: the plugin at work gives up."""
        assert assumed.in_pre_bind is not None
        plugin = assumed.framework.pre_bind_plugin_at_work(assumed.state)
        text = f'running PreBind plugin "{plugin}": {assumed.in_pre_bind.cancelled}'
        self._background.soon(lambda: self._end_pre_bind(assumed, Status(Code.ERROR, (text,))))

    def _pre_bind(self, assumed: AssumedPod) -> None:
        if assumed.in_pre_bind is not None and assumed.in_pre_bind.cancelled:
            return
        status = assumed.framework.run_pre_bind(assumed.state, assumed.pod, assumed.node_name)
        self._end_pre_bind(assumed, status)

    def _end_pre_bind(self, assumed: AssumedPod, status: Status) -> None:
        self._trace.point(assumed.pod, "PreBind", status)
        if assumed.in_pre_bind is not None:
            assumed.in_pre_bind.mark_prebound()
        if status.is_success:
            self._background.bind_later(lambda: self._bind(assumed))
        else:
            self._fail(assumed, status)

    def _bind(self, assumed: AssumedPod) -> None:
        framework, state, pod = assumed.framework, assumed.state, assumed.pod
        status = self._bind_by_extender(assumed)
        if status.is_skip:
            status = framework.run_bind(state, pod, assumed.node_name)
        self._trace.point(pod, "Bind", status)
        if not status.is_success:
            self._fail(assumed, status)
            return
        self._pods_in_pre_bind.remove(pod.uid)
        text = f"Successfully assigned {pod.key} to {assumed.node_name}"
        self._client.record_event(pod, "Normal", "Scheduled", text)
        framework.run_post_bind(state, pod, assumed.node_name)
        self._trace.point(pod, "PostBind", SUCCESS)

    def _bind_by_extender(self, assumed: AssumedPod) -> Status:
        """Let an extender bind; SKIP if none takes it on.

        A real extender creates the binding itself. None can in a simulated cluster, so that is
        done for it.
        """
        if self._extenders is None:
            return SKIP
        answer = self._extenders.bind(assumed.pod, assumed.node_name)
        for call in answer.calls:
            self._recorder.emit(extender_called(call, self._recorder))
        if not answer.taken:
            return SKIP
        error = answer.error or self._client.bind(assumed.pod, assumed.node_name)
        return Status(Code.ERROR, (error,)) if error else SUCCESS

    # ------------------------------------------------------------ failure

    def _fail(
        self, assumed: AssumedPod, status: Status, outcome: NotScheduled | None = None
    ) -> None:
        """Forget the pod and requeue it; the room it took wakes others.

        Without an `outcome` the status is an error, which names no plugin.
        """
        rejected = status.is_rejected
        self._pods_in_pre_bind.remove(assumed.pod.uid)
        forgotten = self.unreserve_and_forget(assumed)
        if forgotten and not rejected:
            self._wake_others(assumed.pod)
        if assumed.expected:
            self._recorder.emit(NominationChanged(self._recorder.pod(assumed.pod.uid), NONE))
        if outcome is None:
            outcome = Unschedulable(status.message) if rejected else Failed(status.message)
        self._trace.binding_failed(assumed.cycle, outcome)
        self._failures.handle(assumed.queued, outcome)
        if forgotten and rejected:
            self._wake_others(assumed.pod, but_not=assumed.pod.uid)

    def _wake_others(self, assumed: PodInfo, but_not: str = "") -> None:
        self._queue.move_all_to_active_or_backoff_queue(
            ASSIGNED_POD_DELETE, assumed, None, lambda pod: pod.uid != but_not
        )

    def unreserve_and_forget(self, assumed: AssumedPod) -> bool:
        """Undo Reserve and Assume; False if the cache no longer has the pod as an assumed one."""
        names = assumed.framework.run_unreserve(assumed.state, assumed.pod, assumed.node_name)
        self._recorder.emit(
            Unreserved(*self.numbers(assumed), tuple(map(self._recorder.plugin, names)))
        )
        try:
            self.forget(assumed.pod)
        except CacheError:
            # Somebody else has bound the pod meanwhile: upstream logs this and continues.
            return False
        return True

    def forget(self, assumed: PodInfo) -> None:
        """Take an assumed pod off its node, if it is in the cache. Raises CacheError."""
        if self._cache.forget_pod(assumed):
            recorder = self._recorder
            numbers = recorder.pod(assumed.uid), recorder.node(assumed.node_name)
            recorder.emit(Forgotten(*numbers))

    # ------------------------------------------------------------ trace

    def numbers(self, assumed: AssumedPod) -> tuple[int, int]:
        """Return the pod's and the node's number in the trace."""
        recorder = self._recorder
        return recorder.pod(assumed.pod.uid), recorder.node(assumed.node_name)
