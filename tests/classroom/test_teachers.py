"""A teacher leads as long as they may change the workspace of the class, and no longer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from kviz.accounts import members
from kviz.accounts.models import Membership, Role
from kviz.accounts.services import person_add, workspace_create
from kviz.classroom.models import Room
from kviz.classroom.selectors import IDLE_AFTER
from kviz.classroom.sockets import NOT_FOUND
from kviz.live import access_watch
from tests.classroom.people import Browser, Lesson, open_lesson
from tests.classroom.test_class_socket import path
from tests.waiting import PATIENCE_S
from tests.web.test_live import socket

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "a long enough password"


def lesson_of_an_editor() -> Lesson:
    olga, eddie = (person_add(name=name, password=PASSWORD) for name in ("olga", "eddie"))
    workspace = workspace_create(person=olga, name="School")
    members.member_add(workspace=workspace, name="eddie", role=Role.EDITOR)
    client = Client(raise_request_exception=False)
    client.force_login(eddie)
    client.post(f"/account/workspaces/{workspace.pk}/use")
    return open_lesson(client=client)


def let_go() -> None:
    Membership.objects.filter(person__username="eddie").delete()


def only_read() -> None:
    Membership.objects.filter(person__username="eddie").update(role=Role.VIEWER)


def close_account() -> None:
    User.objects.filter(username="eddie").update(is_active=False)


def end_session() -> None:
    Session.objects.all().delete()


ENDS = pytest.mark.parametrize("ended", [let_go, only_read, close_account, end_session])


@ENDS
def test_who_may_not_change_the_workspace_leads_no_longer(ended: Callable[[], None]) -> None:
    lesson = lesson_of_an_editor()
    assert lesson.teacher.get("lead").status_code == 200

    ended()

    assert lesson.teacher.say("reveal").status_code == 403
    assert lesson.teacher.get("lead").status_code == 404
    assert lesson.teacher.client.post(f"/class/{lesson.teacher.code}/end").status_code == 404
    assert lesson.room.closed_at is None


def test_another_editor_finds_the_class_and_leads_or_ends_it() -> None:
    lesson = lesson_of_an_editor()
    olga = Client(raise_request_exception=False)
    olga.force_login(User.objects.get(username="olga"))
    olga.post(f"/account/workspaces/{lesson.room.workspace_id}/use")
    take = f"/class/take/{lesson.room.pk}"
    assert take in olga.get("/class/open/").content.decode()
    assert olga.post(take).headers["Location"] == f"/class/{lesson.teacher.code}/lead"
    assert Browser(lesson.teacher.code, olga).get("lead").status_code == 200

    olga.post(take, {"do": "end"})

    assert lesson.room.closed_at is not None
    assert olga.post(take).status_code == 404


def test_nobody_takes_a_class_of_another_workspace_or_as_a_viewer() -> None:
    lesson = lesson_of_an_editor()
    take = f"/class/take/{lesson.room.pk}"
    stranger = Client(raise_request_exception=False)
    stranger.force_login(person_add(name="sam", password=PASSWORD))
    assert stranger.post(take, {"do": "end"}).status_code == 404
    only_read()
    assert lesson.teacher.client.post(take, {"do": "end"}).status_code in (403, 404)
    assert lesson.room.closed_at is None


def test_who_works_elsewhere_meanwhile_goes_on_leading() -> None:
    lesson = lesson_of_an_editor()
    lesson.teacher.client.post("/account/workspaces/", {"name": "Elsewhere"})
    lesson.lead("black")


async def closed_with(browser: Browser, audience: str, ended: Callable[[], None]) -> int:
    """The code with which a socket is closed after something ended."""
    async with socket(path(browser, audience), browser.headers) as communicator:
        line: Any = communicator
        first = await line.receive_output(timeout=PATIENCE_S)
        assert first["type"] == "websocket.send", first
        await sync_to_async(ended)()
        while (message := await line.receive_output(timeout=PATIENCE_S))["type"] != (
            "websocket.close"
        ):
            pass
        return int(message["code"])


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_watch, "ASK_AGAIN_S", 0.05)


@ENDS
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("audience", ["teacher", "screen"])
async def test_their_pages_are_cut_off(ended: Callable[[], None], audience: str) -> None:
    lesson = await sync_to_async(lesson_of_an_editor)()
    assert await closed_with(lesson.teacher, audience, ended) == NOT_FOUND


@pytest.mark.usefixtures("often")
async def test_where_all_have_accounts_a_closed_one_is_cut_off_from_the_class(
    settings: Settings,
) -> None:
    settings.GUESTS = False
    lesson = await sync_to_async(lesson_of_an_editor)()
    mina = Browser(lesson.teacher.code)

    def come() -> None:
        mina.client.force_login(person_add(name="mina", password=PASSWORD))
        mina.client.post(f"/class/{mina.code}/join", {"name": "Mina"})

    def close() -> None:
        User.objects.filter(username="mina").update(is_active=False)

    await sync_to_async(come)()
    assert await closed_with(mina, "class", close) == NOT_FOUND


def test_idle_classes_are_offered_to_be_ended(lesson: Lesson) -> None:
    teacher = lesson.teacher.client
    assert "End idle classes" not in teacher.get("/class/open/").content.decode()
    Room.objects.update(changed_at=timezone.now() - IDLE_AFTER)
    assert "In one class nobody is in" in teacher.get("/class/open/").content.decode()
    teacher.post("/class/idle/end")
    assert lesson.room.closed_at is not None


def test_who_wants_in_sees_one_field_and_no_menu(lesson: Lesson) -> None:
    for door in ("/class/", f"/class/{lesson.teacher.code}/"):
        text = Client().get(door).content.decode()
        assert text.count("<input") - text.count('type="hidden"') == 1
        assert "masthead" not in text
