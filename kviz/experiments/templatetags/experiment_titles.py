"""What people call an experiment."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _

from kviz.experiments.models import Experiment
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
        case "survive", _other:
            return _("What survives the loss of a node")
        case "luck", _other:
            return _("How lucky the placements are")
        case "capacity", _other:
            return _("How many more fit")
        case "nodes", _other:
            return _("Which nodes to add or remove")
        case "configurations", _other:
            return _("How configurations compare")
        case _:
            return _("What follows from changes")


@register.simple_tag
def luck_of_run(run: Run) -> Experiment | None:
    """The newest finished experiment that tossed the coins of a run as it began."""
    found = Experiment.objects.filter(run=run, kind="luck", status=Experiment.Status.FINISHED)
    return found.first()
