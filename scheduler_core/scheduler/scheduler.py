"""One pod at a time: scheduling cycle, binding cycle, and what happens when one fails.

Upstream: v1.36 pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Code
from scheduler_core.queue.nominator import OVERRIDE
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.scheduling_queue import SchedulingQueue
from scheduler_core.scheduler.batching import BatchTurn, OpportunisticBatch
from scheduler_core.scheduler.binding import Binding, BindingCycles
from scheduler_core.scheduler.client import Client
from scheduler_core.scheduler.cycle import (
    NO_NODES_AVAILABLE,
    Cycle,
    CycleError,
    FitError,
    NoNodesAvailableError,
    SchedulingAlgorithm,
)
from scheduler_core.scheduler.failure import Failure, FailureHandler, fit_failure, refusal
from scheduler_core.scheduler.report import CycleEnd, CycleReport, status_record
from scheduler_core.trace.events import (
    Assumed,
    AssumeExpired,
    CycleStarted,
    PostFilterFinished,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import (
    NONE,
    Queue,
    Result,
)


@dataclass(slots=True)
class Attempt:
    """The latest attempt, for whoever wants to look behind the trace."""

    cycle: Cycle
    post_filter: PostFilterOutcome | None = None
    failure: Failure | None = None


class Scheduler:
    """The scheduler of one cluster, all profiles; driven from outside, one attempt at a time."""

    def __init__(
        self,
        *,
        profiles: Mapping[str, Framework],
        cache: Cache,
        queue: SchedulingQueue,
        bindings: BindingCycles,
        failures: FailureHandler,
        client: Client,
        algorithm: SchedulingAlgorithm,
        recorder: Recorder,
        report: CycleReport,
        batches: Mapping[str, OpportunisticBatch] | None = None,
    ) -> None:
        self.profiles = profiles
        self.cache = cache
        self.queue = queue
        self.bindings = bindings
        self.algorithm = algorithm
        self.n_cycles = 0
        self.last_attempt: Attempt | None = None
        self.on_cycle: Callable[[Cycle], None] | None = None
        """Told of each cycle when it has chosen, before anything follows from it."""
        self._client = client
        self._failures = failures
        self._recorder = recorder
        self._report = report
        self._end = CycleEnd(recorder)
        self._batches = batches or {}
        self._profile_numbers = {name: i for i, name in enumerate(profiles)}

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
            self._end.emit(self.n_cycles, Result.SKIPPED, NONE)
            return
        attempt.failure = self._schedule(framework, queued, attempt)
        if attempt.failure is not None:
            self._fail(queued, attempt.failure)

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
        if self.on_cycle is not None:
            self.on_cycle(cycle)
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
        return fit_failure(diagnosis, outcome.nominating, outcome.node_name)

    def _prepare_binding(
        self, framework: Framework, queued: QueuedPodInfo, cycle: Cycle, node_name: str
    ) -> Failure | None:
        """Assume the pod on its node, reserve what it needs there and ask for permission."""
        assumed = self.cache.assume_pod(queued.pod, node_name)
        binding = Binding(self.n_cycles, queued, assumed, node_name, framework, cycle.state)
        bindings = self.bindings
        self.queue.nominator.delete(queued.pod)
        self._recorder.emit(Assumed(*bindings.numbers(binding)))
        status = framework.run_reserve(cycle.state, assumed, node_name)
        bindings.emit_point(binding, "Reserve", status)
        result = Result.SCHEDULED
        if status.is_success:
            permit = framework.run_permit(cycle.state, assumed, node_name)
            status = permit.status
            bindings.emit_point(binding, "Permit", status)
            if status.code is Code.WAIT:
                result, status = Result.WAITING, SUCCESS
                bindings.hold(binding, permit.waits_ns)
        if not status.is_success:
            bindings.unreserve_and_forget(binding)
            return refusal(status)
        self._end.emit(self.n_cycles, result, self._recorder.node(node_name))
        bindings.start(binding)
        return None

    def settle_waiting_pods(self) -> None:
        """Go on with the pods that Permit plugins, preemptors or the clock have decided on."""
        self.bindings.settle_waiting_pods()

    def expire_assumed_pods(self) -> None:
        """Give up on assumed pods whose binding was never confirmed in time."""
        for pod in self.cache.expire_assumed_pods():
            numbers = self._recorder.pod(pod.uid), self._recorder.node(pod.node_name)
            self._recorder.emit(AssumeExpired(*numbers))

    def _fail(self, queued: QueuedPodInfo, failure: Failure) -> None:
        result = Result.UNSCHEDULABLE if failure.fit else Result.ERROR
        self._end.emit(self.n_cycles, result, NONE, failure)
        self._failures.handle(queued, failure)
