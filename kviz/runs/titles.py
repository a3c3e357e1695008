"""What to call a run in front of people."""

from __future__ import annotations

from django.utils.translation import gettext

from kviz.runs.models import Run
from kviz.snapshots.templatetags.snapshot_titles import title_of


def run_title(run: Run) -> str:
    """Its own name, or its cluster's."""
    if run.name:
        return run.name
    return title_of(run.snapshot) if run.snapshot else gettext("Live session")
