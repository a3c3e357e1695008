"""Writes: an experiment is created, cancelled, deleted.

To claim and carry it out is the work of `kviz.experiments.execution`.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.experiments.models import Experiment
from kviz.experiments.questions.asking import checked, expected_variants, refused
from kviz.experiments.selectors import n_live
from kviz.runs.inputs import INPUTS
from kviz.runs.models import Run

MAX_NAME_CHARS: Final = 200


class TooManyVariants(Exception):
    """The experiment would have more variants than one may have."""


class TooManyExperiments(Exception):
    """The workspace has as many experiments waiting or running as it may."""


def experiment_create(
    *, workspace: Workspace, beginning: Run, kind: str, asked: object, name: str = ""
) -> Experiment:
    """Queue an experiment of a kind of `experiments.questions` about a run at its beginning.

    The run has a snapshot, and need not be stored. Raises InvalidInput, TooManyVariants and
    TooManyExperiments.
    """
    if beginning.snapshot is None or beginning.is_observed:
        raise refused("run", "A real scheduler decided this run; there are no variants of it.")
    about = checked(kind, asked, beginning)
    n_variants = expected_variants(about, beginning.snapshot.counts)
    if n_variants > settings.MAX_VARIANTS:
        raise TooManyVariants(
            f"This would be {n_variants:,} variants; an experiment has at most "
            f"{settings.MAX_VARIANTS:,}."
        )
    most = settings.MAX_EXPERIMENTS
    if most is not None and n_live(workspace=workspace) >= most:
        raise TooManyExperiments(
            f"You have {most} experiments waiting or running. Cancel one, or "
            "wait until one is over."
        )
    return Experiment.objects.create(
        workspace=workspace,
        name=name.strip()[:MAX_NAME_CHARS],
        snapshot=beginning.snapshot,
        run=None if beginning._state.adding else beginning,
        inputs={each: getattr(beginning, each) for each in INPUTS},
        kind=kind,
        asked=about,
    )


def experiment_cancel(*, experiment: Experiment) -> bool:
    """Stop an experiment that is not over; its results so far stay. False if it was over."""
    live = Experiment.objects.filter(pk=experiment.pk, status__in=Experiment.LIVE)
    return live.update(status=Experiment.Status.CANCELLED, finished_at=timezone.now()) == 1


def experiment_delete(*, experiment: Experiment) -> None:
    experiment.delete()
