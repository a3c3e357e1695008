"""One cycle of a run again, to look at it more closely than the scheduler did.

A run is a pure function of its inputs, so simulating it up to a cycle restores what the plugins
saw then. It costs what the run cost up to there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scheduler_core.api import KubeObject
from scheduler_core.framework.individual import IndividualVerdicts, judge_individually
from scheduler_core.framework.prepared_state import CycleStateTold, tell_cycle_state
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.scheduler.cycle import Cycle
from scheduler_core.sim.run import Run, RunOptions


@dataclass(frozen=True, slots=True)
class ReenactedCycle:
    """A cycle as it went, what its plugins prepared, and what each would have said of every node.

    `pre_filter` is the status of that point; `rejected` has, by node name, what Filter found first.
    """

    pod: str
    pre_filter: Status
    rejected: Mapping[str, Status]
    individually: IndividualVerdicts
    state: CycleStateTold


def reenact_cycle(
    objects: Sequence[KubeObject], options: RunOptions, cycle: int
) -> ReenactedCycle | None:
    """Simulate a run up to a cycle (counted from 1) and ask all plugins there.

    None if the run has no such cycle, or if that looked at no node. Raises ConfigError and
    PluginFailure as the run does.
    """
    run = Run(objects, replace(options, details=False))
    scheduler = run.simulation.scheduler
    found: list[ReenactedCycle] = []

    def look(at: Cycle) -> None:
        if scheduler.n_cycles == cycle:
            framework = scheduler.profiles[at.pod.pod.spec.scheduler_name]
            state = tell_cycle_state(at.state, at.nodes)
            found.append(_described(at, judge_individually(framework, at.pod, at.nodes), state))

    scheduler.on_cycle = look
    for _ in run.events():
        if scheduler.n_cycles >= cycle:
            break
    return found[0] if found else None


def _described(
    cycle: Cycle, individually: IndividualVerdicts, state: CycleStateTold
) -> ReenactedCycle:
    status = cycle.pre_filter.status if cycle.pre_filter is not None else SUCCESS
    rejected: dict[str, Status] = {}
    if cycle.filtering is not None:
        verdicts = cycle.filtering.verdicts
        for i, name in enumerate(cycle.filtering.examined.names):
            if not verdicts.status(i).is_success:
                rejected[name] = verdicts.status(i)
    return ReenactedCycle(cycle.pod.key, status, rejected, individually, state)
