"""A scenario played in a small cluster, for tests to look at."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_core.api import KubeObject, Pod
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.sim.scenario import load_scenario
from scheduler_core.sim.simulation import Simulation
from scheduler_core.trace.events import (
    AnyEvent,
    ClockAdvanced,
    PodEvicted,
    RunFinished,
    RunStarted,
    ScenarioStepped,
)
from tests.builders import make_node, make_pod

SECOND_NS = 1_000_000_000


@dataclass
class Played:
    """A run that is over."""

    simulation: Simulation
    trace: list[AnyEvent]

    @property
    def flags(self) -> list[str]:
        return [event.text for event in self.trace if isinstance(event, ScenarioStepped)]

    @property
    def places(self) -> dict[str, str]:
        return {pod.name: pod.spec.node_name for pod in self.simulation.server.all(Pod)}

    def pod(self, name: str) -> Pod:
        found = self.simulation.server.get(Pod, f"default/{name}")
        assert found is not None
        return found

    def evicted(self) -> list[str]:
        return [event.reason for event in self.trace if isinstance(event, PodEvicted)]

    @property
    def seconds(self) -> float:
        (started,) = (event for event in self.trace if isinstance(event, RunStarted))
        clock = [event.now_ns for event in self.trace if isinstance(event, ClockAdvanced)]
        return (max(clock, default=started.now_ns) - started.now_ns) / SECOND_NS

    @property
    def finished(self) -> RunFinished:
        last = self.trace[-1]
        assert isinstance(last, RunFinished)
        return last


def play(scenario: str, *objects: KubeObject, **options: object) -> Played:
    loaded = load_scenario(textwrap.dedent(scenario))
    run = Run(objects, RunOptions(scenario=loaded, **options))  # type: ignore[arg-type]
    return Played(run.simulation, list(run.events()))


def owned(owner: str, *names: str, kind: str = "ReplicaSet", node: str = "n") -> Sequence[Pod]:
    return [
        make_pod(name).owner(kind, owner).cpu("500m").grace_seconds(1).on(node).obj()
        for name in names
    ]


NODE = make_node("n").obj()
OTHER = make_node("m").obj()
