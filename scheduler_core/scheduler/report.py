"""Turns what a cycle learned into trace events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from scheduler_core.cluster.nodes import IntArray, Nodes
from scheduler_core.framework.extenders import ExtenderCall
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.preemption.report import PreemptionReport
from scheduler_core.scheduler.cycle import Cycle, Filtering, Scoring
from scheduler_core.scheduler.failure import Failure
from scheduler_core.scheduler.preemption_report import PreemptionWords
from scheduler_core.trace.events import (
    AnyEvent,
    CycleFinished,
    ExtenderCalled,
    ExtenderColumns,
    FilterColumns,
    FilterFinished,
    NodeSelected,
    PreemptionDecided,
    PreFilterFinished,
    PreScoreFinished,
    ScoreColumns,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import (
    Column,
    PluginScores,
    RejectedBy,
    Result,
    StatusRecord,
)

LEAST = int(np.iinfo(np.int64).min)
SUCCEEDED = StatusRecord(SUCCESS.code.label)


def status_record(status: Status, recorder: Recorder) -> StatusRecord:
    if status is SUCCESS:
        return SUCCEEDED
    return StatusRecord(status.code.label, recorder.plugin(status.plugin), status.reasons)


def extender_called(call: ExtenderCall, recorder: Recorder) -> ExtenderCalled:
    return ExtenderCalled(
        extender=call.extender,
        verb=call.verb,
        n_nodes_in=call.n_in,
        n_nodes_out=call.n_out,
        duration_ns=call.duration_ns,
        summary=call.summary,
        error=call.error,
        pod=recorder.pod(call.pod.uid),
        status=call.status,
        response=call.response,
        ignored=call.ignored,
        weight=call.weight,
        whole_nodes=call.whole_nodes,
        n_request_bytes=call.n_request_bytes,
        n_response_bytes=call.n_response_bytes,
    )


def extender_columns(number: int, call: ExtenderCall, recorder: Recorder) -> ExtenderColumns:
    """Word what the cycle's call of that number did to single nodes."""
    reasons = {reason: i for i, reason in enumerate(dict.fromkeys(call.removed.values()))}
    return ExtenderColumns(
        call=number,
        removed=_column(map(recorder.node, call.removed)),
        reasons=tuple(reasons),
        reason=_column(reasons[reason] for reason in call.removed.values()),
        nodes=_column(map(recorder.node, call.scores)),
        scores=_column(call.scores.values()),
    )


def _column(values: Iterable[int]) -> Column:
    return Column.narrow(np.array(list(values), np.int64))


class CycleEnd:
    """Writes how a cycle ended; again if its binding fails later."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def emit(self, cycle: int, result: Result, node: int, failure: Failure | None = None) -> None:
        """Say that `cycle` ended with the pod on `node` (-1: none), or in a failure."""
        unschedulable = sorted(failure.unschedulable_plugins) if failure else ()
        pending = sorted(failure.pending_plugins) if failure else ()
        self._recorder.emit(
            CycleFinished(
                cycle,
                result,
                node,
                failure.message if failure else "",
                tuple(map(self._recorder.plugin, unschedulable)),
                tuple(map(self._recorder.plugin, pending)),
            )
        )


class CycleReport:
    """Words one cycle for the trace."""

    def __init__(self, recorder: Recorder, pick_rule: str) -> None:
        self._recorder = recorder
        self._pick_rule = pick_rule
        self._preemption = PreemptionWords(recorder)
        self._n_calls = 0
        self._number_of_row: IntArray = np.zeros(0, np.int64)
        self._last_numbered: tuple[Nodes | None, Column] = (None, Column("u1", b""))
        self._last_scores: dict[str, tuple[PluginScore, PluginScores]] = {}
        self._skipped: dict[frozenset[str], tuple[int, ...]] = {}

    def events(self, cycle: Cycle) -> Iterator[AnyEvent]:
        """Yield the events of PreFilter to the pick, as far as the cycle came."""
        self._n_calls = 0
        if cycle.pre_filter is not None:
            yield self._pre_filter(cycle)
        if cycle.filtering is not None:
            yield from self._filter(cycle, cycle.filtering)
        yield from self._calls(cycle.extender_calls, "filter")
        if cycle.pre_score is not None:
            yield PreScoreFinished(
                status_record(cycle.pre_score, self._recorder),
                self._plugins(cycle.state.skip_score),
            )
        yield from self._calls(cycle.extender_calls, "prioritize")
        if cycle.scoring is not None and cycle.filtering is not None:
            yield from self._score(cycle.filtering.feasible, cycle.scoring)
        elif cycle.suggested_host:
            yield NodeSelected(self._recorder.node(cycle.suggested_host), "single", n_scored=1)

    def post_filter(self, outcome: PostFilterOutcome) -> Iterator[AnyEvent]:
        """Yield the steps of preemption, if PostFilter came that far."""
        report = outcome.report
        if isinstance(report, PreemptionReport):
            for event in self._preemption.events(report):
                if isinstance(event, PreemptionDecided):
                    yield from self._calls(report.extender_calls, "preempt")
                yield event

    def _calls(self, calls: Sequence[ExtenderCall], verb: str) -> Iterator[AnyEvent]:
        for call in calls:
            if call.verb != verb:
                continue
            yield extender_called(call, self._recorder)
            if self._recorder.details:
                yield extender_columns(self._n_calls, call, self._recorder)
            self._n_calls += 1

    def _plugins(self, names: set[str]) -> tuple[int, ...]:
        """Return the plugins' numbers in order; few sets of plugins occur."""
        key = frozenset(names)
        known = self._skipped.get(key)
        if known is None:
            known = self._skipped[key] = tuple(sorted(map(self._recorder.plugin, names)))
        return known

    def _numbers(self, nodes: Nodes) -> IntArray:
        """Return the trace's numbers of the nodes, int64 (n,); a row's number never changes."""
        names = nodes.cluster.names
        known = self._number_of_row.size
        if known < len(names):
            fresh = [self._recorder.node(name) for name in names[known:]]
            self._number_of_row = np.append(self._number_of_row, np.array(fresh, np.int64))
        return self._number_of_row[nodes.rows]

    def _numbered(self, nodes: Nodes) -> Column:
        """Return those numbers as a column; filter and score report the same feasible nodes."""
        known, column = self._last_numbered
        if known is not nodes:
            column = Column.narrow(self._numbers(nodes))
            self._last_numbered = nodes, column
        return column

    def _pre_filter(self, cycle: Cycle) -> PreFilterFinished:
        result = cycle.pre_filter
        assert result is not None
        narrowed = None
        if result.node_names is not None:
            narrowed = tuple(
                self._recorder.node(name)
                for name in sorted(result.node_names)
                if name in cycle.nodes.cluster.row_of
            )
        return PreFilterFinished(
            status_record(result.status, self._recorder),
            self._plugins(cycle.state.skip_filter),
            narrowed,
        )

    def _filter(self, cycle: Cycle, filtering: Filtering) -> Iterator[AnyEvent]:
        verdicts = filtering.verdicts
        rejected: Counter[int] = Counter()
        if not verdicts.all_fit:
            counts = np.bincount(verdicts.ids, minlength=len(verdicts.statuses))
            for status, count in list(zip(verdicts.statuses, counts, strict=True))[1:]:
                rejected[self._recorder.plugin(status.plugin)] += int(count)
        yield FilterFinished(
            filtering.examined.n,
            filtering.feasible.n,
            filtering.n_to_find,
            tuple(RejectedBy(plugin, n) for plugin, n in sorted(rejected.items()) if n),
            filtering.by_nomination,
            self._recorder.node(cycle.batch.hint if cycle.batch else ""),
        )
        if self._recorder.details:
            in_order = filtering.examined.n and _follows_node_order(cycle, filtering)
            yield FilterColumns(
                tuple(status_record(status, self._recorder) for status in verdicts.statuses),
                Column.zeros(verdicts.ids.size)
                if verdicts.all_fit
                else Column.narrow(verdicts.ids),
                self._numbered(filtering.feasible),
                None if in_order else Column.narrow(self._numbers(filtering.examined)),
            )

    def _score(self, feasible: Nodes, scoring: Scoring) -> Iterator[AnyEvent]:
        if self._recorder.details:
            yield ScoreColumns(
                self._numbered(feasible),
                tuple(map(self._plugin_scores, scoring.scores)),
                Column.narrow(scoring.totals),
            )
        yield self._selected(feasible, scoring)

    def _plugin_scores(self, score: PluginScore) -> PluginScores:
        """Return the columns of a plugin's scores; the same scores may come cycle after cycle."""
        known, record = self._last_scores.get(score.plugin, (None, None))
        if known is not score or record is None:
            raw = Column.narrow(score.raw)
            same = score.normalized is score.raw
            normalized = raw if same else Column.narrow(score.normalized)
            number = self._recorder.plugin(score.plugin)
            record = PluginScores(number, score.weight, raw, normalized)
            self._last_scores[score.plugin] = score, record
        return record

    def _selected(self, feasible: Nodes, scoring: Scoring) -> NodeSelected:
        totals, picked = scoring.totals, scoring.picked
        others = totals.copy()
        others[picked] = LEAST
        runner_up = int((others == np.maximum.reduce(others)).nonzero()[0][0])
        deciders = [
            score.plugin
            for score in scoring.scores
            if score.normalized[picked] != score.normalized[runner_up]
        ]
        return NodeSelected(
            node=self._recorder.node(feasible.name(picked)),
            rule=self._pick_rule,
            n_scored=feasible.n,
            total=int(totals[picked]),
            n_tied=int(np.count_nonzero(totals == totals[picked])),
            runner_up=self._recorder.node(feasible.name(runner_up)),
            runner_up_total=int(totals[runner_up]),
            deciders=tuple(map(self._recorder.plugin, deciders)),
        )


def _follows_node_order(cycle: Cycle, filtering: Filtering) -> bool:
    """Tell whether the examined nodes are the node order from the start index on.

    So they are unless PreFilter has narrowed them or nodes have gone; even then they may be.
    """
    rows: Sequence[int] | IntArray = filtering.examined.rows
    if filtering.by_nomination:
        return False
    narrowed = cycle.pre_filter is None or cycle.pre_filter.node_names is not None
    if not narrowed and cycle.start_index < cycle.nodes.n:
        return True
    to_the_end = cycle.nodes.rows[cycle.start_index :][: len(rows)]
    from_the_start = cycle.nodes.rows[: len(rows) - len(to_the_end)]
    return np.array_equal(rows[: len(to_the_end)], to_the_end) and np.array_equal(
        rows[len(to_the_end) :], from_the_start
    )
