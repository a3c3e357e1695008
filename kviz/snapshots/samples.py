"""The sample clusters with their texts in the reader's language."""

from __future__ import annotations

from functools import cache
from typing import Final

from django.utils.translation import gettext_lazy

from kviz.reference.form import with_prose
from kviz.samples import Sample, sample_texts
from kviz.snapshots.models import Snapshot
from scheduler_core.api import Pod
from scheduler_core.changes.vocabulary import Create
from scheduler_core.sim import load_scenario

SAMPLES: Final = with_prose(sample_texts(), gettext_lazy)
_BY_SLUG = {sample.slug: sample for sample in SAMPLES}


def sample_of(snapshot: Snapshot) -> Sample | None:
    """The sample a snapshot was made from, whose name is the slug; None for any other."""
    return _BY_SLUG.get(snapshot.name) if snapshot.is_sample else None


GANGS: Final = _BY_SLUG["gangs"]


@cache
def n_pods_later(scenario: str) -> int:
    """How many pods a scenario creates."""
    actions = [step.action for step in load_scenario(scenario).steps] if scenario else []
    made = [item for each in actions if isinstance(each, Create) for item in each.items()]
    return sum(isinstance(item, Pod) for item in made)
