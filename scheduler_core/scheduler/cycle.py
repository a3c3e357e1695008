"""One pod after another: from the head of the queue to the node it should run on.

`Scheduler.schedule_one` tells a whole scheduling cycle, top to bottom: `decide` (`decision.py`)
finds the node, with what `algorithm.py` knows of finding and rating, and `_prepare_binding` takes
the pod there. The binding cycle (`binding.py`) runs concurrently with the next scheduling cycles.

Upstream: v1.36 pkg/scheduler/schedule_one.go (ScheduleOne, prepareForBindingCycle).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.cluster.cache import Cache
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code
from scheduler_core.queue.scheduling_queue import Popped, SchedulingQueue
from scheduler_core.scheduler.algorithm import SchedulingAlgorithm
from scheduler_core.scheduler.assumed_pod import AssumedPod
from scheduler_core.scheduler.batching import BatchTurn, OpportunisticBatch
from scheduler_core.scheduler.binding import BindingCycles
from scheduler_core.scheduler.client import Client
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.cycle_trace import CycleTrace
from scheduler_core.scheduler.decision import CycleObserver, decide
from scheduler_core.scheduler.failure import FailureHandler
from scheduler_core.scheduler.outcome import Outcome, Scheduled, refused


class Scheduler:
    """The scheduler of one cluster, all profiles; driven from outside, one cycle at a time.

    `on_decision` is called when a cycle has picked a node, or found that none fits, before
    anything follows from it.
    """

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
        trace: CycleTrace,
        batches: Mapping[str, OpportunisticBatch],
        on_decision: CycleObserver,
    ) -> None:
        self.profiles = profiles
        self.cache = cache
        self.queue = queue
        self.bindings = bindings
        self.algorithm = algorithm
        self.n_cycles = 0
        self.last_cycle: Cycle | None = None
        """The cycle under way, or else the latest one, for a look behind the trace."""
        self._client = client
        self._failures = failures
        self._trace = trace
        self.batches = batches
        self._on_decision = on_decision
        self._profile_numbers = {name: i for i, name in enumerate(profiles)}

    def schedule_one(self, next_pod: Callable[[], Popped | None] | None = None) -> bool:
        """Run one scheduling cycle; False if there was no pod to schedule.

        `next_pod` takes a pod out of the queue; without it that is the pod at the head.
        """
        popped = self.queue.pop() if next_pod is None else next_pod()
        if popped is None:
            return False
        cycle = self._start(popped)
        if cycle is not None and not self._skips(cycle):
            ended = decide(cycle, self.algorithm, self._trace, self._on_decision)
            self._finish(cycle, ended or self._prepare_binding(cycle))
        return True

    def _prepare_binding(self, cycle: Cycle) -> Outcome:
        """Assume the pod on the node that was picked, reserve what it needs and ask Permit."""
        framework, node_name = cycle.framework, cycle.suggested_host

        # Assume: from now on the pod counts on its node, so that the next cycles need not wait
        # for its binding. A nomination would count it twice.
        pod = self.cache.assume_pod(cycle.pod, node_name)
        self.queue.nominator.delete(cycle.pod)
        assumed = AssumedPod(cycle.number, cycle.queued, pod, node_name, framework, cycle.state)
        self._trace.assumed(assumed)

        # Reserve: plugins that keep books of their own, volumes say, enter the pod there too.
        status = framework.run_reserve(cycle.state, pod, node_name)
        self._trace.point(pod, "Reserve", status)
        if status.is_success:
            self._trace.reserved(assumed)
        waits_on_permit = False
        if status.is_success:
            # Permit may refuse, or hold the pod until others have come as far, as gangs do.
            permit = framework.run_permit(cycle.state, pod, node_name)
            status = permit.status
            self._trace.point(pod, "Permit", status)
            waits_on_permit = status.code is Code.WAIT
            if waits_on_permit:
                self.bindings.hold(assumed, permit.waits_ns)
        if not status.is_success and not waits_on_permit:
            self.bindings.unreserve_and_forget(assumed)
            return refused(status)
        return Scheduled(assumed, waits_on_permit)

    # ------------------------------------------------------------ begin and end

    def _start(self, popped: Popped) -> Cycle | None:
        """Begin a cycle; None for a pod of another scheduler."""
        queued = popped.queued
        framework = self.profiles.get(queued.pod.pod.spec.scheduler_name)
        if framework is None:
            self.queue.done(queued.pod.uid)
            return None
        self.n_cycles += 1
        batch = self.batches.get(framework.profile_name)
        nodes = self.cache.update_snapshot()
        cycle = self.last_cycle = Cycle(
            number=self.n_cycles,
            framework=framework,
            queued=queued,
            nodes=nodes,
            start_index=self.algorithm.next_start_index,
            batch=BatchTurn(batch, queued.signature, self.n_cycles) if batch else None,
            diagnosis=Diagnosis(nodes),
            popped_from=popped.source,
        )
        profile = self._profile_numbers[framework.profile_name]
        self._trace.started(cycle, profile)
        return cycle

    def _skips(self, cycle: Cycle) -> bool:
        """Return whether there is nothing to schedule: being deleted, or assumed already."""
        pod = cycle.pod
        if pod.terminating:
            text = f"skip schedule deleting pod: {pod.key}"
            self._client.record_event(pod, "Warning", "FailedScheduling", text)
        elif not self.cache.is_assumed_pod(pod.uid):
            return False
        self.queue.done(pod.uid)
        # Nominated pods are looked up in the queue. One that has left it keeps its nomination,
        # but only its name is known: it asks for nothing and has no priority.
        self.queue.nominator.restate(self.cache.columns.templates.name_only(pod))
        self._trace.skipped(cycle)
        return True

    def _finish(self, cycle: Cycle, outcome: Outcome) -> None:
        """Hand a scheduled pod over to its binding cycle, put any other back into the queue."""
        cycle.outcome = outcome
        self._trace.finished(cycle.number, outcome)
        if isinstance(outcome, Scheduled):
            self.bindings.start(outcome.assumed)
        else:
            self._failures.handle(cycle.queued, outcome)

    # ------------------------------------------------------------ between the cycles

    def settle_waiting_pods(self) -> None:
        """Go on with the pods that Permit plugins, preemptors or the clock have decided on."""
        self.bindings.settle_waiting_pods()
