"""Long answers, sent while they are made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import chain

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse


def attachment(pieces: Iterator[bytes], *, name: str, media_type: str) -> StreamingHttpResponse:
    """Answer with a file to save, `pieces` one after the other, each made when it is sent.

    The first is made at once, so that what cannot begin is an error and no broken file.
    """
    begun = chain([next(pieces, b"")], pieces)
    response = StreamingHttpResponse(_in_a_thread(begun), content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response


async def _in_a_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """A plain iterator would be run to its end before the first byte is sent."""
    while piece := await sync_to_async(lambda: next(pieces, b""))():
        yield piece
