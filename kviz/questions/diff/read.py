"""Two stored runs held against each other."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

from kviz.runs.inputs import InvalidInput, changes_of, rules_of
from kviz.runs.models import Run, TraceChunk
from kviz.runs.selectors import sentence_of
from scheduler_core.analysis.compare import Comparison, argument_settings, compare, read_lines
from scheduler_core.analysis.compare.inputs import Setting
from scheduler_core.changes import changed_rules
from scheduler_core.config import ConfigError
from scheduler_core.trace.codec import Chunk

COMPARISONS_HELD = 8
"""Comparisons of which a process keeps what came out; of long runs they take seconds."""


class CannotCompare(Exception):
    """Two runs cannot be compared, or not yet; the text says why."""


def comparison(*, a: Run, b: Run) -> Comparison:
    """Compare two runs that are over. Raises CannotCompare."""
    for run in (a, b):
        if run.is_observed:
            raise CannotCompare(
                "A live session cannot be compared: the scheduler does not report what decided."
            )
        if not run.is_over:
            raise CannotCompare("A run is not over yet. Wait for its end, or stop it.")
    found = _comparison(a.pk, a.last_seq, b.pk, b.last_seq)
    return found.with_known(_arguments(a, b), _changes(a, b))


def _arguments(a: Run, b: Run) -> list[Setting]:
    """Arguments of plugins that differ; none if this kviz cannot read a run's rules any more."""
    try:
        loaded = [
            changed_rules(rules_of(run), [each.change for each in changes_of(run)]).load()
            for run in (a, b)
        ]
    except (InvalidInput, ConfigError):
        return []
    return argument_settings(*loaded)


def _changes(a: Run, b: Run) -> list[str]:
    """What one of them was made of the other by, in words; empty if it was not."""
    for parent, variant in ((a, b), (b, a)):
        if variant.parent_id == parent.pk:
            return list(map(sentence_of, variant.changes[variant.n_inherited :]))
    return []


@lru_cache(maxsize=COMPARISONS_HELD)
def _comparison(a: UUID, last_seq_a: int, b: UUID, last_seq_b: int) -> Comparison:
    """Compare what is stored; the stored events of a run that is over never change."""
    return compare(read_lines(_chunks(a, last_seq_a)), read_lines(_chunks(b, last_seq_b)))


def _chunks(run_id: UUID, last_seq: int) -> list[Chunk]:
    rows = TraceChunk.objects.filter(run_id=run_id, last_seq__lte=last_seq).order_by("last_seq")
    return [
        Chunk(
            first_seq=row.first_seq,
            last_seq=row.last_seq,
            first_cycle=row.first_cycle,
            last_cycle=row.last_cycle,
            headers=bytes(row.headers),
            details=bytes(row.details),
        )
        for row in rows.iterator()
    ]
