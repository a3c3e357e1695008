"""How much of a room one browser or one address may take, so that others still get in.

A browser has one seat (`seats.py`), and a seat so many pages that are connected. Seats are counted
per address, generously: a whole school may sit behind one.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from kviz.by_hand.models import Attempt
from kviz.classroom.models import Participant, Room
from kviz.common.mode import Mode

MAX_SEATS: Final = 2_000
"""In one room."""
MAX_PAGES: Final = 5
"""Of one seat, connected to one process at the same time."""
IPV6_NETWORK_BITS: Final = 64
"""What an IPv6 provider gives to one customer at least."""
ORIGIN_LENGTH: Final = 32


class Crowded(Exception):
    """No seat is left; the text says why, and what to do."""


class _Address(BaseThrottle):
    """Knows whose address counts behind proxies."""


def address_of(request: HttpRequest) -> str:
    """The address of a browser, according to trusted proxies; for IPv6 the network."""
    found = str(_Address().get_ident(Request(request)))
    try:
        address = ip_address(found)
    except ValueError:  # a proxy may write anything
        return found
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    host_bits = 128 - IPV6_NETWORK_BITS
    return f"{IPv6Address(int(address) >> host_bits << host_bits)}/{IPV6_NETWORK_BITS}"


def origin_of(request: HttpRequest, room: Room) -> str:
    """What counts an address's seats in a room without keeping it; empty in local mode."""
    if settings.MODE == Mode.LOCAL:
        return ""
    keyed = salted_hmac(f"kviz.class-origin.{room.pk}", address_of(request), algorithm="sha256")
    return keyed.hexdigest()[:ORIGIN_LENGTH]


def make_room(room: Room, origin: str) -> None:
    """See that another seat may be taken, if need be one that somebody has left. Raises Crowded.

    Called while the room's row is locked.
    """
    most = settings.CLASS_SEATS_PER_ADDRESS
    seats = room.participants.all()
    of_address = seats.filter(origin=origin) if origin else seats.none()
    if of_address.count() >= most and not _free_one(room, of_address):
        text = gettext(
            "From your network %(n)d are in this class, which is the most. If you were in already, "
            "use the same browser; otherwise tell the teacher."
        )
        raise Crowded(text % {"n": most})
    if seats.count() >= MAX_SEATS and not _free_one(room, seats):
        raise Crowded(gettext("This class is full. Tell the teacher."))


def _free_one(room: Room, seats: QuerySet[Participant]) -> bool:
    """Give up the seat of somebody who is away and has neither answered nor placed anything."""
    played = Attempt.objects.filter(game__contest__room=room).values("player")
    idle = seats.filter(n_connected=0, answers=None).exclude(number__in=played)
    first = idle.exclude(number=room.pointer_seat).order_by("number").first()
    if first is not None:
        first.delete()
    return first is not None
