"""Who types wrong codes too often waits: rooms are not to be found by trying."""

from __future__ import annotations

import contextlib
from typing import Final

from django.core.cache import cache
from django.http import HttpRequest

from kviz.classroom import selectors
from kviz.classroom.codes import code_typed
from kviz.classroom.crowding import address_of
from kviz.classroom.models import Room
from kviz.classroom.seats import is_in

WRONG_CODES: Final = 200
"""Per address and hour, of 86 million; a whole school may sit behind one address."""
HOUR_S: Final = 3600


class TooManyGuesses(Exception):
    """An address has typed too many wrong codes; right ones let in nobody new either."""


def room_behind(request: HttpRequest, text: str) -> Room | None:
    """The open room with a code that was typed. Raises TooManyGuesses.

    Who is in the room stays, whatever others at the same address type.
    """
    code = code_typed(text)
    room = selectors.room_open(code) if code else None
    if room is not None and is_in(request.session, room):
        return room
    key = f"class-code:{address_of(request)}"
    if cache.get(key, 0) >= WRONG_CODES:
        raise TooManyGuesses
    if room is None:
        cache.add(key, 0, HOUR_S)
        with contextlib.suppress(ValueError):  # an hour has just gone by
            cache.incr(key)
    return room
