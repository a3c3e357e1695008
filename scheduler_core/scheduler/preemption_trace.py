"""An attempt at preemption as trace events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scheduler_core.framework.status import Status
from scheduler_core.preemption.report import Criterion, DryRun, PreemptionReport
from scheduler_core.trace.events import (
    AnyEvent,
    PreemptionDecided,
    PreemptionDryRun,
    PreemptionIneligible,
    PreemptionStarted,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import (
    CandidateRecord,
    CriterionRecord,
    ReprieveRecord,
    StatusRecord,
)

MAX_CACHED: Final = 20_000
"""Dry runs whose records are cached; beyond that all are made again."""


class PreemptionTrace:
    """Makes the events of attempts at preemption.

    The record of a dry run that serves many attempts is made once.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._records: dict[DryRun, CandidateRecord] = {}

    def events(self, report: PreemptionReport) -> Iterator[AnyEvent]:
        """Yield why it was not tried, or the dry runs and how one node was picked."""
        if report.ineligible:
            yield PreemptionIneligible(report.ineligible)
            return
        yield PreemptionStarted(report.n_potential, report.offset, report.n_wanted)
        if self._recorder.details:
            yield PreemptionDryRun(self._candidates(report.dry_runs))
        yield _decided(report, self._recorder)

    def _candidates(self, dry_runs: Sequence[DryRun]) -> tuple[CandidateRecord, ...]:
        known = self._records
        fresh = [dry_run for dry_run in dry_runs if dry_run not in known]
        if len(known) + len(fresh) > MAX_CACHED:
            known.clear()
            fresh = list(dry_runs)
        for dry_run in fresh:
            known[dry_run] = _candidate(dry_run, self._recorder)
        return tuple(map(known.__getitem__, dry_runs))


def _decided(report: PreemptionReport, recorder: Recorder) -> PreemptionDecided:
    names = report.left_by_extenders
    if names is None:
        names = tuple([each.node_name for each in report.candidates])
    return PreemptionDecided(
        recorder.all_nodes(names),
        _criteria(report.criteria, recorder),
        recorder.node(report.winner),
        tuple(recorder.pod(victim.uid) for victim in report.victims),
    )


def _candidate(dry_run: DryRun, recorder: Recorder) -> CandidateRecord:
    return CandidateRecord(
        node=recorder.node(dry_run.node_name),
        removed=tuple(recorder.pod(pod.uid) for pod in dry_run.removed),
        reprieves=tuple(
            ReprieveRecord(
                recorder.pod(reprieve.pod.uid),
                reprieve.kept,
                reprieve.violates_pdb,
                recorder.plugin(reprieve.rejected_by),
                reprieve.budgets,
            )
            for reprieve in dry_run.reprieves
        ),
        victims=tuple(recorder.pod(pod.uid) for pod in dry_run.victims),
        n_pdb_violations=dry_run.n_pdb_violations,
        status=_status(dry_run.status, recorder),
    )


def _status(status: Status, recorder: Recorder) -> StatusRecord:
    return StatusRecord(status.code.label, recorder.plugin(status.plugin), status.reasons)


def _criteria(criteria: Sequence[Criterion], recorder: Recorder) -> tuple[CriterionRecord, ...]:
    """Return the criteria; one that eliminates no node keeps those of the one before."""
    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    records = []
    for criterion in criteria:
        if criterion.kept is not names:
            names, numbers = criterion.kept, recorder.all_nodes(criterion.kept)
        records.append(CriterionRecord(criterion.name, criterion.values, numbers))
    return tuple(records)
