"""Long answers, sent while they are made, and no connection to the database held meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import chain

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection
from django.http import StreamingHttpResponse


def attachment(pieces: Iterator[bytes], *, name: str, media_type: str) -> StreamingHttpResponse:
    """Answer with a file to save, `pieces` one after the other, each made when it is sent.

    The first is made at once, so that what cannot begin is an error and no broken file. No query
    of theirs may stay open between two pieces.
    """
    begun = chain([next(pieces, b"")], pieces)
    response = StreamingHttpResponse(_in_a_thread(begun), content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response


async def _in_a_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """A plain iterator would be run to its end before the first byte is sent."""
    while piece := await sync_to_async(_next)(pieces):
        yield piece


def _next(pieces: Iterator[bytes]) -> bytes:
    """The next piece; while somebody takes it slowly, others have the connection it came by."""
    try:
        return next(pieces, b"")
    finally:
        let_go_of_database()


def let_go_of_database() -> None:
    """Let others have this thread's connection, unless somebody around has a transaction."""
    if not connection.in_atomic_block:
        close_old_connections()
