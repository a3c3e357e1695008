"""Finding the nodes that fit a pod, and rating them.

Upstream: v1.36 pkg/scheduler/schedule_one.go (findNodesThatFitPod, evaluateNominatedNode,
findNodesThatPassFilters, findNodesThatPassExtenders, prioritizeNodes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.extender.extenders import Extenders
from scheduler_core.framework.chance import PINNED, Chance
from scheduler_core.framework.diagnosis import VerdictBuilder, Verdicts
from scheduler_core.framework.extenders import EXTENDER, ExtenderCall
from scheduler_core.framework.runtime import CycleState, Framework, PreFilterResult
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.framework.status import Code, Status
from scheduler_core.releases.table import TieBreak
from scheduler_core.scheduler.cycle_record import Cycle, Filtering, Scoring
from scheduler_core.scheduler.selection import Draw, Pick, num_feasible_nodes_to_find
from scheduler_core.trace.records import PickRule

MIN_BLOCK = 64
"""Nodes that cost hardly more to filter at once than one of them."""

DROPPED_BY_EXTENDER = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (), EXTENDER)

NO_POSITIONS = np.zeros(0, np.int64)


class SchedulingAlgorithm:
    """Filters and scores for one pod after another; remembers where the next search starts."""

    def __init__(
        self,
        pick: Pick,
        rule: TieBreak,
        draw: Draw,
        extenders: Extenders | None = None,
        chance: Chance = PINNED,
    ) -> None:
        self.next_start_index = 0
        self._pick_among_equals = pick
        self._rule: PickRule = rule
        self._draw = draw
        self._n_examined: dict[int, int] = {}
        """How many nodes the last search examined, by template: about as many as the next will."""
        self._extenders = extenders
        self._chance = chance

    # ------------------------------------------------------------ which nodes fit

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Let plugins prepare the cycle, reject the pod or narrow the nodes."""
        diagnosis = cycle.diagnosis
        result = cycle.framework.run_pre_filter(cycle.state, cycle.pod, cycle.nodes)
        cycle.pre_filter = result
        diagnosis.unschedulable_plugins |= result.narrowed_by
        if result.status.is_rejected:
            diagnosis.absent = result.status
            diagnosis.pre_filter_message = result.status.message
            diagnosis.add_plugin_status(result.status)
        return result

    def evaluate_nominated_node(self, cycle: Cycle) -> Filtering | None:
        """Filter one node before all others; None if there is none, or if it does not fit.

        It is the one an earlier preemption made room on, or else the one that batching offers.
        """
        if cycle.batch is not None:
            cycle.batch.ask(cycle.pod, cycle.state, cycle.nodes)
        name = cycle.pod.nominated_node_name or cycle.hint
        row = cycle.nodes.cluster.row_of.get(name) if name else None
        node = cycle.nodes.take(cycle.nodes.rows == row) if row is not None else None
        if node is None or node.n == 0:
            return None
        verdicts = cycle.framework.run_filter_with_nominated_pods(cycle.state, cycle.pod, node)
        cycle.diagnosis.record(node, verdicts)
        if not verdicts.fits.all():
            return None
        filtering = Filtering(node, verdicts, node, n_to_find=1, by_nomination=True)
        filtering = self._filter_by_extenders(cycle, filtering)
        if filtering.error or not filtering.feasible.n:
            return None
        cycle.filtering = filtering
        return filtering

    def find_feasible_nodes(self, cycle: Cycle) -> Filtering:
        """Filter nodes, from where the last search stopped, until enough are feasible.

        The search goes block by block: filtering many nodes at once costs little more than
        filtering one, and hardly more nodes are filtered than upstream's search looks at.
        """
        framework, (nodes, first) = cycle.framework, self._nodes_to_search(cycle)
        n_to_find = self._n_to_find(framework, nodes)
        builder = VerdictBuilder(nodes.n)
        template = cycle.pod.template.index
        guess = self._n_examined.get(template, n_to_find)
        end, n_fits = 0, 0
        while end < nodes.n:
            start, end = end, _next_end(end, n_fits, n_to_find, guess, nodes.n)
            block = _from(first, nodes, start, end)
            verdicts = framework.run_filter_with_nominated_pods(cycle.state, cycle.pod, block)
            if not verdicts.all_fit:
                builder.merge(np.arange(start, end), verdicts)
            n_fits += verdicts.n_fits
            if n_fits > n_to_find or _error_positions(verdicts).size:
                break
        verdicts = builder.build().up_to(end)
        n_examined = self._n_examined[template] = _search_length(verdicts, n_to_find)
        verdicts = verdicts.up_to(n_examined)
        examined = _from(first, nodes, 0, n_examined)
        feasible = examined if verdicts.all_fit else examined.take(verdicts.fits)
        return self._end_of_search(cycle, Filtering(examined, verdicts, feasible, n_to_find))

    def _end_of_search(self, cycle: Cycle, filtering: Filtering) -> Filtering:
        """Note what the search found and where the next one begins; then ask the extenders."""
        diagnosis = cycle.diagnosis
        diagnosis.record(filtering.examined, filtering.verdicts)
        # Upstream counts the nodes with a status, among them some that were not examined.
        n_processed = filtering.feasible.n + len(diagnosis)
        self.next_start_index = (self.next_start_index + n_processed) % cycle.nodes.n
        error = _first_error(filtering.verdicts)
        left = (
            replace(filtering, error=error)
            if error
            else self._filter_by_extenders(cycle, filtering)
        )
        if left.feasible.n != filtering.feasible.n:
            diagnosis.unschedulable_plugins.add(EXTENDER)
        cycle.filtering = left
        return left

    def _nodes_to_search(self, cycle: Cycle) -> tuple[Nodes, int]:
        """Return the nodes that PreFilter leaves, and the position at which to begin.

        They may be fewer than those the start index was computed for. Where the order in which
        workers are done with them is drawn, they come in that order.
        """
        nodes = self._nodes_left_by_pre_filter(cycle)
        first = self.next_start_index % nodes.n if nodes.n else 0
        order = self._chance.finishing_order(nodes.n)
        return (nodes, first) if order is None else (nodes.take((order + first) % nodes.n), 0)

    def _nodes_left_by_pre_filter(self, cycle: Cycle) -> Nodes:
        assert cycle.pre_filter is not None
        wanted = cycle.pre_filter.node_names
        if wanted is None:
            return cycle.nodes
        # By now these are the plugins that narrowed the nodes, and those that rejected the pod's
        # own nominated node.
        plugins = " ".join(sorted(cycle.diagnosis.unschedulable_plugins))
        text = f"node(s) didn't satisfy plugin(s) [{plugins}]"
        cycle.diagnosis.absent = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
        left = cycle.nodes.take(np.array([name in wanted for name in cycle.nodes.names], np.bool_))
        order = self._chance.narrowed_order(left.n)
        return left if order is None else left.take(order)

    def _n_to_find(self, framework: Framework, nodes: Nodes) -> int:
        """Return how many feasible nodes are enough: one, where nothing tells them apart."""
        if not framework.has_score_plugins and not self._may_extend:
            return 1
        return num_feasible_nodes_to_find(nodes.n, framework.percentage_of_nodes_to_score or 0)

    @property
    def _may_extend(self) -> bool:
        extenders = self._extenders
        return extenders is not None and (extenders.may_filter or extenders.may_prioritize)

    def _filter_by_extenders(self, cycle: Cycle, filtering: Filtering) -> Filtering:
        """Return what extenders leave of the feasible nodes.

        Nodes they removed without a reason have no status in the diagnosis, as upstream has it;
        in the verdicts all of them have one.
        """
        if self._extenders is None:
            return filtering
        feasible = filtering.feasible
        answer = self._extenders.filter(cycle.pod, feasible)
        cycle.filter_calls += answer.calls
        for name, status in answer.statuses.items():
            cycle.diagnosis.set_status(name, status)
        if answer.error or answer.nodes is feasible:
            return replace(filtering, error=answer.error)
        left = set(answer.nodes.names)
        gone = {
            int(i): answer.statuses.get(name, DROPPED_BY_EXTENDER)
            for i, name in zip(np.flatnonzero(filtering.verdicts.fits), feasible.names, strict=True)
            if name not in left
        }
        return replace(filtering, verdicts=filtering.verdicts.but(gone), feasible=answer.nodes)

    # ------------------------------------------------------------ which node is best

    def prioritize(
        self, framework: Framework, state: CycleState, pod: PodInfo, feasible: Nodes
    ) -> Scoring:
        """Score the feasible nodes, at least one, and pick one."""
        if not framework.has_score_plugins and self._extenders is None:
            totals = np.ones(feasible.n, np.int64)
            return Scoring(None, (), totals, *self._pick(totals))
        pre_score = framework.run_pre_score(state, pod, feasible)
        if not pre_score.is_success:
            return Scoring(pre_score, (), NO_POSITIONS, -1, error=pre_score.message)
        if framework.score_error:
            return Scoring(pre_score, (), NO_POSITIONS, -1, error=framework.score_error)
        scores = framework.run_score(state, pod, feasible)
        if fault := next((score.fault for score in scores if score.fault), ""):
            return Scoring(pre_score, (), NO_POSITIONS, -1, error=fault)
        calls: Sequence[ExtenderCall] = ()
        scored_by_extender = None
        if self._extenders is not None:
            answer = self._extenders.prioritize(pod, feasible)
            calls, scored_by_extender = answer.calls, answer.scored
            if calls:
                scores.append(PluginScore(EXTENDER, answer.weight, answer.raw, answer.raw))
        totals = np.zeros(feasible.n, np.int64)
        for score in scores:
            weight = score.weight
            totals += score.normalized if weight == 1 else score.normalized * weight
        picked, rule = self._pick(totals, scored_by_extender)
        return Scoring(pre_score, scores, totals, picked, rule, calls)

    def totals(
        self, framework: Framework, state: CycleState, pod: PodInfo, feasible: Nodes
    ) -> IntArray | None:
        """Score the nodes without picking one; None if that ends in an error."""
        scoring = self.prioritize(framework, state, pod, feasible)
        return None if scoring.error else scoring.totals

    def _pick(self, totals: IntArray, scored: BoolArray | None = None) -> tuple[int, PickRule]:
        """Pick a node with the highest total; say how it was picked among several.

        Upstream gives a random number to each node that an extender has scored (`scored`, bool
        (n_feasible,)), and nobody else; the highest number wins. So lots are drawn among those
        of the best that were scored.
        """
        if scored is not None and scored.any():
            best = totals == totals.max()
            candidates = np.flatnonzero(best & scored)
            if candidates.size:
                rule: PickRule = "draw" if np.count_nonzero(best) > 1 else "heap"
                return int(candidates[self._draw(candidates.size)]), rule
        return self._pick_among_equals(totals), self._rule


def _from(first: int, nodes: Nodes, start: int, end: int) -> Nodes:
    """Return the nodes from position `start` to `end`, counted from `first` and on from 0."""
    start, end = start + first, end + first
    if end <= nodes.n:
        return nodes.slice(start, end)
    if start >= nodes.n:
        return nodes.slice(start - nodes.n, end - nodes.n)
    return nodes.take(np.arange(start, end) % nodes.n)


def _next_end(end: int, n_fits: int, n_to_find: int, guess: int, n: int) -> int:
    """Return how far to filter next: a little further than enough feasible nodes should take.

    `n_fits` of the `end` nodes filtered so far are feasible; before the first, `guess` counts.
    """
    if end == 0:
        wanted = guess
    elif n_fits == 0:
        return n
    else:
        wanted = max((n_to_find + 1) * end // n_fits, end)
    return min(wanted + max(wanted // 8, MIN_BLOCK), n)


def _search_length(verdicts: Verdicts, n_to_find: int) -> int:
    """Return how many nodes are examined: the search notices only at one feasible too many.

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
    return np.flatnonzero(np.array(wrong)[verdicts.ids]) if any(wrong) else NO_POSITIONS


def _first_error(verdicts: Verdicts) -> str:
    """Return the first error of a Filter plugin, empty if there is none."""
    wrong = _error_positions(verdicts)
    if not wrong.size:
        return ""
    return verdicts.status(int(wrong[0])).message
