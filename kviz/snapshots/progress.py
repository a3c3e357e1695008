"""How far the reading of an upload is, for the page that waits for it.

The page makes up an id, sends it along as `X-Upload-Id`, and polls for progress meanwhile. The
figures are in the cache only, for ten minutes.
"""

from __future__ import annotations

import time
from typing import Final
from uuid import UUID

from django.core.cache import cache

from kviz.accounts.models import Workspace
from scheduler_core.api.ingest import Progress

CACHED_S: Final = 600
REPORT_EVERY_S: Final = 0.1


def reporter(*, workspace: Workspace, upload_id: str) -> Progress | None:
    """Writes the progress of an upload to the cache; None if its sender gave no valid id."""
    try:
        key = _key(workspace, UUID(upload_id))
    except ValueError:
        return None
    due = 0.0

    def report(done_bytes: int, total_bytes: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due or done_bytes == total_bytes:
            due = now + REPORT_EVERY_S
            cache.set(key, (done_bytes, total_bytes), CACHED_S)

    return report


def read_so_far(*, workspace: Workspace, upload_id: UUID) -> tuple[int, int]:
    """Bytes read and bytes in total; (0, 0) while nothing is known."""
    found: tuple[int, int] = cache.get(_key(workspace, upload_id), (0, 0))
    return found


def _key(workspace: Workspace, upload_id: UUID) -> str:
    return f"upload:{workspace.pk}:{upload_id}"
