"""After too many wrong codes a browser must wait: rooms must not be found by guessing.

Wrong codes are counted per browser, which has a cookie, and per address, generously: a school
shares one, and a browser without a cookie is counted only there. The link that a QR code holds has
a key besides the code, which nobody types or guesses: it opens the door whatever was typed before.
"""

from __future__ import annotations

import contextlib
from typing import Final

from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

from kviz.classroom import selectors
from kviz.classroom.codes import code_typed
from kviz.classroom.crowding import address_of
from kviz.classroom.models import Room
from kviz.classroom.seats import is_in

OF_BROWSER: Final = 20
OF_ADDRESS: Final = 5_000
"""Wrong codes in an hour, of 86 million."""
HOUR_S: Final = 3600
GUESSED: Final = "class_code_guessed"
KEY: Final = "k"
"""The parameter of a link that has the key."""
KEY_LENGTH: Final = 20


class TooManyGuesses(Exception):
    """Too many wrong codes came from a browser or its address; right ones are refused, too."""


def key_of(room: Room) -> str:
    """What a link to a room's door has besides the code; it is not stored."""
    digest = salted_hmac("kviz.class-door", str(room.pk), algorithm="sha256").hexdigest()
    return digest[:KEY_LENGTH]


def room_behind(request: HttpRequest, text: str) -> Room | None:
    """The open room with a code that was typed, or of a link with its key. Raises TooManyGuesses.

    People in the room stay, whatever others at the same address type.
    """
    code = code_typed(text)
    room = selectors.room_open(code) if code else None
    if room is not None and (_has_key(request, room) or is_in(request.session, room)):
        return room
    counted = cache.get_many([name for name, _ in _counts(request)])
    if any(counted.get(name, 0) >= most for name, most in _counts(request)):
        raise TooManyGuesses
    if room is None:
        count_guess(request)
    return room


def count_guess(request: HttpRequest) -> None:
    """Note a wrong code. A browser without a session gets one, by which the next is counted."""
    if request.session.session_key is None:
        request.session[GUESSED] = True
    for name, _ in _counts(request):
        cache.add(name, 0, HOUR_S)
        with contextlib.suppress(ValueError):  # an hour has just gone by
            cache.incr(name)


def _counts(request: HttpRequest) -> list[tuple[str, int]]:
    """What is counted for a request, and how far."""
    found = [(f"class-code:{address_of(request)}", OF_ADDRESS)]
    if request.session.session_key:
        found.append((f"class-code-browser:{request.session.session_key}", OF_BROWSER))
    return found


def _has_key(request: HttpRequest, room: Room) -> bool:
    return constant_time_compare(request.GET.get(KEY, ""), key_of(room))
