"""Who a browser is in a room: its teacher, somebody in it, or nobody.

A browser that opened a room is its teacher, one that came in has a seat; both are remembered in
the session, which is on the server. In local mode all browsers share a workspace; in server mode
who may not change the room's any more teaches no longer.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from kviz.accounts.models import Role, Workspace
from kviz.accounts.selectors import SESSION_KEY, membership_get, person_of
from kviz.classroom.models import Participant, Room
from kviz.common.mode import Mode

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
    is_teacher = isinstance(taught, list) and str(room.pk) in taught
    return Door(room, is_teacher and may_teach(session, room), participant)


def is_in(session: Mapping[str, object], room: Room) -> bool:
    """Whether a browser teaches a room, or has a seat there."""
    door = door_of(session, room)
    return door.is_teacher or door.participant is not None


def had_seat(session: Mapping[str, object], room: Room) -> bool:
    """Whether a browser had a seat in a room once, so that it knows that there is one."""
    seats = session.get(SITTING)
    return isinstance(seats, dict) and str(room.pk) in seats


def may_teach(session: Mapping[str, object], room: Room) -> bool:
    """Whether a browser may change the room's workspace, and so lead its classes."""
    if settings.MODE == Mode.LOCAL:
        return True
    if (person := person_of(session)) is not None:
        member = membership_get(workspace_id=room.workspace_id, person=person)
        return member is not None and member.role != Role.VIEWER
    is_guests = room.workspace.kind == Workspace.Kind.GUEST
    return settings.GUESTS and is_guests and session.get(SESSION_KEY) == str(room.workspace_id)


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
