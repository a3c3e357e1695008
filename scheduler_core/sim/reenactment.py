"""One cycle of a run again, to look at it more closely than the scheduler did.

A run is a pure function of its inputs, so simulating it up to a cycle restores what the plugins
saw then. It costs what the run cost up to there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scheduler_core.api import KubeObject
from scheduler_core.framework.individual import IndividualVerdicts, evaluate_individually
from scheduler_core.framework.prepared_state import CycleStateDescription, describe_cycle_state
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.sim.run import Run, RunOptions


@dataclass(frozen=True, slots=True)
class ReenactedCycle:
    """A cycle as it went, what its plugins prepared, and what each would answer on every node.

    `pre_filter` is the status of that point; `rejected` has, by node name, what Filter found first.
    """

    pod: str
    pre_filter: Status
    rejected: Mapping[str, Status]
    individually: IndividualVerdicts
    state: CycleStateDescription


def reenact_cycle(
    objects: Sequence[KubeObject], options: RunOptions, cycle: int
) -> ReenactedCycle | None:
    """Simulate a run up to a cycle (counted from 1) and call all plugins there.

    None if the run has no such cycle, or if that looked at no node. Raises ConfigError and
    PluginFailure as the run does.
    """
    found: list[ReenactedCycle] = []

    def look(at: Cycle) -> None:
        if at.number == cycle:
            found.append(_described(at))

    run = Run(objects, replace(options, details=False), on_decision=look)
    scheduler = run.simulation.scheduler
    for _ in run.events():
        if scheduler.n_cycles >= cycle:
            break
    last = scheduler.last_cycle
    if not found and last is not None and last.number == cycle and last.pre_filter is not None:
        look(last)  # it ended in an error, and nothing has followed from it
    return found[0] if found else None


def _described(cycle: Cycle) -> ReenactedCycle:
    individually = evaluate_individually(cycle.framework, cycle.pod, cycle.nodes)
    state = describe_cycle_state(cycle.state, cycle.nodes)
    status = cycle.pre_filter.status if cycle.pre_filter is not None else SUCCESS
    rejected: dict[str, Status] = {}
    if cycle.filtering is not None:
        verdicts = cycle.filtering.verdicts
        for i, name in enumerate(cycle.filtering.examined.names):
            if not verdicts.status(i).is_success:
                rejected[name] = verdicts.status(i)
    return ReenactedCycle(cycle.pod.key, status, rejected, individually, state)
