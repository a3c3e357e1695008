"""The sample clusters with their texts in the reader's language."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from kviz.reference.form import with_prose
from kviz.samples import Sample, sample_texts
from kviz.snapshots.models import Snapshot

SAMPLES: Final = with_prose(sample_texts(), gettext_lazy)
_BY_SLUG = {sample.slug: sample for sample in SAMPLES}


def sample_of(snapshot: Snapshot) -> Sample | None:
    """The sample a snapshot was made from, whose name is the slug; None for any other."""
    return _BY_SLUG.get(snapshot.name) if snapshot.is_sample else None


GANGS: Final = _BY_SLUG["gangs"]
