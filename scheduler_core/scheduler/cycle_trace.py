"""What happens in a cycle, as trace events, at the moment it happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from scheduler_core.api import DeviceRequestAllocationResult
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import NO_CHANGE, Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.diagnosis import Crowded
from scheduler_core.framework.extenders import ExtenderCall
from scheduler_core.framework.interface import HoldsDevices, PostFilterOutcome
from scheduler_core.framework.runtime import PreFilterResult
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.preemption.report import PreemptionReport
from scheduler_core.scheduler.assumed_pod import AssumedPod
from scheduler_core.scheduler.cycle_record import Cycle, Filtering, Scoring
from scheduler_core.scheduler.outcome import (
    Failed,
    NotScheduled,
    Outcome,
    Scheduled,
    Unschedulable,
)
from scheduler_core.scheduler.preemption_trace import PreemptionTrace
from scheduler_core.trace.events import (
    Assumed,
    CycleFinished,
    CycleStarted,
    DevicesAllocated,
    ExtenderCalled,
    ExtenderColumns,
    FilterColumns,
    FilterFinished,
    NodeSelected,
    PointFinished,
    PostFilterFinished,
    PreemptionDecided,
    PreFilterFinished,
    PreScoreFinished,
    ScoreColumns,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import (
    NONE,
    Column,
    DeviceRecord,
    NominatedOnNode,
    NominatedPod,
    PluginScores,
    PointAfterPick,
    RejectedBy,
    Result,
    StatusRecord,
)

LOWEST = int(np.iinfo(np.int64).min)
NOT_NOMINATED = NO_CHANGE, NominatedOnNode(NONE, (), 0)
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
    """Return what the cycle's call of that number did to single nodes."""
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


def _device_record(result: DeviceRequestAllocationResult) -> DeviceRecord:
    return DeviceRecord(
        result.request,
        result.driver,
        result.pool,
        result.device,
        bool(result.share_id),
        bool(result.admin_access),
        result.consumed_capacity,
    )


class CycleTrace:
    """Records scheduling cycles, one after the other."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._preemption = PreemptionTrace(recorder)
        self._columns = NodeNumbers(recorder)
        self._n_calls = 0
        """Calls to extenders in this cycle so far."""
        self._last_scores: dict[str, tuple[PluginScore, PluginScores]] = {}
        self._last_nominated: dict[int, tuple[Change, NominatedOnNode]] = {}
        self._skipped: dict[frozenset[str], tuple[int, ...]] = {}

    # ------------------------------------------------------------ from start to end

    def started(self, cycle: Cycle, profile: int) -> None:
        self._n_calls = 0
        self._recorder.emit(
            CycleStarted(
                cycle.number,
                self._recorder.pod(cycle.pod.uid),
                cycle.queued.attempts,
                profile,
                cycle.popped_from,
                cycle.start_index,
                cycle.nodes.n,
            )
        )

    def skipped(self, cycle: Cycle) -> None:
        """Record that there was nothing to schedule."""
        self._recorder.emit(CycleFinished(cycle.number, Result.SKIPPED, NONE, "", (), ()))

    def reserved(self, assumed: AssumedPod) -> None:
        """Record which devices Reserve keeps for the pod."""
        pod = self._recorder.pod(assumed.pod.uid)
        node = self._recorder.node(assumed.node_name)
        for state in assumed.state.pre_filter.values():
            for claim in state.devices() if isinstance(state, HoldsDevices) else ():
                devices = tuple(map(_device_record, claim.results))
                self._recorder.emit(
                    DevicesAllocated(pod, node, claim.claim, devices, claim.allocated_before)
                )

    def finished(self, number: int, outcome: Outcome) -> None:
        """Record how cycle `number` ended."""
        match outcome:
            case Scheduled(assumed, waits_on_permit):
                result = Result.WAITING if waits_on_permit else Result.SCHEDULED
                node = self._recorder.node(assumed.node_name)
                self._recorder.emit(CycleFinished(number, result, node, "", (), ()))
            case Unschedulable():
                self._failed(number, Result.UNSCHEDULABLE, outcome)
            case Failed():
                self._failed(number, Result.ERROR, outcome)

    def permitted(self, assumed: AssumedPod) -> None:
        """Record that a cycle whose pod waited on Permit is now as good as one that did not."""
        self.finished(assumed.cycle, Scheduled(assumed, waits_on_permit=False))

    def binding_failed(self, number: int, outcome: NotScheduled) -> None:
        """Record that the cycle ended otherwise than it said: its binding has failed since."""
        rejected = bool(outcome.unschedulable_plugins)
        self._failed(number, Result.UNSCHEDULABLE if rejected else Result.BIND_ERROR, outcome)

    def _failed(self, number: int, result: Result, outcome: NotScheduled) -> None:
        number_of = self._recorder.plugin
        self._recorder.emit(
            CycleFinished(
                number,
                result,
                NONE,
                outcome.message,
                tuple(map(number_of, sorted(outcome.unschedulable_plugins))),
                tuple(map(number_of, sorted(outcome.pending_plugins))),
            )
        )

    # ------------------------------------------------------------ finding nodes

    def pre_filter(self, cycle: Cycle, result: PreFilterResult) -> None:
        narrowed = None
        if result.node_names is not None:
            # PreFilter may name nodes that are not there.
            cluster = cycle.nodes.cluster
            there = (name for name in sorted(result.node_names) if cluster.has_node(name))
            narrowed = tuple(map(self._recorder.node, there))
        self._recorder.emit(
            PreFilterFinished(
                status_record(result.status, self._recorder),
                self._plugins(cycle.state.skip_filter),
                narrowed,
            )
        )

    def filter(self, cycle: Cycle, filtering: Filtering) -> None:
        verdicts = filtering.verdicts
        rejected: Counter[int] = Counter()
        if not verdicts.all_fit:
            counts = np.bincount(verdicts.ids, minlength=len(verdicts.statuses))
            for status, count in list(zip(verdicts.statuses, counts, strict=True))[1:]:
                rejected[self._recorder.plugin(status.plugin)] += int(count)
        self._recorder.emit(
            FilterFinished(
                filtering.examined.n,
                filtering.feasible.n,
                filtering.n_to_find,
                tuple(RejectedBy(plugin, n) for plugin, n in sorted(rejected.items()) if n),
                filtering.by_nomination,
                self._recorder.node(cycle.hint),
                int(np.count_nonzero(crowded.without == 0)) if (crowded := verdicts.crowded) else 0,
            )
        )
        if self._recorder.details:
            self._recorder.emit(self._filter_columns(cycle, filtering))
        self._extender_calls(cycle.filter_calls)

    def _filter_columns(self, cycle: Cycle, filtering: Filtering) -> FilterColumns:
        verdicts, columns = filtering.verdicts, self._columns
        in_order = filtering.examined.n and _follows_node_order(cycle, filtering)
        return FilterColumns(
            tuple(status_record(status, self._recorder) for status in verdicts.statuses),
            Column.zeros(verdicts.ids.size) if verdicts.all_fit else Column.narrow(verdicts.ids),
            columns.column(filtering.feasible),
            None if in_order else Column.narrow(columns.numbers(filtering.examined)),
            self._nominated(filtering.examined, verdicts.crowded) if verdicts.crowded else (),
        )

    def _nominated(self, examined: Nodes, crowded: Crowded) -> tuple[NominatedOnNode, ...]:
        """Return the records of the nodes on which nominated pods decide.

        The same pods count on a node cycle after cycle, so the records are cached by its row.
        """
        known, found = self._last_nominated, []
        rows = examined.rows[crowded.at].tolist()
        for row, without, added in zip(rows, crowded.without.tolist(), crowded.added, strict=True):
            last, record = known.get(row, NOT_NOMINATED)
            if last is not added or record.without != without:
                record = NominatedOnNode(
                    self._recorder.node(examined.cluster.names[row]),
                    tuple(map(self._nominated_pod, added.added)),
                    without,
                )
                known[row] = added, record
            found.append(record)
        return tuple(found)

    def _nominated_pod(self, pod: PodInfo) -> NominatedPod:
        requests = self._recorder.amounts(pod.template.requests.placed)
        return NominatedPod(self._recorder.pod(pod.uid), requests)

    # ------------------------------------------------------------ rating nodes

    def only_node(self, cycle: Cycle) -> None:
        """Record that a single node was feasible, which is taken without being scored."""
        self._recorder.emit(
            NodeSelected(self._recorder.node(cycle.suggested_host), "single", n_scored=1)
        )

    def scoring(self, cycle: Cycle, feasible: Nodes, scoring: Scoring) -> None:
        if scoring.pre_score is not None:
            self._recorder.emit(
                PreScoreFinished(
                    status_record(scoring.pre_score, self._recorder),
                    self._plugins(cycle.state.skip_score),
                )
            )
        if scoring.error:
            return
        self._extender_calls(scoring.extender_calls)
        if self._recorder.details:
            self._recorder.emit(
                ScoreColumns(
                    self._columns.column(feasible),
                    tuple(map(self._plugin_scores, scoring.scores)),
                    Column.narrow(scoring.totals),
                )
            )
        self._recorder.emit(self._selected(feasible, scoring))

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
        others[picked] = LOWEST
        runner_up = int((others == np.maximum.reduce(others)).nonzero()[0][0])
        deciders = [
            score.plugin
            for score in scoring.scores
            if score.normalized[picked] != score.normalized[runner_up]
        ]
        return NodeSelected(
            node=self._recorder.node(feasible.name(picked)),
            rule=scoring.rule,
            n_scored=feasible.n,
            total=int(totals[picked]),
            n_tied=int(np.count_nonzero(totals == totals[picked])),
            runner_up=self._recorder.node(feasible.name(runner_up)),
            runner_up_total=int(totals[runner_up]),
            deciders=tuple(map(self._recorder.plugin, deciders)),
        )

    # ------------------------------------------------------------ what follows

    def post_filter(self, outcome: PostFilterOutcome) -> None:
        """Record the steps of preemption, if PostFilter came that far, and how it ended."""
        report = outcome.report
        if isinstance(report, PreemptionReport):
            for event in self._preemption.events(report):
                if isinstance(event, PreemptionDecided):
                    self._extender_calls(report.extender_calls)
                self._recorder.emit(event)
        self._recorder.emit(
            PostFilterFinished(
                status_record(outcome.status, self._recorder),
                outcome.nominating,
                self._recorder.node(outcome.node_name),
            )
        )

    def assumed(self, assumed: AssumedPod) -> None:
        numbers = self._recorder.pod(assumed.pod.uid), self._recorder.node(assumed.node_name)
        self._recorder.emit(Assumed(*numbers))

    def point(self, pod: PodInfo, point: PointAfterPick, status: Status) -> None:
        """Record what an extension point after the pick came to."""
        record = status_record(status, self._recorder)
        self._recorder.emit(PointFinished(self._recorder.pod(pod.uid), point, record))

    def _extender_calls(self, calls: Sequence[ExtenderCall]) -> None:
        for call in calls:
            self._recorder.emit(extender_called(call, self._recorder))
            if self._recorder.details:
                self._recorder.emit(extender_columns(self._n_calls, call, self._recorder))
            self._n_calls += 1

    def _plugins(self, names: set[str]) -> tuple[int, ...]:
        """Return the plugins' numbers in order; few sets of plugins occur."""
        key = frozenset(names)
        known = self._skipped.get(key)
        if known is None:
            known = self._skipped[key] = tuple(sorted(map(self._recorder.plugin, names)))
        return known


class NodeNumbers:
    """The trace's numbers of nodes, as arrays; the number of a row never changes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._of_row: IntArray = np.zeros(0, np.int64)
        self._latest: tuple[Nodes | None, Column] = (None, Column("u1", b""))

    def numbers(self, nodes: Nodes) -> IntArray:
        """Return int64 (n,)."""
        names = nodes.cluster.names
        known = self._of_row.size
        if known < len(names):
            fresh = self._recorder.all_nodes(names[known:])
            self._of_row = np.append(self._of_row, np.array(fresh, np.int64))
        return self._of_row[nodes.rows]

    def column(self, nodes: Nodes) -> Column:
        """Return those numbers as a column; Filter and Score record the same feasible nodes."""
        known, column = self._latest
        if known is not nodes:
            column = Column.narrow(self.numbers(nodes))
            self._latest = nodes, column
        return column


def _follows_node_order(cycle: Cycle, filtering: Filtering) -> bool:
    """Return whether the examined nodes are the node order from the start index on.

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
