"""Writes: runs of an older kviz are simulated again, one at a time, while a worker is idle.

A trace of engine 0.1 has its sentences in English. Its inputs are stored and a simulation is
deterministic, so a second run of them, which nobody sees before it is over, gets the trace of this
kviz. If that decides alike it takes the place of the old one; if not, both stay.
"""

from __future__ import annotations

from typing import Final

from django.db import IntegrityError, transaction

from kviz.runs.execution.claim import QUEUE
from kviz.runs.inputs import same_inputs
from kviz.runs.models import Run

Older = Run.Older
OLD_ENGINE: Final = "0.1."
"""How the version of an engine begins whose traces have no ids of sentences."""
DECIDED: Final = ("number", "pod", "attempt", "result", "node", "nominated_node", "n_victims")
BECAME: Final = (
    "pod",
    "node",
    "queue",
    "nominated_node",
    "attempts",
    "evicted_in_cycle",
    "deleted",
)
TAKEN: Final = ("engine_version", "not_modelled", "last_seq", "trace_hash", "stop_reason")


def older_of(run: Run) -> str:
    """Return what becomes of a run that comes with its trace (`Run.older`)."""
    if not run.engine_version.startswith(OLD_ENGINE):
        return ""
    is_whole = run.status == Run.Status.FINISHED and not run.is_observed
    return Older.WAITING if is_whole else Older.KEPT


def compute_again() -> None:
    """Conclude what was computed again, and begin the next; nothing if one is under way."""
    begun = Run.objects.filter(again_of__older=Older.WAITING).select_related("again_of")
    for run in begun:
        if not run.is_over:
            return
        _conclude(run)
    old = Run.objects.filter(older=Older.WAITING, again=None).order_by("created_at").first()
    if old is not None:
        _begin(old)


def _begin(old: Run) -> None:
    run = same_inputs(old, name=old.name, again_of=old, out_of_tree_plugins=old.out_of_tree_plugins)
    try:
        with transaction.atomic():
            run.save()
            for answer in old.extender_answers.order_by("number").iterator():
                answer.pk, answer.run = None, run
                answer.save(force_insert=True)
    except IntegrityError:
        return  # another worker was quicker, or the run is gone
    QUEUE.announce(run)


@transaction.atomic
def _conclude(run: Run) -> None:
    old = run.again_of
    if old is None:
        return
    is_whole = run.status == Run.Status.FINISHED
    if not is_whole:
        state = Older.KEPT
    elif _decide_alike(old, run):
        state = Older.COMPUTED_AGAIN
    else:
        state = Older.DECIDES_OTHERWISE
    if not Run.objects.filter(pk=old.pk, older=Older.WAITING).update(
        older=state, kept_because=run.error if state == Older.KEPT else ""
    ):
        return
    if state == Older.COMPUTED_AGAIN:
        _take_over(old, run)
    if state != Older.DECIDES_OTHERWISE:
        run.delete()


def _decide_alike(a: Run, b: Run) -> bool:
    """Whether every cycle decided the same, and the same became of every pod."""
    return _decisions(a) == _decisions(b) and _outcomes(a) == _outcomes(b)


def _decisions(run: Run) -> list[tuple[object, ...]]:
    return list(run.cycle_rows.order_by("number").values_list(*DECIDED))


def _outcomes(run: Run) -> list[tuple[object, ...]]:
    return list(run.pod_outcomes.order_by("pod").values_list(*BECAME))


def _take_over(old: Run, run: Run) -> None:
    """Give a run the trace of another, with the index and the causes that were found."""
    for mine, other in (
        (old.chunks, run.chunks),
        (old.cycle_rows, run.cycle_rows),
        (old.pod_outcomes, run.pod_outcomes),
    ):
        mine.all().delete()
        other.all().update(run=old)
    Run.objects.filter(pk=old.pk).update(**{name: getattr(run, name) for name in TAKEN})
