"""The scheduling algorithm for one pod: from all nodes to the one it should run on.

Upstream: v1.36 pkg/scheduler/schedule_one.go (schedulePod, findNodesThatFitPod,
findNodesThatPassFilters, prioritizeNodes).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from scheduler_core.cluster.nodes import IntArray, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.extender.extenders import Extenders
from scheduler_core.framework.diagnosis import Diagnosis, VerdictBuilder, Verdicts
from scheduler_core.framework.extenders import EXTENDER, ExtenderCall
from scheduler_core.framework.runtime import (
    CycleState,
    Framework,
    PreFilterResult,
)
from scheduler_core.framework.scoring import PluginScore, ScoreError
from scheduler_core.framework.status import Code, Status
from scheduler_core.scheduler.batching import BatchTurn
from scheduler_core.scheduler.selection import Pick, ScoredNodes, num_feasible_nodes_to_find

MIN_BLOCK = 64
"""Nodes that cost hardly more to judge at once than one of them."""

NO_NODES_AVAILABLE = "no nodes available to schedule pods"
DROPPED_BY_EXTENDER = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (), EXTENDER)


NOWHERE = np.zeros(0, np.int64)


class CycleError(Exception):
    """Something went wrong in the cycle (as opposed to: no node fits)."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FitError(Exception):
    """No node fits; `diagnosis` says why, node by node."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__("no node fits")
        self.diagnosis = diagnosis


class NoNodesAvailableError(Exception):
    """There is no node at all."""


@dataclass(frozen=True, slots=True)
class Filtering:
    """The Filter point: verdicts of the examined nodes, and the feasible ones in order.

    `by_nomination` says that the pod's own nominated node, or the one that batching offered, was
    tried first and fits.
    """

    examined: Nodes
    verdicts: Verdicts
    feasible: Nodes
    n_to_find: int
    by_nomination: bool = False


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scores of the feasible nodes; `totals` is int64 (n_feasible,), `picked` a position."""

    scores: list[PluginScore]
    totals: IntArray
    picked: int


@dataclass
class Cycle:
    """Everything one run of the algorithm learned; filled in as it goes."""

    pod: PodInfo
    nodes: Nodes
    start_index: int
    batch: BatchTurn | None = None
    state: CycleState = field(default_factory=CycleState)
    pre_filter: PreFilterResult | None = None
    filtering: Filtering | None = None
    pre_score: Status | None = None
    scoring: Scoring | None = None
    suggested_host: str = ""
    extender_calls: list[ExtenderCall] = field(default_factory=list)


class SchedulingAlgorithm:
    """Filter and score for one pod after another; keeps where the next search starts."""

    def __init__(self, pick: Pick, extenders: Extenders | None = None) -> None:
        self.next_start_index = 0
        self._pick = pick
        self._n_examined: dict[int, int] = {}
        """How many nodes the last search looked at, by template: about as many as the next will."""
        self._extenders = extenders

    def schedule_pod(self, framework: Framework, cycle: Cycle) -> str:
        """Return the node to take; `cycle` keeps how it came about.

        Raises NoNodesAvailableError, FitError or CycleError.
        """
        if cycle.nodes.n == 0:
            raise NoNodesAvailableError
        diagnosis = Diagnosis(cycle.nodes)
        filtering = self._find_nodes_that_fit(framework, cycle, diagnosis)
        feasible = filtering.feasible
        if feasible.n == 0:
            raise FitError(diagnosis)
        if feasible.n == 1:
            cycle.suggested_host = feasible.name(0)
        else:
            cycle.scoring = self.prioritize(framework, cycle, feasible)
            cycle.suggested_host = feasible.name(cycle.scoring.picked)
        _store_for_batch(cycle, feasible)
        return cycle.suggested_host

    def _find_nodes_that_fit(
        self, framework: Framework, cycle: Cycle, diagnosis: Diagnosis
    ) -> Filtering:
        cycle.pre_filter = result = framework.run_pre_filter(cycle.state, cycle.pod, cycle.nodes)
        diagnosis.unschedulable_plugins |= result.narrowed_by
        if result.status.is_rejected:
            diagnosis.absent = result.status
            diagnosis.pre_filter_message = result.status.message
            diagnosis.add_plugin_status(result.status)
            raise FitError(diagnosis)
        if not result.status.is_success:
            raise CycleError(result.status.message)
        if cycle.batch is not None:
            cycle.batch.ask(cycle.pod, cycle.state, cycle.nodes)
        nominated = self._evaluate_nominated_node(framework, cycle, diagnosis)
        if nominated is not None:
            cycle.filtering = nominated
            return nominated
        nodes = cycle.nodes
        if result.node_names is not None:
            wanted = np.array([name in result.node_names for name in nodes.names], np.bool_)
            nodes = nodes.take(wanted)
            plugins = " ".join(sorted(result.narrowed_by))
            diagnosis.absent = Status(
                Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
                (f"node(s) didn't satisfy plugin(s) [{plugins}]",),
            )
        filtering = cycle.filtering = self._find_feasible(framework, cycle, nodes)
        diagnosis.record(filtering.examined, filtering.verdicts)
        processed = filtering.feasible.n + len(diagnosis)
        self.next_start_index = (self.next_start_index + processed) % cycle.nodes.n
        _raise_first_error(filtering.verdicts)
        if self._extenders is not None:
            error, left = self._ask_extenders(self._extenders, cycle, filtering, diagnosis)
            if error:
                raise CycleError(error)
            if left.feasible.n != filtering.feasible.n:
                diagnosis.unschedulable_plugins.add(EXTENDER)
            cycle.filtering = filtering = left
        return filtering

    def _evaluate_nominated_node(
        self, framework: Framework, cycle: Cycle, diagnosis: Diagnosis
    ) -> Filtering | None:
        """Try the node an earlier preemption made room on, or the one that batching offers.

        None if it does not work out.
        """
        hint = cycle.batch.hint if cycle.batch else ""
        name = cycle.pod.nominated_node_name or hint
        if not name or name not in cycle.nodes.cluster.row_of:
            return None
        row = cycle.nodes.cluster.row_of[name]
        node = cycle.nodes.take(cycle.nodes.rows == row)
        if node.n == 0:
            return None
        verdicts = framework.run_filter_with_nominated_pods(cycle.state, cycle.pod, node)
        diagnosis.record(node, verdicts)
        if not verdicts.fits.all():
            return None
        filtering = Filtering(node, verdicts, node, n_to_find=1, by_nomination=True)
        if self._extenders is not None:
            error, filtering = self._ask_extenders(self._extenders, cycle, filtering, diagnosis)
            if error or not filtering.feasible.n:
                return None
        return filtering

    def _ask_extenders(
        self, extenders: Extenders, cycle: Cycle, filtering: Filtering, diagnosis: Diagnosis
    ) -> tuple[str, Filtering]:
        """Return an error or nothing, and what extenders leave of the feasible nodes.

        Nodes that went without a reason have no status in the diagnosis, as upstream has it; the
        verdicts tell of all of them.
        """
        feasible = filtering.feasible
        answer = extenders.filter(cycle.pod, feasible)
        cycle.extender_calls += answer.calls
        for name, status in answer.statuses.items():
            diagnosis.set_status(name, status)
        if answer.error or answer.nodes is feasible:
            return answer.error, filtering
        left = set(answer.nodes.names)
        gone = {
            int(i): answer.statuses.get(name, DROPPED_BY_EXTENDER)
            for i, name in zip(np.flatnonzero(filtering.verdicts.fits), feasible.names, strict=True)
            if name not in left
        }
        verdicts = filtering.verdicts.but(gone)
        return "", replace(filtering, verdicts=verdicts, feasible=answer.nodes)

    def _find_feasible(self, framework: Framework, cycle: Cycle, nodes: Nodes) -> Filtering:
        """Examine nodes from where the last cycle stopped until enough are feasible."""
        percentage = framework.percentage_of_nodes_to_score or 0
        n_to_find = num_feasible_nodes_to_find(nodes.n, percentage)
        if not framework.has_score_plugins and not self._may_extend:
            n_to_find = 1
        if nodes.n == 0:
            return Filtering(nodes, Verdicts(np.zeros(0, np.int64), ()), nodes, n_to_find)
        if not framework.has_filter_plugins:
            first = self._turned(nodes, 0, n_to_find)
            return Filtering(first, Verdicts(np.zeros(n_to_find, np.int64), ()), first, n_to_find)
        verdicts = self._judge(framework, cycle, nodes, n_to_find)
        examined = self._turned(nodes, 0, verdicts.ids.size)
        feasible = examined if verdicts.all_fit else examined.take(verdicts.fits)
        return Filtering(examined, verdicts, feasible, n_to_find)

    def _turned(self, nodes: Nodes, start: int, end: int) -> Nodes:
        """Return the nodes from position `start` to `end`, counted from where to begin."""
        start, end = start + self.next_start_index, end + self.next_start_index
        if end <= nodes.n:
            return nodes.slice(start, end)
        if start >= nodes.n:
            return nodes.slice(start - nodes.n, end - nodes.n)
        return nodes.take(np.arange(start, end) % nodes.n)

    def _judge(self, framework: Framework, cycle: Cycle, nodes: Nodes, n_to_find: int) -> Verdicts:
        """Return the verdicts up to where the search ends.

        Nodes are judged block by block, so that hardly more are than the search looks at.
        """
        builder = VerdictBuilder(nodes.n)
        template = cycle.pod.template.index
        guess = self._n_examined.get(template, n_to_find)
        end, n_fits = 0, 0
        while end < nodes.n:
            start, end = end, _next_end(end, n_fits, n_to_find, guess, nodes.n)
            block = self._turned(nodes, start, end)
            verdicts = framework.run_filter_with_nominated_pods(cycle.state, cycle.pod, block)
            if not verdicts.all_fit:
                builder.merge(np.arange(start, end), verdicts)
            n_fits += verdicts.n_fits
            if n_fits > n_to_find or _error_positions(verdicts).size:
                break
        built = builder.build()
        judged = Verdicts(built.ids[:end], built.statuses)
        n_examined = self._n_examined[template] = _search_length(judged, n_to_find)
        return Verdicts(judged.ids[:n_examined], judged.statuses)

    @property
    def _may_extend(self) -> bool:
        extenders = self._extenders
        return extenders is not None and (extenders.may_filter or extenders.may_prioritize)

    def prioritize(self, framework: Framework, cycle: Cycle, feasible: Nodes) -> Scoring:
        """Score the feasible nodes and pick one. Raises CycleError."""
        if not framework.has_score_plugins and self._extenders is None:
            totals = np.ones(feasible.n, np.int64)
            return Scoring([], totals, self._pick(totals))
        cycle.pre_score = framework.run_pre_score(cycle.state, cycle.pod, feasible)
        if not cycle.pre_score.is_success:
            raise CycleError(cycle.pre_score.message)
        try:
            scores = framework.run_score(cycle.state, cycle.pod, feasible)
        except ScoreError as error:
            raise CycleError(str(error)) from error
        if self._extenders is not None:
            answer = self._extenders.prioritize(cycle.pod, feasible)
            cycle.extender_calls += answer.calls
            if answer.calls:
                scores.append(PluginScore(EXTENDER, answer.weight, answer.raw, answer.raw))
        totals = np.zeros(feasible.n, np.int64)
        for score in scores:
            weight = score.weight
            totals += score.normalized if weight == 1 else score.normalized * weight
        return Scoring(scores, totals, self._pick(totals))


def _store_for_batch(cycle: Cycle, feasible: Nodes) -> None:
    batch, scored = cycle.batch, None
    if batch is None:
        return
    if cycle.scoring is not None and batch.signature is not None:
        scored = ScoredNodes(feasible.names, cycle.scoring.totals)
    batch.store(cycle.suggested_host, scored)


def _next_end(end: int, n_fits: int, n_to_find: int, guess: int, n: int) -> int:
    """Return how far to judge next: a little further than enough feasible nodes should take.

    `n_fits` of the `end` nodes judged so far are feasible; before the first, `guess` counts.
    """
    if end == 0:
        wanted = guess
    elif n_fits == 0:
        return n
    else:
        wanted = max((n_to_find + 1) * end // n_fits, end)
    return min(wanted + max(wanted // 8, MIN_BLOCK), n)


def _search_length(verdicts: Verdicts, n_to_find: int) -> int:
    """Return how many nodes are looked at: the search notices only at one feasible too many.

    An error ends it as well.
    """
    if verdicts.all_fit:
        return min(verdicts.ids.size, n_to_find)
    feasible = np.flatnonzero(verdicts.fits)
    end = int(feasible[n_to_find]) if feasible.size > n_to_find else verdicts.ids.size
    wrong = _error_positions(verdicts)
    return min(end, int(wrong[0]) + 1) if wrong.size else end


def _error_positions(verdicts: Verdicts) -> IntArray:
    wrong = [status.code is Code.ERROR for status in verdicts.statuses]
    return np.flatnonzero(np.array(wrong)[verdicts.ids]) if any(wrong) else NOWHERE


def _raise_first_error(verdicts: Verdicts) -> None:
    wrong = _error_positions(verdicts)
    if wrong.size:
        status = verdicts.status(int(wrong[0]))
        raise CycleError(f'running "{status.plugin}" filter plugin: {status.message}')
