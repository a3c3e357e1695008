"""What reaches whom over a class's websocket, and above all what does not."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.utils import timezone
from pytest_django import Settings

from kviz.classroom import guessing
from kviz.classroom.models import Participant, Room
from kviz.classroom.room_hub import SERVER_ERROR, Follower, hub_of
from kviz.classroom.sockets import BAD_REQUEST, NOT_FOUND
from tests.classroom.people import ASKS, RIGHT, WRONG, Browser, Lesson, open_lesson
from tests.waiting import PATIENCE_S
from tests.web.test_live import say, socket

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "not for a third"
"""From the explanation of the answer."""


def path(browser: Browser, audience: str = "class") -> str:
    return f"/ws/class/{browser.code}/?as={audience}"


async def until(line: Any, wanted: Any, seen: list[str]) -> dict[str, Any]:
    """The first state that is as wanted; all frames up to it are added to `seen`."""
    while True:
        message = await line.receive_output(timeout=PATIENCE_S)
        assert message["type"] == "websocket.send", message
        seen.append(message["text"])
        frame: dict[str, Any] = json.loads(message["text"])
        if frame["type"] == "state" and wanted(frame):
            return frame


@sync_to_async
def opened() -> tuple[Lesson, Browser, Browser]:
    lesson = open_lesson()
    return lesson, lesson.enter("Mina"), lesson.enter("Noah")


async def test_nothing_hidden_reaches_a_student_before_it_is_revealed() -> None:
    lesson, mina, noah = await opened()
    lead, seen = sync_to_async(lesson.lead), list[str]()
    async with socket(path(mina), mina.headers) as line:
        await until(line, lambda frame: frame["number"] == 1, seen)
        await lead("go", step=ASKS)
        await until(line, lambda frame: frame["number"] == ASKS, seen)
        await lead("ask")
        vote = await until(line, lambda frame: frame["question"], seen)
        number = vote["question"]["vote"]
        await sync_to_async(noah.answer)(number, RIGHT)
        mine = await sync_to_async(mina.answer)(number, WRONG)
        await lead("close-vote")
        await until(line, lambda frame: not frame["question"]["is_open"], seen)
        page = await sync_to_async(mina.get)()
        told = "".join(seen) + mine.content.decode()
        for hidden in (SECRET, "NodeResourcesFit", "Noah", '"right"', "notes", "n_answered"):
            assert hidden not in told, hidden
        for hidden in (SECRET, "NodeResourcesFit", "Noah"):
            assert hidden not in page.content.decode(), hidden
        assert all('"counts":null' in frame for frame in seen if '"votes":[{' in frame)
        await lead("reveal")
        shown = await until(line, lambda frame: frame["question"]["answer"] == RIGHT, seen)
        assert SECRET in json.dumps(shown).replace("<strong>", "")
        assert "Noah" not in json.dumps(shown)


async def test_who_comes_late_or_again_gets_the_present_and_their_own_answer() -> None:
    lesson, mina, noah = await opened()
    await sync_to_async(lesson.lead)("go", step=ASKS)
    await sync_to_async(lesson.lead)("ask")
    vote = await sync_to_async(lambda: lesson.vote)()
    await sync_to_async(mina.answer)(vote, WRONG)
    for browser, given in ((mina, WRONG), (noah, None)):
        async with socket(path(browser), browser.headers) as line:
            seen: list[str] = []
            state = await until(line, lambda frame: frame["question"], seen)
            assert state["number"] == ASKS
            me = next(json.loads(each) for each in seen if '"me"' in each)
            assert me["given"] == given


async def test_the_teacher_sees_who_is_in_and_what_is_answered_as_it_comes() -> None:
    lesson, mina, _ = await opened()
    teacher, seen = lesson.teacher, list[str]()
    async with socket(path(teacher, "teacher"), teacher.headers) as desk:
        await until(desk, lambda frame: frame["teacher"]["n_in"] == 0, seen)
        async with socket(path(mina), mina.headers):
            there = await until(desk, lambda frame: frame["teacher"]["n_in"] == 1, seen)
            assert [seat["is_in"] for seat in there["teacher"]["seats"]] == [True, False]
            await sync_to_async(lesson.lead)("go", step=ASKS)
            await sync_to_async(lesson.lead)("ask")
            vote = await sync_to_async(lambda: lesson.vote)()
            await sync_to_async(mina.answer)(vote, WRONG)
            counted = await until(desk, lambda frame: frame["teacher"]["n_answered"] == 1, seen)
            assert counted["teacher"]["counts"] == [{"text": "2 of 3", "n": 1, "right": None}]
        await until(desk, lambda frame: frame["teacher"]["n_in"] == 0, seen)


async def test_the_pointer_is_handed_over() -> None:
    lesson, mina, noah = await opened()
    await sync_to_async(lesson.lead)("hand", seat=1)
    async with (
        socket(path(mina), mina.headers) as mine,
        socket(path(noah), noah.headers) as others,
    ):
        await until(mine, lambda frame: frame["pointer_seat"] == 1, [])
        await until(others, lambda frame: frame["pointer_seat"] == 1, [])
        await say(others, '{"point": [1, 1]}')
        await say(mine, '{"point": [300, 400]}')
        async with asyncio.timeout(PATIENCE_S):
            while (frame := json.loads((await others.receive_output(timeout=PATIENCE_S))["text"]))[
                "type"
            ] == "state":
                pass
        assert frame == {"type": "pointer", "x": 300, "y": 400}


async def test_who_gave_the_pointer_back_points_no_more() -> None:
    lesson, mina, noah = await opened()
    await sync_to_async(lesson.lead)("hand", seat=1)
    await sync_to_async(lesson.lead)("hand", seat=0)
    async with (
        socket(path(mina), mina.headers) as mine,
        socket(path(noah), noah.headers) as others,
    ):
        await until(mine, lambda frame: frame["pointer_seat"] == 0, [])
        seen: list[str] = []
        await until(others, lambda frame: frame["pointer_seat"] == 0, seen)
        await say(mine, '{"point": [300, 400]}')
        await sync_to_async(lesson.lead)("black", on=True)
        await until(others, lambda frame: frame["is_black"], seen)
        assert not any('"pointer"' in each for each in seen)


async def test_pages_that_are_open_hear_that_the_time_of_the_class_is_over() -> None:
    _, mina, _ = await opened()
    async with socket(path(mina), mina.headers) as line:
        await until(line, lambda frame: frame["is_open"], [])
        over = timezone.now() - dt.timedelta(seconds=1)
        await Room.objects.aupdate(closes_at=over)
        await until(line, lambda frame: not frame["is_open"], [])
    assert {seat.name async for seat in Participant.objects.all()} == {""}


@pytest.mark.parametrize("audience", ["teacher", "screen", "nonsense"])
async def test_a_student_is_sent_nothing_that_is_the_teachers(audience: str) -> None:
    _, mina, _ = await opened()
    async with socket(path(mina, audience), mina.headers) as line:
        message = await line.receive_output(timeout=PATIENCE_S)
    assert (message["type"], message["code"]) == ("websocket.close", NOT_FOUND)


async def test_who_has_not_come_in_follows_nothing() -> None:
    lesson, mina, _ = await opened()
    other, *_ = await opened()
    stranger = Browser(lesson.teacher.code, other.teacher.client)
    async with socket(path(stranger), stranger.headers) as line:
        assert (await line.receive_output(timeout=PATIENCE_S))["code"] == NOT_FOUND
    async with socket("/ws/class/AAAAAA/?as=class", mina.headers) as line:
        assert (await line.receive_output(timeout=PATIENCE_S))["code"] == NOT_FOUND


@pytest.mark.parametrize("text", ["", "x", '{"point": [1]}', '{"point": [1, 2000]}', "[" * 500])
async def test_nonsense_ends_the_connection(text: str) -> None:
    _, mina, _ = await opened()
    async with socket(path(mina), mina.headers) as line:
        await until(line, lambda frame: frame["number"] == 1, [])
        await say(line, text)
        async with asyncio.timeout(PATIENCE_S):
            while (message := await line.receive_output(timeout=PATIENCE_S))[
                "type"
            ] == "websocket.send":
                pass
    assert message["code"] == BAD_REQUEST


@pytest.mark.parametrize("language", ["zh-Hans", "zh-Hant", "xx"])
async def test_everybody_reads_the_lesson_in_their_own_language(language: str) -> None:
    _, mina, noah = await opened()
    own, english = f"{path(mina)}&in={language}", f"{path(noah)}&in=en"
    async with socket(own, mina.headers) as line, socket(english, noah.headers) as other:
        mine = await until(line, lambda frame: frame["number"] == 1, [])
        theirs = await until(other, lambda frame: frame["number"] == 1, [])
    assert (mine["step_title"] == theirs["step_title"]) == (language == "xx")


async def turns(n: int) -> None:
    """Let everything else in this event loop go on, so many times."""
    for _ in range(n):
        await asyncio.sleep(0)


@pytest.mark.parametrize("n_turns", range(4))
async def test_the_last_one_may_leave_at_the_moment_news_comes(
    n_turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kviz.classroom.room_hub.RoomHub.pause_s", 0.0)
    lesson, *_ = await opened()
    room = await sync_to_async(lambda: lesson.room)()
    follower = Follower("teacher")
    told = asyncio.Event()

    async def send(_frame: str) -> None:
        told.set()

    pump = asyncio.create_task(follower.pump(send))
    async with asyncio.timeout(PATIENCE_S):
        async with hub_of(room, follower) as hub:
            await told.wait()
            await turns(10)  # the hub waits for news again
            hub.wake()
            await turns(n_turns)
        async with hub_of(room, follower):
            pass
    pump.cancel()


async def test_who_follows_is_sent_off_to_come_back_when_hints_can_be_heard_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Redis went, say. Found while a hub was closed by nothing and told nothing."""
    lesson, *_ = await opened()
    room, follower = await sync_to_async(lambda: lesson.room)(), Follower("teacher")
    lost = asyncio.Event()

    async def receive(_self: object, _channel: str) -> None:
        await lost.wait()
        raise ConnectionError

    monkeypatch.setattr(type(get_channel_layer()), "receive", receive, raising=False)
    async with asyncio.timeout(PATIENCE_S), hub_of(room, follower):
        lost.set()
        await follower.until_ended()
    assert follower.ended_with == SERVER_ERROR


async def test_a_slow_page_holds_one_frame_of_each_kind_and_delays_nobody() -> None:
    slow, quick, taken = Follower("class"), Follower("class"), list[str]()
    stuck = asyncio.Event()

    async def send_slowly(frame: str) -> None:
        taken.append(frame)
        await stuck.wait()

    received: list[str] = []

    async def send(frame: str) -> None:
        received.append(frame)

    pumps = [asyncio.create_task(each) for each in (slow.pump(send_slowly), quick.pump(send))]
    for n in range(1_000):
        for follower in (slow, quick):
            follower.offer("state", f"state {n}")
            follower.offer("pointer", f"pointer {n}")
        await turns(2)
    assert taken == ["state 0"]
    assert slow.outbox == {"pointer": "pointer 999", "state": "state 999"}
    assert received[-2:] == ["state 999", "pointer 999"]
    stuck.set()
    await turns(10)
    assert sorted(taken[1:]) == ["pointer 999", "state 999"]
    for pump in pumps:
        pump.cancel()


async def test_without_guests_a_seat_needs_an_account(settings: Settings) -> None:
    settings.MODE = "server"
    lesson, mina, _ = await opened()
    settings.GUESTS = False
    for browser in (mina, lesson.teacher):
        async with socket(path(browser), browser.headers) as line:
            message = await line.receive_output(timeout=PATIENCE_S)
            assert message == {"type": "websocket.close", "code": NOT_FOUND}


async def test_the_websocket_tells_nobody_whether_there_is_a_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lesson, *_ = await opened()
    monkeypatch.setattr(guessing, "OF_BROWSER", 6)
    eve = await sync_to_async(Browser)("AAAAAA")
    await sync_to_async(eve.get)()
    for code in ("AAAAAA", lesson.teacher.code, "nonsense"):
        for audience in ("class", "teacher"):
            path = f"/ws/class/{code}/?as={audience}"
            async with socket(path, eve.headers) as line:
                message = await line.receive_output(timeout=PATIENCE_S)
            assert message == {"type": "websocket.close", "code": NOT_FOUND}, (code, audience)
    eve.code = lesson.teacher.code
    assert (await sync_to_async(eve.get)()).status_code == 429
