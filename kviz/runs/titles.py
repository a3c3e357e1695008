"""What to call a run in front of people."""

from __future__ import annotations

from django.utils.translation import gettext

from kviz.runs.models import Run, ShareLink
from kviz.snapshots.templatetags.snapshot_titles import title_of


def run_title(run: Run) -> str:
    """Its own name, or its cluster's."""
    if run.name:
        return run.name
    return title_of(run.snapshot) if run.snapshot else gettext("Live session")


def ended_text(link: ShareLink) -> str:
    """Why a link opens nothing any more."""
    if link.revoked_at is not None:
        return gettext("This link was revoked: what it opened is no longer shared with it.")
    return gettext("This link has expired: what it opened is no longer shared with it.")
