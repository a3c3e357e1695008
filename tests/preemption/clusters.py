"""Small clusters for preemption: a simulated cluster without kubelets, driven by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.api import (
    KubeObject,
    LabelSelector,
    ObjectMeta,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
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


def hours_ago(hours: int) -> int:
    """Return a time before the start of the simulation, in nanoseconds."""
    return START_NS - hours * HOUR_NS


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
