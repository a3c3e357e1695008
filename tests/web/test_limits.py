"""What a signed-in person, or a workspace, may have no more of; and how they make room."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from kviz.accounts import members
from kviz.accounts.models import ApiToken, AuditEntry, Invitation, Membership, Role, Workspace
from kviz.accounts.services import person_add, token_create, workspace_create
from kviz.runs.models import ShareLink
from kviz.runs.sharing import run_share
from tests.web.cast import Person, problem

PASSWORD = "a long enough password"
WORKSPACES, TOKENS = "/account/workspaces/", "/account/tokens/"


@pytest.fixture(autouse=True)
def _server(settings: Settings, db: None) -> None:
    settings.MODE = "server"
    settings.MAX_WORKSPACES = settings.MAX_TOKENS = 2
    settings.MAX_INVITATIONS = settings.MAX_SHARE_LINKS = 2


@pytest.fixture
def cleo() -> User:
    return person_add(name="cleo", password=PASSWORD)


@pytest.fixture
def platform(cleo: User) -> Workspace:
    return workspace_create(person=cleo, name="Platform")


def browser_of(person: User) -> Client:
    found = Client(raise_request_exception=False)
    found.force_login(person)
    return found


def refused(answer: Any, *words: str) -> None:
    assert answer.status_code == 429
    assert answer.headers["Retry-After"]
    for each in words:
        assert each in answer.content.decode()


def test_workspaces_of_a_person(cleo: User, platform: Workspace) -> None:
    mine = browser_of(cleo)
    assert mine.post(WORKSPACES, {"name": "Second"}).status_code == 302

    refused(mine.post(WORKSPACES, {"name": "Third"}), "You own 2 workspaces", "Another workspace")
    assert Workspace.objects.count() == 2
    second = Workspace.objects.get(name="Second")
    gone = mine.post(f"{WORKSPACES}{second.pk}/delete")
    assert (gone.status_code, Workspace.objects.count()) == (302, 1)
    assert AuditEntry.objects.filter(what="delete", about="workspace Second").count() == 1
    assert mine.post(WORKSPACES, {"name": "Third"}).status_code == 302


def test_a_workspace_with_work_in_it_is_not_deleted(cleo: User, platform: Workspace) -> None:
    Person(platform, token_create(workspace=platform)).snapshot()
    mine = browser_of(cleo)
    page = mine.post(f"{WORKSPACES}{platform.pk}/delete", follow=True)
    assert "Delete its clusters, runs and experiments first." in page.content.decode()
    assert Workspace.objects.filter(pk=platform.pk).exists()

    platform.snapshots.get().delete()
    mine.post(f"{WORKSPACES}{platform.pk}/delete")
    assert not Workspace.objects.filter(pk=platform.pk).exists()
    assert mine.get(WORKSPACES).status_code == 200  # where one works is gone; there is another


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_only_owners_delete_a_workspace(cleo: User, platform: Workspace, role: Role) -> None:
    mara = person_add(name="mara", password=PASSWORD)
    members.member_add(workspace=platform, name="mara", role=role)
    assert browser_of(mara).post(f"{WORKSPACES}{platform.pk}/delete").status_code == 403
    assert Workspace.objects.filter(pk=platform.pk).exists()


def test_nobody_is_made_an_owner_of_more_than_one_may_own(cleo: User, platform: Workspace) -> None:
    mara = person_add(name="mara", password=PASSWORD)
    for name in ("One", "Two"):
        workspace_create(person=mara, name=name)
    mine, path = browser_of(cleo), f"{WORKSPACES}{platform.pk}/members"
    page = mine.post(path, {"name": "mara", "role": "owner"}, follow=True).content.decode()
    assert "mara already owns the maximum number of workspaces. Choose another role." in page

    mine.post(path, {"name": "mara", "role": "editor"})
    joined = Membership.objects.get(workspace=platform, person=mara)
    mine.post(f"{path}/{joined.pk}/role", {"role": "owner"})
    assert Membership.objects.get(pk=joined.pk).role == Role.EDITOR
    joined.delete()
    token = members.invitation_create(workspace=platform, role=Role.OWNER, made_by=cleo)
    refused(browser_of(mara).post(f"/account/join/{token}"), "Choose another role.")
    assert not Membership.objects.filter(workspace=platform, person=mara).exists()
    own = browser_of(cleo).post(f"/account/join/{token}")  # who is an owner stays one
    assert own.status_code == 302


def test_who_signs_in_with_all_workspaces_leaves_a_guests_behind(
    cleo: User, platform: Workspace
) -> None:
    workspace_create(person=cleo, name="Second")
    guest = Client()
    guest.post("/snapshots/new", {"text": "apiVersion: v1\nkind: Node\nmetadata: {name: n}"})
    left = Workspace.objects.get(kind="guest")

    page = guest.post(
        "/account/sign-in", {"login": "cleo", "password": PASSWORD}, follow=True
    ).content.decode()

    assert "Your guest work was not moved" in page
    left.refresh_from_db()
    assert left.kind == Workspace.Kind.GUEST
    assert Membership.objects.filter(person=cleo).count() == 2


def test_tokens_of_a_person(cleo: User, platform: Workspace) -> None:
    mine, asked = browser_of(cleo), {"name": "ci", "scope": "read", "days": "7"}
    for _ in range(2):
        assert mine.post(TOKENS, asked).context["token"]

    page = mine.post(TOKENS, asked)
    refused(page, "You have 2 tokens", "Revoke one first")
    assert (page.context["token"], AuditEntry.objects.filter(what="token").count()) == ("", 2)
    mine.post(f"{TOKENS}{ApiToken.objects.first().pk}/revoke")  # type: ignore[union-attr]
    assert mine.post(TOKENS, asked).context["token"]


def test_links_that_invite(cleo: User, platform: Workspace) -> None:
    mine, path = browser_of(cleo), f"{WORKSPACES}{platform.pk}/invitations"
    for _ in range(2):
        assert mine.post(path, {"role": "viewer"}).context["link"]

    refused(mine.post(path, {"role": "viewer"}), "2 links invite", "Withdraw one first")
    Invitation.objects.filter(pk=Invitation.objects.values("pk")[:1]).update(
        expires_at=timezone.now() - dt.timedelta(seconds=1)
    )
    assert mine.post(path, {"role": "viewer"}).context["link"]
    assert Invitation.objects.count() == 2  # those that have expired are gone


def test_links_that_share(cleo: User, platform: Workspace, ben: Person) -> None:
    api = Person(platform, token_create(workspace=platform))
    run = api.finished()
    first, _ = (api.post(f"/runs/{run.pk}/share/", {"days": 7}).json() for _ in range(2))

    why = problem(api.post(f"/runs/{run.pk}/share/", {"days": 7}), 429)
    assert "Revoke one first" in why["detail"]
    mine = browser_of(cleo)
    refused(mine.post(f"/runs/{run.pk}/share", {"days": "7"}), "2 links open runs")
    assert AuditEntry.objects.filter(what="share").count() == 0
    assert run_share(run=ben.finished())  # another workspace
    api.delete(f"/share-links/{first['id']}/")
    assert api.post(f"/runs/{run.pk}/share/", {"days": 7}).status_code == 200


def test_links_that_were_revoked_do_not_pile_up(platform: Workspace) -> None:
    api = Person(platform, token_create(workspace=platform))
    run = api.finished()
    made = []
    for _ in range(6):
        made.append(api.post(f"/runs/{run.pk}/share/", {"days": 7}).json()["id"])
        api.delete(f"/share-links/{made[-1]}/")
    assert set(ShareLink.objects.values_list("pk", flat=True)) == {*made[-2:]}
