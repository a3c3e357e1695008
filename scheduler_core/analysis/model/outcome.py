"""What the scheduler itself made of the waiting pods: who went where, in which cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from scheduler_core.api import KubeObject, Pod
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.trace.events import DetailEvent, PodEvicted
from scheduler_core.trace.fold import TraceState, apply


@dataclass(frozen=True)
class RunOutcome:
    """Where pods are when the run is over, by `namespace/name`; `cycles` placed them.

    `evicted` are pods that had to leave, and the cycles in which they were told; 0: before any.
    """

    placement: dict[str, str]
    cycles: dict[str, int]
    evicted: dict[str, int] = field(default_factory=dict)

    def since(self, cycle: int) -> RunOutcome:
        """Return what the run came to as seen from a cycle's begin: evictions before are over."""
        return replace(self, evicted={pod: at for pod, at in self.evicted.items() if at >= cycle})


def outcome_of_run(objects: Sequence[KubeObject], options: RunOptions) -> RunOutcome:
    """Run the scheduler to the end. Raises ConfigError and PluginFailure as a run does."""
    run, state = Run(objects, options), TraceState()
    evicted: dict[str, int] = {}
    for event in run.events():
        if isinstance(event, DetailEvent):
            continue
        apply(state, event)
        if isinstance(event, PodEvicted):
            evicted[state.names.pod(event.pod)] = state.cycle.started.cycle if state.cycle else 0
    placement = {
        pod.key: pod.spec.node_name
        for pod in run.simulation.server.all(Pod)
        if pod.spec.node_name and pod.metadata.deletion_timestamp is None
    }
    cycles = {state.names.pod(number): pod.cycle for number, pod in state.pods.items()}
    return RunOutcome(placement, cycles, evicted)
