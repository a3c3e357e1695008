"""What people call an experiment, and those that were about a run."""

from __future__ import annotations

from dataclasses import dataclass

from django import template
from django.template import Context
from django.utils.translation import gettext as _

from kviz.accounts.middleware import workspace_of
from kviz.experiments.models import Experiment
from kviz.experiments.selectors import experiments_visible, results_of
from kviz.questions.unblock.report import Helps, read
from kviz.runs.models import Run

register = template.Library()


@register.filter
def experiment_title(experiment: Experiment) -> str:
    """Its name, or else what it asks."""
    if experiment.name:
        return experiment.name
    match experiment.kind, experiment.asked.get("of"):
        case "survive", "zones":
            return _("What survives the loss of a zone")
        case "survive", "sets":
            return _("What survives the loss of chosen nodes")
        case "survive", _other:
            return _("What survives the loss of a node")
        case "luck", _other:
            return _("How lucky the placements are")
        case "capacity", _other:
            return _("How many more fit")
        case "nodes", _other:
            return _("Which nodes to add or remove")
        case "unblock", _other:
            return _("What would let %s bind") % str(experiment.asked["pod"])
        case "configurations", _other:
            return _("How configurations compare")
        case _:
            return _("What follows from changes")


@register.simple_tag
def luck_of_run(run: Run) -> Experiment | None:
    """The newest finished experiment that tossed the coins of a run as it began."""
    found = Experiment.objects.filter(run=run, kind="luck", status=Experiment.Status.FINISHED)
    return found.first()


@register.simple_tag
def luck_is_expected(run: Run) -> bool:
    """Whether it is being found out, though nobody has asked, how lucky the run was."""
    return run.experiments.filter(by_itself=True).exists()


@dataclass(frozen=True)
class Search:
    """A search for what would let a pod bind, and what it has found."""

    experiment: Experiment
    found: Helps


@register.simple_tag(takes_context=True)
def search_for(context: Context, pod: str) -> Search | None:
    """The newest search of the reader about a pod of the run that the page is about."""
    mine = experiments_visible(workspace=workspace_of(context["request"]))
    about = mine.filter(run=context["run"], kind="unblock", asked__pod=pod)
    experiment = about.exclude(status=Experiment.Status.FAILED).first()
    if experiment is None:
        return None
    run = [each for each in results_of(experiment=experiment) if "problem" not in each.outcome]
    return Search(experiment, read(experiment, run))
