"""Who types wrong codes too often waits: rooms are not to be found by trying."""

from __future__ import annotations

import contextlib
from typing import Final

from django.core.cache import cache
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from kviz.classroom import selectors
from kviz.classroom.codes import code_typed
from kviz.classroom.models import Room

WRONG_CODES: Final = 30
"""Per address and hour; a whole class may sit behind one address, and only wrong codes count."""
HOUR_S: Final = 3600


class TooManyGuesses(Exception):
    """An address has typed too many wrong codes; right ones are not looked up either."""


class _Address(BaseThrottle):
    """Knows whose address counts behind proxies."""


def room_behind(request: HttpRequest, text: str) -> Room | None:
    """The open room with a code that was typed. Raises TooManyGuesses."""
    key = f"class-code:{_Address().get_ident(Request(request))}"
    if cache.get(key, 0) >= WRONG_CODES:
        raise TooManyGuesses
    code = code_typed(text)
    room = selectors.room_open(code) if code else None
    if room is None:
        cache.add(key, 0, HOUR_S)
        with contextlib.suppress(ValueError):  # an hour has just gone by
            cache.incr(key)
    return room
