"""Writes: an experiment is created, cancelled, deleted, and its answer is run.

To claim and carry it out is the work of `kviz.experiments.execution`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.translation import ngettext

from kviz.accounts.audit import What, note_done
from kviz.accounts.models import Workspace
from kviz.common.claiming import QUEUED
from kviz.common.limits import TooManyAtOnce
from kviz.experiments.execution.claim import BY_ITSELF, experiment_close, queue_of
from kviz.experiments.kinds import checked, kind_named, refused, run_of
from kviz.experiments.models import Experiment
from kviz.experiments.selectors import n_live
from kviz.runs.inputs import INPUTS, changes_given, changes_of, refuse_hidden
from kviz.runs.models import Run
from kviz.runs.services import run_create, run_vary
from scheduler_core.releases.table import TieBreak
from scheduler_core.trace.records import QueueOrder
from scheduler_core.wording import say

MAX_NAME_CHARS: Final = 200
MOST_BY_THEMSELVES: Final = 20
"""So many that began by themselves wait for a workspace; of more, the oldest are given up."""


class TooManyVariants(Exception):
    """The experiment would have more variants than one may have."""


def experiment_create(
    *, workspace: Workspace, beginning: Run, kind: str, asked: object, name: str = ""
) -> Experiment:
    """Queue an experiment of a kind about a run at its beginning.

    The run has a snapshot, and need not be stored. Raises InvalidInput, TooManyVariants and
    TooManyAtOnce.
    """
    if beginning.snapshot is None or beginning.is_observed:
        raise refused(
            "run",
            say(
                "experiment.observed",
                "A real scheduler decided this run; there are no variants of it.",
            ),
        )
    refuse_hidden(beginning)
    about = checked(kind, asked, beginning)
    n_variants = kind_named(kind).expected(about, beginning.snapshot.counts)
    if n_variants > settings.MAX_VARIANTS:
        raise TooManyVariants(
            say(
                "experiment.too_many_variants",
                "This would be {n:,} variants; an experiment has at most {most:,}.",
                n=n_variants,
                most=settings.MAX_VARIANTS,
            )
        )
    most = settings.MAX_EXPERIMENTS
    if most is not None and n_live(workspace=workspace) >= most:
        text = ngettext(
            "You have %(n)d experiment waiting or running. Cancel it, or wait until it is over.",
            "You have %(n)d experiments waiting or running. Cancel one, or wait until one is over.",
            most,
        )
        raise TooManyAtOnce(text % {"n": most})
    experiment = Experiment(
        workspace=workspace,
        name=name.strip()[:MAX_NAME_CHARS],
        snapshot=beginning.snapshot,
        run=None if beginning._state.adding else beginning,
        kind=kind,
        asked=about,
    )
    return _queued(experiment, beginning)


def begin_unasked(*, run: Run, kind: str, asked: dict[str, object]) -> None:
    """Have something found out about a run's cluster when nothing else waits."""
    assert run.snapshot is not None
    experiment = Experiment(
        workspace=run.workspace,
        snapshot=run.snapshot,
        run=run,
        kind=kind,
        asked=asked,
        by_itself=True,
    )
    _queued(experiment, run)
    waiting = BY_ITSELF.rows().filter(workspace=run.workspace, status=QUEUED)
    for each in waiting.order_by("-created_at")[MOST_BY_THEMSELVES:]:
        each.delete()


def _queued(experiment: Experiment, beginning: Run) -> Experiment:
    experiment.inputs = {each: getattr(beginning, each) for each in INPUTS}
    experiment.save()
    queue_of(experiment).announce(experiment)
    return experiment


def experiment_cancel(*, experiment: Experiment) -> bool:
    """Stop an experiment that is not over; its results so far stay. False if it was over."""
    queue_of(experiment).withdraw(experiment)
    return experiment_close(experiment, status=Experiment.Status.CANCELLED)


def experiments_delete(*, experiments: Sequence[Experiment]) -> None:
    """Delete several experiments, each as `experiment_delete` does."""
    for experiment in experiments:
        experiment_delete(experiment=experiment)


def experiment_delete(*, experiment: Experiment) -> None:
    experiment_cancel(experiment=experiment)  # or its workers and this would wait for each other
    with transaction.atomic():
        note_done(What.DELETE, reverse("experiment-detail", args=[experiment.pk]))
        experiment.delete()


def experiment_run(*, experiment: Experiment, variant: int = 0) -> Run:
    """Queue a run of the experiment's cluster with what a variant says to add or to change.

    It is a variant of the run at whose beginning the experiment starts, if there is one. Raises
    InvalidInput, also where there is nothing to add.
    """
    found = experiment.results.filter(variant=variant).first()
    outcome = found.outcome if found is not None else {}
    documents = (outcome.get("answer") or outcome).get("changes")
    if not documents:
        raise refused("experiment", "It says of nothing that it would help or fit.")
    changes = changes_given(documents)
    if experiment.run is not None:
        return run_vary(workspace=experiment.workspace, parent=experiment.run, changes=changes)
    begun = run_of(experiment)
    return run_create(
        workspace=experiment.workspace,
        snapshot=experiment.snapshot,
        scheduler_config=begun.scheduler_config,
        scenario=begun.scenario,
        seed=begun.seed,
        release=begun.release,
        feature_gates=begun.feature_gates,
        tie_break=cast("TieBreak", begun.tie_break),
        queue_order=cast("QueueOrder", begun.queue_order),
        changes=[*(each.change for each in changes_of(begun)), *changes],
    )
