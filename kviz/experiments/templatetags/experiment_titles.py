"""What people call an experiment."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _

from kviz.experiments.models import Experiment

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
        case "configurations", _other:
            return _("How configurations compare")
        case _:
            return _("What follows from changes")
