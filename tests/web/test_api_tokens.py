"""Tokens that people make for their scripts: never more than the person may, and not for ever."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from kviz.accounts.models import ApiToken, Membership, Role, Workspace
from kviz.accounts.services import person_add, person_close, workspace_create
from tests.web.cast import API, NODES, problem

TOKENS = "/account/tokens/"


@pytest.fixture(autouse=True)
def _server(settings: Settings, db: None) -> None:
    settings.MODE = "server"


@pytest.fixture
def cleo() -> User:
    return person_add(name="cleo", password="a long enough password")


@pytest.fixture
def mine(cleo: User) -> Client:
    """Cleo's browser."""
    workspace_create(person=cleo, name="Platform")
    found = Client()
    found.force_login(cleo)
    return found


def made(mine: Client, **more: str) -> str:
    page = mine.post(TOKENS, {"name": "ci", "scope": "write", "days": "30", **more})
    assert page.status_code == 200
    return str(page.context["token"])


def listed(token: str) -> Any:
    return Client().get(f"{API}/snapshots/", headers={"Authorization": f"Bearer {token}"})


def uploaded(token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    upload = f"{API}/snapshots/"
    return Client().post(upload, NODES, content_type="application/yaml", headers=headers)


def test_reading_with_a_token_writes_once_an_hour(mine: Client) -> None:
    token = made(mine)
    assert listed(token).status_code == 200
    with CaptureQueriesContext(connection) as queries:
        assert listed(token).status_code == 200
    assert [each["sql"] for each in queries if each["sql"].startswith("UPDATE")] == []


def test_a_token_is_shown_once_and_works_where_it_was_made(cleo: User, mine: Client) -> None:
    token = made(mine)
    assert uploaded(token).status_code == 201
    assert len(mine.get("/snapshots/").context["page"]) == 1

    page = mine.get(TOKENS).content.decode()
    assert token not in page
    assert token not in str(list(ApiToken.objects.values()))
    another = workspace_create(person=cleo, name="Another")
    mine.post(f"/account/workspaces/{another.pk}/use")
    assert mine.get("/snapshots/").context["page"].paginator.count == 0
    assert listed(token).json()[0]["id"]


def test_one_that_reads_changes_nothing(mine: Client) -> None:
    token = made(mine, scope="read")
    assert listed(token).status_code == 200
    assert problem(uploaded(token), 403)["detail"] == "This token only reads."


def test_it_may_do_what_its_person_may_now(cleo: User, mine: Client) -> None:
    token = made(mine)
    membership = Membership.objects.get(person=cleo)

    Membership.objects.update(role=Role.VIEWER)
    assert listed(token).status_code == 200
    problem(uploaded(token), 403)
    person_close(person=cleo, is_closed=True)
    problem(listed(token), 401)
    person_close(person=cleo, is_closed=False)
    assert listed(token).status_code == 200
    membership.delete()
    problem(listed(token), 401)
    assert Workspace.objects.filter(name="Platform").exists()


def test_it_ends(mine: Client) -> None:
    token = made(mine, days="7")
    week = dt.timedelta(days=7)
    expires = ApiToken.objects.get().expires_at
    assert expires is not None
    assert abs(expires - timezone.now() - week) < dt.timedelta(minutes=5)

    ApiToken.objects.update(expires_at=timezone.now())

    problem(listed(token), 401)


def test_one_revokes_ones_own(mine: Client) -> None:
    token = made(mine)
    sha256 = ApiToken.objects.get().sha256
    thief = Client()
    thief.force_login(person_add(name="thief", password="a long enough password"))

    thief.post(f"{TOKENS}{sha256}/revoke")
    assert listed(token).status_code == 200
    assert f"{sha256}/revoke" not in thief.get(TOKENS).content.decode()

    mine.post(f"{TOKENS}{sha256}/revoke")
    problem(listed(token), 401)


def test_the_list_says_when_it_was_last_used(mine: Client) -> None:
    token = made(mine)
    assert "never" in mine.get(TOKENS).content.decode()
    listed(token)
    used = ApiToken.objects.get().last_used_at
    assert used is not None
    assert f"{used:%Y-%m-%d %H:%M}" in mine.get(TOKENS).content.decode()
    listed(token)
    assert ApiToken.objects.get().last_used_at == used


@pytest.mark.parametrize("more", [{"days": "100000"}, {"days": "0"}, {"scope": "all"}])
def test_nothing_is_made_that_the_form_does_not_offer(mine: Client, more: dict[str, str]) -> None:
    asked = {"name": "ci", "scope": "write", "days": "30", **more}
    assert mine.post(TOKENS, asked).status_code == 404
    assert ApiToken.objects.count() == 0


def test_a_viewer_makes_tokens_that_read(cleo: User, mine: Client) -> None:
    Membership.objects.update(role=Role.VIEWER)
    problem(uploaded(made(mine)), 403)
