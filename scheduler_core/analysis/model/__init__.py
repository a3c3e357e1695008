"""The optimum: the best placement of all waiting pods together, as arrays that a solver can read.

`Instance` is the problem: waiting pods in classes, nodes, what each pod may do by itself, and the
rules that hold between pods. It is built by asking the scheduler's own plugins (`building.py`).
Who searches for the best placement is outside the engine.
"""

from scheduler_core.analysis.model.building import InstanceError, build
from scheduler_core.analysis.model.instance import Instance, Placement, Viability
from scheduler_core.analysis.model.moment import Moment, NoSuchCycle, moment_of
from scheduler_core.analysis.model.outcome import RunOutcome, outcome_of_run
from scheduler_core.analysis.model.world import RestingWorld

__all__ = [
    "Instance",
    "InstanceError",
    "Moment",
    "NoSuchCycle",
    "Placement",
    "RestingWorld",
    "RunOutcome",
    "Viability",
    "build",
    "moment_of",
    "outcome_of_run",
]
