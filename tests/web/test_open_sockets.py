"""Sockets that were let in are closed once they would not be let in any more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from kviz.accounts import members
from kviz.accounts.models import ApiToken, Membership, Role
from kviz.accounts.services import person_add, token_create, workspace_create
from kviz.live import access_watch
from kviz.live.consumers import NOT_FOUND
from kviz.runs.models import ShareLink
from kviz.runs.sharing import links_revoke, run_share
from tests.web.cast import Person
from tests.web.test_live import Headers, follow, next_frame, path, socket

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "a long enough password"
ORIGIN = (b"origin", b"http://testserver")


@pytest.fixture(autouse=True)
def _often(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MODE = "server"
    monkeypatch.setattr(access_watch, "ASK_AGAIN_S", 0.05)


def signed_in(person: User) -> Headers:
    browser = Client()
    browser.force_login(person)
    return [ORIGIN, (b"cookie", f"kviz_session={browser.session.session_key}".encode())]


class Team:
    """A workspace with a run, its editor's browser and token, and a link."""

    def __init__(self) -> None:
        owner = person_add(name="olga", password=PASSWORD)
        self.editor = person_add(name="eddie", password=PASSWORD)
        self.workspace = workspace_create(person=owner, name="Platform")
        members.member_add(workspace=self.workspace, name="eddie", role=Role.EDITOR)
        self.run = Person(self.workspace, token_create(workspace=self.workspace)).finished()
        self.browser = signed_in(self.editor)
        token = token_create(workspace=self.workspace, person=self.editor, days=7)
        self.script: Headers = [(b"authorization", f"Bearer {token}".encode())]
        self.link = run_share(run=self.run)


def let_go(team: Team) -> None:
    Membership.objects.filter(person=team.editor).delete()


def close_account(team: Team) -> None:
    User.objects.filter(pk=team.editor.pk).update(is_active=False)


def end_session(team: Team) -> None:
    Session.objects.all().delete()


def revoke_token(team: Team) -> None:
    ApiToken.objects.filter(person=team.editor).delete()


def expire_token(team: Team) -> None:
    ApiToken.objects.filter(person=team.editor).update(expires_at=timezone.now())


def revoke_links(team: Team) -> None:
    links_revoke(workspace=team.workspace)


def expire_link(team: Team) -> None:
    ShareLink.objects.update(expires_at=timezone.now())


@pytest.mark.parametrize(
    ("shown", "ended"),
    [
        ("browser", let_go), ("browser", close_account), ("browser", end_session),
        ("script", let_go), ("script", close_account), ("script", revoke_token),
        ("script", expire_token), ("link", revoke_links), ("link", expire_link),
    ],
)  # fmt: skip
async def test_a_socket_is_closed_when_its_right_ends(
    shown: str, ended: Callable[[Team], None]
) -> None:
    team = await sync_to_async(Team)()
    headers = [ORIGIN] if shown == "link" else getattr(team, shown)
    more = f"&share={team.link.token}" if shown == "link" else ""
    async with socket(path(team.run, more=more), headers) as communicator:
        await follow(communicator, until="finished")
        await sync_to_async(ended)(team)
        assert await next_frame(communicator) == NOT_FOUND


async def test_who_may_stay_stays() -> None:
    team = await sync_to_async(Team)()
    async with (
        socket(path(team.run), team.browser) as stays,
        socket(path(team.run), team.script) as goes,
    ):
        for each in (stays, goes):
            await follow(each, until="finished")
        await sync_to_async(revoke_token)(team)
        assert await next_frame(goes) == NOT_FOUND
        assert await stays.receive_nothing(0.3)  # type: ignore[no-untyped-call]
