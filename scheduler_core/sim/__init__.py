"""The simulated cluster: virtual time, API server, kubelets, and whole runs."""

from scheduler_core.sim.reenactment import Progress, ReenactedCycle, reenact_cycle
from scheduler_core.sim.run import RunOptions, simulate
from scheduler_core.sim.run_gates import gates_of_run
from scheduler_core.sim.scenario import (
    Scenario,
    ScenarioError,
    load_scenario,
    recreates,
    recreating,
)

__all__ = [
    "Progress",
    "ReenactedCycle",
    "RunOptions",
    "Scenario",
    "ScenarioError",
    "gates_of_run",
    "load_scenario",
    "recreates",
    "recreating",
    "reenact_cycle",
    "simulate",
]
