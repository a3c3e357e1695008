"""Writes down what a real scheduler asked, after it has its answer.

The scheduler waits for the answer but not for our database, so a thread of its own writes. When
it cannot keep up, questions go unrecorded rather than unanswered.
"""

from __future__ import annotations

import logging
import queue
import threading
from typing import Final
from uuid import UUID

from django.db import DatabaseError, close_old_connections

from kviz.extenders.models import ExtenderRequest, ExtenderSession

log = logging.getLogger(__name__)

MAX_WAITING: Final = 2_000
MAX_BATCH: Final = 200
MAX_REQUESTS_KEPT: Final = 20_000
"""Of a session; the oldest go first."""


class Notebook:
    """A queue and the thread that empties it, started with the first request."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[ExtenderRequest] = queue.Queue(MAX_WAITING)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def note(self, request: ExtenderRequest) -> None:
        """Have a request written soon."""
        try:
            self._waiting.put_nowait(request)
        except queue.Full:
            log.warning("a question of a real scheduler was not recorded: too many at once")
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._write, daemon=True)
                self._thread.start()

    def _write(self) -> None:
        while True:
            batch = [self._waiting.get()]
            while len(batch) < MAX_BATCH and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            try:
                store(batch)
            except DatabaseError:
                log.exception("questions of a real scheduler were not recorded")
            close_old_connections()


def store(batch: list[ExtenderRequest]) -> None:
    """Write requests in order; of sessions that still exist, and no more than they may keep."""
    sessions = {request.session_id for request in batch}
    alive = set(ExtenderSession.objects.filter(pk__in=sessions).values_list("pk", flat=True))
    ExtenderRequest.objects.bulk_create([each for each in batch if each.session_id in alive])
    for session_id in alive:
        _trim(session_id)


def _trim(session_id: UUID) -> None:
    kept = ExtenderRequest.objects.filter(session_id=session_id).order_by("-id")
    oldest = kept.values_list("id", flat=True)[MAX_REQUESTS_KEPT - 1 : MAX_REQUESTS_KEPT].first()
    if oldest is not None:
        ExtenderRequest.objects.filter(session_id=session_id, id__lt=oldest).delete()


notebook = Notebook()
