"""A class is not filled by a few of its own: seats per address, pages per seat."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from pytest_django import Settings

from kviz.classroom import crowding
from kviz.classroom.crowding import MAX_PAGES
from kviz.classroom.models import Participant
from kviz.classroom.room_hub import TOO_MANY_PAGES
from kviz.classroom.sockets import NO_SEAT
from tests.classroom.people import ASKS, RIGHT, Browser, Lesson, open_lesson
from tests.waiting import PATIENCE_S
from tests.web.test_live import socket

SCHOOL, HOME = "198.51.100.7", "203.0.113.9"
PUPILS = 100


def come(lesson: Lesson, address: str, name: str = "") -> Browser:
    """A new browser at an address: it has no cookies of an earlier one."""
    client = Client(raise_request_exception=False, REMOTE_ADDR=address)
    browser = Browser(lesson.teacher.code, client)
    browser.client.post(f"/class/{browser.code}/join", {"name": name})
    return browser


def is_in(browser: Browser) -> bool:
    return 'data-audience="class"' in browser.get().content.decode()


def stay(*, but: tuple[int, ...] = ()) -> None:
    """Everybody's page is connected, but those of some numbers."""
    Participant.objects.exclude(number__in=but).update(n_connected=1)


@pytest.fixture
def narrow(settings: Settings) -> None:
    settings.CLASS_SEATS_PER_ADDRESS = 3


def test_a_school_behind_one_address_gets_in_twice_over(settings: Settings) -> None:
    assert settings.CLASS_SEATS_PER_ADDRESS > 2 * PUPILS


@pytest.mark.usefixtures("narrow")
def test_one_address_does_not_fill_a_class_and_is_told_what_to_do(lesson: Lesson) -> None:
    first, *_ = (come(lesson, SCHOOL) for _ in range(3))
    stay()
    refused = come(lesson, SCHOOL)
    assert not is_in(refused)
    page = refused.client.post(f"/class/{refused.code}/join", follow=True).content.decode()
    assert "From your network 3 are in this class" in page
    assert "use the same browser; otherwise tell the teacher" in page
    assert is_in(first)
    assert is_in(come(lesson, HOME))
    assert lesson.room.participants.count() == 4


@pytest.mark.usefixtures("narrow")
def test_the_seat_of_somebody_who_left_before_answering_goes_to_the_next(lesson: Lesson) -> None:
    answered, gone, _ = (come(lesson, SCHOOL) for _ in range(3))
    lesson.lead("go", step=ASKS)
    lesson.lead("ask")
    assert answered.answer(lesson.vote, RIGHT).status_code == 200
    stay(but=(1, 2))
    assert is_in(come(lesson, SCHOOL))
    assert is_in(answered)
    assert not is_in(gone)
    assert sorted(each.number for each in lesson.room.participants.all()) == [1, 3, 4]
    stay(but=(1,))
    assert not is_in(come(lesson, SCHOOL))


def test_a_full_class_says_so(lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowding, "MAX_SEATS", 1)
    come(lesson, SCHOOL)
    stay()
    late = come(lesson, HOME)
    assert "This class is full" in late.get().content.decode()


def test_neighbours_in_an_ipv6_network_count_together(lesson: Lesson) -> None:
    for address in ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"):
        come(lesson, address)
    first, second, other = (each.origin for each in lesson.room.participants.order_by("number"))
    assert (first == second, first == other) == (True, False)


def test_addresses_are_not_stored_and_their_traces_end_with_the_class(lesson: Lesson) -> None:
    come(lesson, SCHOOL)
    seat = lesson.room.participants.get()
    assert len(seat.origin) == crowding.ORIGIN_LENGTH
    assert SCHOOL not in seat.origin
    elsewhere = open_lesson()
    come(elsewhere, SCHOOL)
    assert elsewhere.room.participants.get().origin != seat.origin
    lesson.lead("end")
    assert Participant.objects.get(pk=seat.pk).origin == ""


def test_on_ones_own_machine_all_browsers_share_an_address(settings: Settings, db: None) -> None:
    settings.MODE, settings.CLASS_SEATS_PER_ADDRESS = "local", 1
    lesson = open_lesson()
    assert all(is_in(come(lesson, "127.0.0.1")) for _ in range(3))


def test_names_are_of_characters_that_can_be_seen(lesson: Lesson) -> None:
    come(lesson, HOME, "A\0da\u202e  \u200bL\n.")
    assert lesson.room.participants.get().name == "Ada L ."


@pytest.mark.django_db(transaction=True)
async def test_the_oldest_page_of_a_seat_makes_way_and_says_so() -> None:
    lesson = await sync_to_async(open_lesson)()
    mina = await sync_to_async(lesson.enter)("Mina")
    path = f"/ws/class/{mina.code}/?as=class"
    async with AsyncExitStack() as stack:
        lines: list[Any] = []
        for _ in range(MAX_PAGES + 1):
            line: Any = await stack.enter_async_context(socket(path, mina.headers))
            await line.receive_output(timeout=PATIENCE_S)
            lines.append(line)
        async with asyncio.timeout(PATIENCE_S):
            while (message := await lines[0].receive_output(timeout=PATIENCE_S))[
                "type"
            ] == "websocket.send":
                pass
        assert message == {"type": "websocket.close", "code": TOO_MANY_PAGES}
        await sync_to_async(lesson.lead)("black")
        for line in lines[1:]:
            async with asyncio.timeout(PATIENCE_S):
                while not json.loads((await line.receive_output(timeout=PATIENCE_S))["text"]).get(
                    "is_black"
                ):
                    pass


@pytest.mark.django_db(transaction=True)
async def test_the_pages_of_others_do_not_count() -> None:
    lesson = await sync_to_async(open_lesson)()
    mina = await sync_to_async(lesson.enter)("Mina")
    others = [await sync_to_async(lesson.enter)() for _ in range(MAX_PAGES + 1)]
    async with AsyncExitStack() as stack:
        line: Any = await stack.enter_async_context(
            socket(f"/ws/class/{mina.code}/?as=class", mina.headers)
        )
        for each in others:
            more: Any = await stack.enter_async_context(
                socket(f"/ws/class/{each.code}/?as=class", each.headers)
            )
            await more.receive_output(timeout=PATIENCE_S)
        await sync_to_async(lesson.lead)("black")
        async with asyncio.timeout(PATIENCE_S):
            while not json.loads((await line.receive_output(timeout=PATIENCE_S))["text"]).get(
                "is_black"
            ):
                pass


@pytest.mark.django_db(transaction=True)
async def test_who_lost_a_seat_is_not_told_that_the_class_is_over() -> None:
    lesson = await sync_to_async(open_lesson)()
    mina = await sync_to_async(lesson.enter)("Mina")
    await Participant.objects.all().adelete()
    async with socket(f"/ws/class/{mina.code}/?as=class", mina.headers) as communicator:
        line: Any = communicator
        message = await line.receive_output(timeout=PATIENCE_S)
    assert message == {"type": "websocket.close", "code": NO_SEAT}
