"""What kube-scheduler-simulator wrote on pods, and kviz's verdict on the same pods.

Each pod is attempted among the objects of the export without the pods that were created after it,
and without others that pend: so the cluster is about what the simulator's scheduler saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from scheduler_core.analysis.advice.single_attempt import SingleAttempt, attempt_once
from scheduler_core.api import KubeObject, Pod
from scheduler_core.api.simulator import SimulatorResult
from scheduler_core.scheduler.assembly import SchedulerOptions

Beside = Literal["same", "among the equals", "another", "not in the export"]


@dataclass(frozen=True, slots=True)
class SimulatedPod:
    """One pod: what the simulator wrote, what kviz says, and nodes on which their filters part."""

    result: SimulatorResult
    beside: Beside
    kviz: SingleAttempt | None = None
    rejected_there: tuple[str, ...] = ()
    """Nodes that the simulator's scheduler rejected, and that fit for kviz."""
    rejected_here: tuple[str, ...] = ()
    """Nodes that it scored, and that do not fit for kviz."""


def beside_simulator(
    results: Sequence[SimulatorResult], objects: Sequence[KubeObject], options: SchedulerOptions
) -> Iterator[SimulatedPod]:
    """Yield every result with kviz's verdict. Raises ConfigError and PluginFailure."""
    pods = {item.key: item for item in objects if isinstance(item, Pod)}
    for result in results:
        pod = pods.get(result.pod)
        if pod is None:
            yield SimulatedPod(result, "not in the export")
        else:
            yield _compared(result, attempt_once(_met_by(pod, objects), pod.key, options))


def _compared(result: SimulatorResult, kviz: SingleAttempt) -> SimulatedPod:
    beside: Beside = "another"
    if kviz.node == result.selected_node:
        beside = "same"
    elif result.selected_node in kviz.tied:
        beside = "among the equals"
    there = tuple(node for node in result.rejected if node in kviz.feasible)
    here = tuple(node for node in result.totals if node not in kviz.feasible)
    return SimulatedPod(result, beside, kviz, there, here)


def _met_by(pod: Pod, objects: Sequence[KubeObject]) -> list[KubeObject]:
    """Return the cluster that a pod met when it was attempted, the pod itself pending."""
    created = pod.metadata.creation_timestamp or 0
    pending = replace(
        pod,
        spec=replace(pod.spec, node_name=""),
        status=replace(pod.status, nominated_node_name="", phase="Pending"),
    )
    met: list[KubeObject] = []
    for item in objects:
        if item is pod:
            met.append(pending)
        elif not isinstance(item, Pod) or _was_bound(item, created):
            met.append(item)
    return met


def _was_bound(pod: Pod, before_ns: int) -> bool:
    """Return whether a pod that was created no later has a node."""
    return bool(pod.spec.node_name) and (pod.metadata.creation_timestamp or 0) <= before_ns
