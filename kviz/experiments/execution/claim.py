"""Writes: which workers an experiment and its portions belong to (`kviz.common.claiming`).

The worker that owns the experiment requests variants, portion by portion, and concludes. The owner
of a portion runs its variants. All of them write to the experiment's row first, and then to
portions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.common.claiming import TRIED, Queue
from kviz.engine_build import engine_build
from kviz.experiments.models import Experiment, Portion

QUEUE: Final = Queue("experiment", lambda: _experiments().filter(by_itself=False), "created_at")
"""Those that somebody asked for."""
BY_ITSELF: Final = Queue("luck", lambda: _experiments().filter(by_itself=True), "created_at")
PORTIONS: Final = Queue(
    "portion",
    Portion.objects.all,
    "created_at",
    owner="experiment__workspace",
    key="experiment_id",
)
SHARED: Final = replace(
    PORTIONS,
    rows=lambda: Portion.objects.filter(
        experiment__by_itself=False,
        experiment__status__in=Experiment.LIVE,
        experiment__engine_version=engine_build(),
    ),
)
"""The portions that other workers may take, too: those of this engine."""

MOST_PORTIONED: Final = 25
"""Variants of a portion: so many are lost at most to a worker that hangs, until it is missed."""
PORTIONS_AT_LEAST: Final = 32
"""So many portions are made, if there are as many variants: the last ones keep all workers busy."""
INVITED: Final = 16
"""Workers that are sent to a batch of portions at most; each stays while there are some."""


def _experiments() -> QuerySet[Experiment]:
    return Experiment.objects.select_related("snapshot")


def queue_of(experiment: Experiment) -> Queue[Experiment]:
    return BY_ITSELF if experiment.by_itself else QUEUE


def experiment_claim(
    *, worker: str, key: str = "", queue: Queue[Experiment] = QUEUE
) -> Experiment | None:
    """Claim an experiment, or without `key` the oldest one that waits; None if another has it."""
    started_at = Coalesce(F("started_at"), timezone.now())
    if key:
        return queue.claim_row(key, worker, started_at=started_at)
    return queue.claim(worker, started_at=started_at)


def experiments_release(*, worker: str, **also: int) -> int:
    """Give back what `worker` held; `also` is written with that."""
    portions_release(worker=worker, **also)
    return QUEUE.release(worker, **also) + BY_ITSELF.release(worker, **also)


def experiments_fail(*, worker: str, error: str) -> None:
    """End what `worker` has claimed as failed; portions it has of others' wait again."""
    for experiment in (*QUEUE.of_worker(worker), *BY_ITSELF.of_worker(worker)):
        experiment_close(experiment, status=Experiment.Status.FAILED, error=error)
    portions_release(worker=worker)


def claimed_experiment(experiment: Experiment, worker: str) -> QuerySet[Experiment]:
    """The row of an experiment as long as the worker's claim holds, else no row."""
    return queue_of(experiment).held(experiment, worker)


def shared_experiment(key: UUID) -> QuerySet[Experiment]:
    """The row of an experiment as long as any worker with this engine may have a part in it."""
    return Experiment.objects.filter(
        pk=key, status__in=Experiment.LIVE, engine_version=engine_build()
    )


def experiment_to_share(*, key: str) -> Experiment | None:
    """An experiment with a portion that waits for a worker; None if there is none."""
    if not SHARED.free().filter(experiment=UUID(key)).exists():
        return None
    return shared_experiment(UUID(key)).select_related("snapshot").first()


def experiment_close(experiment: Experiment, **values: object) -> bool:
    """End an experiment, even if another worker runs it; False if it was over."""
    live = Experiment.objects.filter(pk=experiment.pk, status__in=Experiment.LIVE)
    with transaction.atomic():
        if not live.update(finished_at=timezone.now(), claimed_by="", **values):
            return False
        experiment.portions.all().delete()
        if experiment.by_itself:
            experiment.delete()
    return True


def portions_make(experiment: Experiment, missing: Iterable[int]) -> None:
    """Portion out the variants that are missing and in no portion yet, and invite workers."""
    there = experiment.portions.values_list("first", "stop")
    taken = {number for first, stop in there for number in range(first, stop)}
    numbers = [number for number in missing if number not in taken]
    size = min(MOST_PORTIONED, -(-len(numbers) // PORTIONS_AT_LEAST))
    made: list[Portion] = []
    for number in numbers:
        if made and number == made[-1].stop < made[-1].first + size:
            made[-1].stop += 1
        else:
            made.append(Portion(experiment=experiment, first=number, stop=number + 1))
    stored = Portion.objects.bulk_create(made)
    if not experiment.by_itself:
        for portion in stored[1 : 1 + INVITED]:  # one is for who makes them
            SHARED.announce(portion)


def portions_free(experiment: Experiment, among: range) -> QuerySet[Portion]:
    """The portions of some variants that wait for a worker, the first first."""
    return (
        PORTIONS.free()
        .filter(experiment=experiment, first__gte=among.start, stop__lte=among.stop)
        .order_by("first")
    )


def portion_claim(*, experiment: Experiment, among: range, worker: str) -> Portion | None:
    """Claim the first portion of some variants that is free; None if there is none."""
    while keys := list(portions_free(experiment, among).values_list("pk", flat=True)[:TRIED]):
        for key in keys:
            if (portion := PORTIONS.claim_row(str(key), worker)) is not None:
                return portion
    return None


def portions_release(*, worker: str, **also: int) -> int:
    """Give back the portions that `worker` held; `also` is written with that."""
    return PORTIONS.release(worker, **also)
