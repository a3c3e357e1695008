"""`{{ snapshot|title_of }}`: what to call a snapshot in front of people."""

from __future__ import annotations

from django import template

from kviz.snapshots.models import Snapshot
from kviz.snapshots.samples import sample_of

register = template.Library()


@register.filter
def title_of(snapshot: Snapshot) -> str:
    """A sample's title in the reader's language; the name people gave to any other."""
    sample = sample_of(snapshot)
    return str(sample.title) if sample else snapshot.name
