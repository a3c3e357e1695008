"""Who a browser is in a room: its teacher, somebody in it, or nobody.

A browser that opened a room is its teacher, one that came in has a seat; both are remembered in
the session, which is on the server. A workspace is not asked: in local mode all browsers share one.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Final

from kviz.classroom.models import Participant, Room

TEACHING: Final = "classes_taught"
SITTING: Final = "class_seats"
MOST: Final = 20
"""So many rooms of each kind are remembered."""


@dataclass(frozen=True)
class Door:
    """What a session has of a room."""

    room: Room
    is_teacher: bool
    participant: Participant | None


def door_of(session: Mapping[str, object], room: Room) -> Door:
    taught = session.get(TEACHING)
    seats = session.get(SITTING)
    seat = seats.get(str(room.pk)) if isinstance(seats, dict) else None
    participant = room.participants.filter(pk=seat).first() if isinstance(seat, int) else None
    return Door(room, isinstance(taught, list) and str(room.pk) in taught, participant)


def remember_teacher(session: MutableMapping[str, object], room: Room) -> None:
    taught = session.get(TEACHING)
    known = taught if isinstance(taught, list) else []
    session[TEACHING] = [*known, str(room.pk)][-MOST:]


def remember_seat(
    session: MutableMapping[str, object], room: Room, participant: Participant
) -> None:
    seats = session.get(SITTING)
    known = list(seats.items()) if isinstance(seats, dict) else []
    session[SITTING] = dict([*known, (str(room.pk), participant.pk)][-MOST:])
