"""Preemption as the model has it: on each node every set of pods of lower priority.

The scheduler takes all of them off a node and puts back what it can, most important first: it
walks one path through the sets. Here all sets are looked at, so that it can be said whether the
path led to the least of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from scheduler_core.analysis.model.cycle.decided import Decided
from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.status import Code
from scheduler_core.plugins.default_preemption import DefaultPreemption
from scheduler_core.preemption.budgets import Budgets, broken_budgets
from scheduler_core.preemption.dry_run import RunFilter
from scheduler_core.preemption.go_sort import go_sorted
from scheduler_core.preemption.importance import by_importance, start_time_ns
from scheduler_core.preemption.report import PRIORITY_OFFSET, DryRun
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import say

# Preemption as the model has it: every set of pods whose leaving makes room, not just one.
#
# The scheduler takes all pods of lower priority off a node and puts back what it can, most
# important first. The model looks at all sets, so that "least harm" can be asked in more than one
# sense.

MAX_JEOPARDY: Final = 12
"""All sets are looked at of so many pods: 2^12 of them."""


def jeopardy(world: RestingWorld, preemptor: PodInfo, node: str) -> tuple[PodInfo, ...]:
    """Return the pods on a node that have a lower priority."""
    nodes = world.nodes()
    on_node = nodes.pods(nodes.names.index(node))
    return tuple(pod for pod in on_node if pod.priority < preemptor.priority)


MAX_SETS: Final = 1 << 13
"""So many sets are tried in a cycle, over all nodes."""
MAX_NODES: Final = 60
"""On so many nodes; of others it is said whether the pod fits with all of Jeopardy gone."""

Key = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Casualty:
    """The harm done by evicting a set of pods: the scheduler's five criteria, in their order.

    Less is better, but for the latest start. A budget counts as the scheduler counts it, over all
    of Jeopardy. `sum_priorities` is plain; the scheduler adds 2^31 for each pod, which `key` does,
    too.
    """

    pdb_violations: int
    highest_priority: int
    sum_priorities: int
    n_pods: int
    earliest_start_ns: int

    @property
    def key(self) -> Key:
        """Return what is compared: the least is best."""
        total = self.sum_priorities + self.n_pods * PRIORITY_OFFSET
        return (
            self.pdb_violations,
            self.highest_priority,
            total,
            self.n_pods,
            -self.earliest_start_ns,
        )


@dataclass(frozen=True, slots=True)
class Subset:
    """Pods of one node, and whether the preemptor is feasible there without them.

    The empty set has no Casualty.
    """

    pods: tuple[str, ...]
    feasible: bool
    casualty: Casualty | None


@dataclass(frozen=True, slots=True)
class Endangered:
    """A pod in Jeopardy."""

    pod: str
    priority: int
    violates_budget: bool


@dataclass(frozen=True, slots=True)
class ReprieveStep:
    """One pod put back: whether it may stay, and what would still be evicted after this step."""

    pod: str
    kept: bool
    rejected_by: str
    gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeJeopardy:
    """One node. `n_subsets` is 2^k; `subsets` are those that were tried, none where too many.

    `without_all`: the pod fits with all of Jeopardy gone. `found` is where the scheduler's reprieve
    arrived, None where it did not try the node or came to nothing (`not_tried` says why). `least`
    is the number of the subset with the least Casualty. `missed` says that it is not `found`.
    """

    node: str
    jeopardy: tuple[Endangered, ...]
    n_subsets: int
    subsets: tuple[Subset, ...]
    n_feasible: int
    without_all: bool
    not_tried: str
    reprieve: tuple[ReprieveStep, ...]
    found: tuple[str, ...] | None
    least: int | None
    missed: bool


@dataclass(frozen=True, slots=True)
class Least:
    """A node and a set of pods with the least Casualty of all."""

    node: str
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preemption:
    """All nodes in order, those asked for first where there are many; `n_nodes` in all.

    `preemptable` are the nodes where some set makes room. `complete` says that every set of every
    node was tried, so that `least` is the least of all. `chosen` is the scheduler's, None if it
    evicts nobody.
    """

    n_nodes: int
    nodes: tuple[NodeJeopardy, ...]
    preemptable: tuple[str, ...]
    complete: bool
    least: tuple[Least, ...]
    chosen: Least | None

    @property
    def enabled(self) -> bool | None:
        """Whether PreemptionEnabled holds; None where not every set was tried."""
        return True if self.preemptable else False if self.complete else None


def preemption(cycle: ReenactedCycle, decided: Decided, asked: str) -> Preemption | None:
    """Look at all sets of pods that may be evicted; None where Filter was not reached."""
    if cycle.decision.filtering is None or cycle.decision.filtering.error:
        return None
    return _Search(cycle, decided, asked).result()


class _Search:
    def __init__(self, cycle: ReenactedCycle, decided: Decided, asked: str) -> None:
        self._cycle, self._decided = cycle, decided
        self._pod, self._nodes = cycle.decision.pod, cycle.nodes
        self._now_ns = cycle.handle.now_ns()
        framework = cycle.decision.framework
        self._refilter = framework.refilter(cycle.decision.state, self._pod)
        points = framework.points.get(ExtensionPoint.POST_FILTER, ())
        found = (plugin for plugin, _ in points if isinstance(plugin, DefaultPreemption))
        self._plugin = next(found, None)
        self._budgets = self._plugin.budgets() if self._plugin else Budgets(())
        first = [
            i for i, name in enumerate(self._nodes.names) if name in (asked, decided.nominated)
        ]
        every = range(self._nodes.n)
        some = list(dict.fromkeys([*first, *every]))[:MAX_NODES]
        self._shown = sorted(some) if self._nodes.n <= MAX_NODES else some

    def result(self) -> Preemption:
        jeopardy = [
            tuple(each for each in self._nodes.pods(i) if each.priority < self._pod.priority)
            for i in range(self._nodes.n)
        ]
        without_all = self._without_all(jeopardy)
        found, left = [], MAX_SETS
        for i in self._shown:
            n_subsets = 1 << len(jeopardy[i])
            tries = len(jeopardy[i]) <= MAX_JEOPARDY and n_subsets <= left
            left -= n_subsets if tries else 0
            found.append(self._node(i, jeopardy[i], bool(without_all[i]), tries))
        some = {each.node for each in found if each.n_feasible}
        names = self._nodes.names
        fits = [names[i] for i in range(self._nodes.n) if without_all[i] or names[i] in some]
        rest = set(range(self._nodes.n)) - set(self._shown)
        return Preemption(
            n_nodes=self._nodes.n,
            nodes=tuple(found),
            preemptable=tuple(fits),
            complete=all(each.subsets for each in found) and not any(jeopardy[i] for i in rest),
            least=_least_of_all(found),
            chosen=self._chosen(),
        )

    def _chosen(self) -> Least | None:
        decided = self._decided
        if not decided.nominated or not decided.victims:
            return None
        return Least(decided.nominated, decided.victims)

    def _without_all(self, jeopardy: Sequence[tuple[PodInfo, ...]]) -> Sequence[bool]:
        at = [i for i, pods in enumerate(jeopardy) if pods]
        fits = [False] * self._nodes.n
        if at:
            view = self._nodes.take(np.array(at, np.int64))
            verdicts = self._refilter(view.with_changes([Change(removed=jeopardy[i]) for i in at]))
            for k, i in enumerate(at):
                fits[i] = verdicts.status(k).is_success
        return fits

    def _node(
        self, at: int, pods: tuple[PodInfo, ...], without_all: bool, tries: bool
    ) -> NodeJeopardy:
        view = self._nodes.slice(at, at + 1)
        ordered = go_sorted(pods, by_importance(self._now_ns))
        violating = set(broken_budgets(ordered, self._budgets))
        subsets = tuple(self._subsets(view, pods, violating)) if tries else ()
        fitting = [i for i, each in enumerate(subsets) if each.feasible and each.casualty]
        least = min(fitting, key=lambda i: _key(subsets[i]), default=None)
        not_tried = self._why_not(view.name(0), pods)
        run = None if not_tried else self._dry_run(view)
        found = None
        if run is not None and run.is_candidate:
            found = tuple(each.key for each in run.victims)
        return NodeJeopardy(
            node=view.name(0),
            jeopardy=tuple(Endangered(p.key, p.priority, p.uid in violating) for p in ordered),
            n_subsets=1 << len(pods),
            subsets=subsets,
            n_feasible=sum(each.feasible for each in subsets),
            without_all=without_all,
            not_tried=not_tried,
            reprieve=tuple(_path(run)) if run is not None else (),
            found=found,
            least=least,
            missed=least is not None
            and not not_tried
            and not _is_as_good(subsets, subsets[least], found),
        )

    def _why_not(self, node: str, pods: Sequence[PodInfo]) -> str:
        """Return why the scheduler does not try a node, empty if it does."""
        if self._plugin is None:
            return say("model.no_default_preemption", "the profile has no DefaultPreemption")
        status = self._cycle.decision.diagnosis.status(node)
        if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            plugin = status.plugin or "PreFilter"
            return say(
                "model.rejects_anyway",
                "{plugin} rejects the node with any pods on it",
                plugin=plugin,
            )
        return "" if pods else say("model.no_lower_priority", "no pod there has a lower priority")

    def _dry_run(self, view: Nodes) -> DryRun | None:
        if self._plugin is None:
            return None
        (run,) = self._plugin.dry_run(self._pod, view, self._refilter)
        return run

    def _subsets(
        self, view: Nodes, pods: tuple[PodInfo, ...], violating: set[str]
    ) -> Iterator[Subset]:
        """Yield every set, small ones first."""
        run_filter: RunFilter = self._refilter
        for size in range(len(pods) + 1):
            for chosen in combinations(pods, size):
                changed = view.with_changes([Change(removed=chosen)]) if chosen else view
                fits = run_filter(changed).status(0).is_success
                names = tuple(each.key for each in chosen)
                casualty = self._casualty(chosen, violating) if chosen else None
                yield Subset(names, fits, casualty)

    def _casualty(self, pods: Sequence[PodInfo], violating: set[str]) -> Casualty:
        highest = max(each.priority for each in pods)
        return Casualty(
            pdb_violations=sum(each.uid in violating for each in pods),
            highest_priority=highest,
            sum_priorities=sum(each.priority for each in pods),
            n_pods=len(pods),
            earliest_start_ns=min(
                start_time_ns(each, self._now_ns) for each in pods if each.priority == highest
            ),
        )


def _path(run: DryRun) -> Iterator[ReprieveStep]:
    gone = [each.key for each in run.removed]
    for each in run.reprieves:
        if each.kept:
            gone.remove(each.pod.key)
        yield ReprieveStep(each.pod.key, each.kept, each.rejected_by, tuple(gone))


def _key(subset: Subset) -> Key:
    assert subset.casualty is not None
    return subset.casualty.key


def _is_as_good(subsets: Sequence[Subset], least: Subset, found: tuple[str, ...] | None) -> bool:
    if found is None:
        return False
    names = set(found)
    same = next((each for each in subsets if set(each.pods) == names), None)
    return same is not None and same.casualty is not None and _key(same) == _key(least)


def _least_of_all(nodes: Sequence[NodeJeopardy]) -> tuple[Least, ...]:
    """Return all sets that have the least Casualty, of any node."""
    found = [
        (_key(subset), Least(each.node, subset.pods))
        for each in nodes
        for subset in each.subsets
        if subset.feasible and subset.casualty is not None
    ]
    best = min((key for key, _ in found), default=None)
    return tuple(least for key, least in found if key == best)
