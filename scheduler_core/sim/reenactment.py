"""One cycle of a run again, to look at it more closely than the scheduler did.

A run is a pure function of its inputs, so simulating it up to a cycle restores what the plugins
saw then. It costs what the run cost up to there. The simulation stops at the decision, so that
everything about the cycle can be asked later, one question at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from scheduler_core.api import KubeObject
from scheduler_core.changes.scoring import scoring_of
from scheduler_core.changes.vocabulary import SetScoring
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.devices.survey import DeviceSurvey
from scheduler_core.framework.individual import IndividualVerdicts, evaluate_individually
from scheduler_core.framework.prepared_state import CycleStateDescription, describe_cycle_state
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.sim.api_server import ApiServer
from scheduler_core.sim.decided import DecidedCycle
from scheduler_core.sim.preview import BeforeCycle, CyclePreviews
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.sim.simulation import Simulation

Progress = Callable[[int], None]
"""Hears how many cycles have been simulated."""


class ReenactedCycle(DecidedCycle):
    """A cycle as it went, in the cluster as it was when the cycle decided.

    What is asked of it is worked out then, and cached.
    """

    def __init__(self, cycle: Cycle, simulation: Simulation, before: BeforeCycle) -> None:
        super().__init__(cycle, simulation.objects)
        self.objects: ApiServer = simulation.server
        """All objects, as they were then."""
        self.queue = simulation.scheduler.queue
        """The pods that wait, as they did then."""
        self.scheduling = simulation.scheduling
        """What decides how the scheduler behaves."""
        self.handle = simulation.plugin_handle
        """The scheduler as its plugins see it."""
        self.previews = CyclePreviews(cycle, simulation, before)

    @property
    def requests(self) -> Mapping[str, int]:
        """What the pod takes of a node: cpu in milli, all else in bytes or units."""
        return self._cycle.pod.template.requests.placed

    @property
    def nodes(self) -> Nodes:
        """All nodes, as the cycle saw them."""
        return self._cycle.nodes

    @property
    def pre_filter(self) -> Status:
        """The status of that point."""
        pre_filter = self._cycle.pre_filter
        return pre_filter.status if pre_filter is not None else SUCCESS

    @property
    def scoring(self) -> SetScoring | None:
        """What gives the pod's profile the scoring strategy it has; None if it has none."""
        profile = self.previews.profile_of(self._cycle.framework.profile_name)
        return scoring_of(profile) if profile is not None else None

    @cached_property
    def individually(self) -> IndividualVerdicts:
        """What each plugin would answer on every node."""
        cycle = self._cycle
        return evaluate_individually(cycle.framework, cycle.pod, cycle.nodes)

    @cached_property
    def state(self) -> CycleStateDescription:
        """What the cycle's plugins prepared."""
        return describe_cycle_state(self._cycle.state, self._cycle.nodes)

    @cached_property
    def devices(self) -> DeviceSurvey:
        """What became of each device."""
        return self._cycle.framework.survey_devices(self._cycle.pod, self._cycle.nodes)


class _Decided(Exception):
    """Ends a simulation at the decision of a cycle, before anything follows from it."""

    def __init__(self, cycle: Cycle) -> None:
        super().__init__(f"cycle {cycle.number} has decided")
        self.cycle = cycle


def reenact_cycle(
    objects: Sequence[KubeObject],
    options: RunOptions,
    cycle: int,
    progress: Progress = lambda n_cycles: None,
) -> ReenactedCycle | None:
    """Simulate a run up to a cycle (counted from 1) and stop there.

    None if the run has no such cycle, or if that looked at no node. `progress` is called from
    cycle to cycle with the number of those simulated; what it raises ends the simulation. Raises
    ConfigError and PluginFailure as the run does.
    """
    return stopped_at(Run(objects, replace(options, details=False)), cycle, progress)


def stopped_at(
    run: Run, cycle: int, progress: Progress = lambda n_cycles: None
) -> ReenactedCycle | None:
    """Play a run that has not begun up to a cycle, as `reenact_cycle` does."""

    def stop(at: Cycle) -> None:
        if at.number == cycle:
            raise _Decided(at)

    run.on_decision = stop
    scheduler = run.simulation.scheduler
    before: BeforeCycle | None = None
    n_told = 0
    try:
        for _ in run.events():
            if scheduler.n_cycles > n_told:
                n_told = scheduler.n_cycles
                progress(n_told)
            if scheduler.n_cycles >= cycle:
                break
            if scheduler.n_cycles == cycle - 1:
                before = run.before_cycle()
    except _Decided as decided:
        assert before is not None
        return ReenactedCycle(decided.cycle, run.simulation, before)
    last = scheduler.last_cycle
    if last is not None and last.number == cycle and last.pre_filter is not None:
        # It ended in an error, and nothing has followed from it.
        assert before is not None
        return ReenactedCycle(last, run.simulation, before)
    return None
