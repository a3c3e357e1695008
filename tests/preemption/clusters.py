"""Small clusters for preemption: a simulated cluster without kubelets, driven by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.api import (
    Container,
    KubeObject,
    LabelSelector,
    Node,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodSpec,
    PodStatus,
    ResourceRequirements,
)
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.preemption.report import PreemptionReport
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.events import AnyEvent
from scheduler_core.trace.recorder import Recorder

START_NS = 1_767_225_600_000_000_000
HOUR_NS = 3600 * 1_000_000_000
IMMEDIATE = Timing(binding_ns=0, kubelet_start_ns=None)


def node(name: str, cpu: int, *, labels: Mapping[str, str] | None = None) -> Node:
    return Node(
        metadata=ObjectMeta(name=name, labels=dict(labels or {})),
        status=NodeStatus(allocatable={"cpu": str(cpu), "memory": "64Gi", "pods": "110"}),
    )


def pod(
    name: str,
    *,
    cpu: int,
    priority: int = 0,
    on: str = "",
    started_hours_ago: int | None = None,
    labels: Mapping[str, str] | None = None,
    policy: str = "",
    nominated: str = "",
) -> Pod:
    start_ns = None if started_hours_ago is None else START_NS - started_hours_ago * HOUR_NS
    requests = ResourceRequirements(requests={"cpu": str(cpu)})
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default", labels=dict(labels or {})),
        spec=PodSpec(
            containers=(Container(name="c", resources=requests),),
            node_name=on,
            priority=priority,
            preemption_policy=policy,
        ),
        status=PodStatus(
            phase="Running" if on else "Pending",
            start_time=start_ns,
            nominated_node_name=nominated,
        ),
    )


def budget(name: str, labels: Mapping[str, str], allowed: int) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=dict(labels))),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


@dataclass
class Cluster:
    """A simulated cluster and its trace."""

    objects: Sequence[KubeObject]
    timing: Timing = IMMEDIATE
    options: SchedulerOptions = field(default_factory=SchedulerOptions)
    trace: list[AnyEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        recorder = Recorder(self.trace.append)
        self.simulation = Simulation(self.options, recorder, START_NS, self.timing)
        self.simulation.load(self.objects)

    def attempt(self) -> Cycle:
        """Run the next attempt and return it."""
        assert self.simulation.attempt()
        attempt = self.simulation.scheduler.last_cycle
        assert attempt is not None
        return attempt

    def report(self) -> PreemptionReport:
        """Run the next attempt and return how its preemption went."""
        outcome = self.attempt().post_filter
        assert outcome is not None
        assert isinstance(outcome.report, PreemptionReport)
        return outcome.report

    def running(self, name: str) -> bool:
        return self.simulation.server.get(Pod, f"default/{name}") is not None


def names(pods: Sequence[PodInfo]) -> list[str]:
    return [pod.pod.name for pod in pods]
