"""How an attempt at preemption went, step by step, as plain values for the trace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.extenders import ExtenderCall
from scheduler_core.framework.status import Status
from scheduler_core.trace.records import CriterionName

PRIORITY_OFFSET = 2**31
"""Added per victim, so that the sum of negative priorities still grows with their number."""


@dataclass(frozen=True, slots=True)
class Reprieve:
    """One potential victim put back on its node: `kept` if the preemptor still fits beside it.

    Otherwise `rejected_by` names the plugin that turned the preemptor down. `budgets` are those of
    its namespace that evicting it breaks.
    """

    pod: PodInfo
    kept: bool
    budgets: tuple[str, ...] = ()
    rejected_by: str = ""

    @property
    def violates_pdb(self) -> bool:
        return bool(self.budgets)


@dataclass(frozen=True, eq=False)
class DryRun:
    """Preemption tried on one node. It is a candidate if `status` is a success.

    `removed` are all pods of lower priority, `victims` those that were not reprieved, most
    important first.
    """

    node_name: str
    removed: tuple[PodInfo, ...]
    reprieves: tuple[Reprieve, ...]
    victims: tuple[PodInfo, ...]
    n_pdb_violations: int
    status: Status

    @cached_property
    def is_candidate(self) -> bool:
        return self.status.is_success

    @cached_property
    def sum_of_priorities(self) -> int:
        """Return the sum over the victims, each counted from the lowest priority there is."""
        return sum(victim.priority + PRIORITY_OFFSET for victim in self.victims)

    @cached_property
    def highest_priority(self) -> int:
        return self.victims[0].priority

    @cached_property
    def n_victims(self) -> int:
        return len(self.victims)

    @cached_property
    def earliest_start_ns(self) -> int | None:
        """Return the earliest start among the most important victims, None if one has not."""
        starts = [victim.pod.status.start_time for victim in self.most_important]
        known = [start_ns for start_ns in starts if start_ns is not None]
        return min(known) if len(known) == len(starts) else None

    @cached_property
    def most_important(self) -> tuple[PodInfo, ...]:
        """Return the victims of highest priority; there must be victims."""
        highest = max(victim.priority for victim in self.victims)
        return tuple(victim for victim in self.victims if victim.priority == highest)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One step of pick-one-node: the `values` of the nodes still in, and which of them stay."""

    name: CriterionName
    node_names: tuple[str, ...]
    values: tuple[int, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreemptionReport:
    """Everything one PostFilter run of DefaultPreemption found out.

    `ineligible` is the reason why preemption was not tried; then all else is empty. Dry runs
    started at `offset` into the `potential` nodes and stopped at `n_wanted` candidates.
    """

    ineligible: str = ""
    potential: Nodes | None = None
    offset: int = 0
    n_wanted: int = 0
    dry_runs: tuple[DryRun, ...] = ()
    candidates: tuple[DryRun, ...] = ()
    """Those that would make room and were kept, before extenders are asked."""
    criteria: tuple[Criterion, ...] = ()
    winner: str = ""
    victims: tuple[PodInfo, ...] = ()
    extender_calls: tuple[ExtenderCall, ...] = ()
    left_by_extenders: tuple[str, ...] | None = None
    """The candidates that extenders left; None if there are no extenders."""

    @property
    def n_potential(self) -> int:
        return self.potential.n if self.potential is not None else 0
