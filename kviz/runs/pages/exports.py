"""What a run can be saved as."""

from __future__ import annotations

from django.conf import settings

from kviz.runs import selectors
from kviz.runs.models import Run
from kviz.runs.portable import offline


def exports_of(run: Run) -> dict[str, object]:
    """What the run can be saved as, and how large that will be."""
    context: dict[str, object] = {"run_file_bytes": selectors.stored_bytes(run=run).all}
    try:
        page_bytes = offline.expected_bytes(run)
    except offline.NotBuilt:
        return context
    refused = page_bytes > settings.MAX_OFFLINE_BYTES
    text = offline.too_large_text(page_bytes) if refused else ""
    return context | {"page_bytes": page_bytes, "page_refused": text}
