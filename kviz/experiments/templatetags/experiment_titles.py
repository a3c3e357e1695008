"""What people call an experiment."""

from __future__ import annotations

from django import template

from kviz.experiments.kinds import kind_named
from kviz.experiments.models import Experiment

register = template.Library()


@register.filter
def experiment_title(experiment: Experiment) -> str:
    """Its name, or else what it asks."""
    return experiment.name or kind_named(experiment.kind).title(experiment.asked)
