"""What administrators of a server see and do: people, workspaces, everybody's tokens."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from kviz.accounts import members
from kviz.accounts.models import ApiToken, AuditEntry, Role, Workspace
from kviz.accounts.selectors import token_sha256
from kviz.accounts.services import (
    local_workspace_ensure,
    person_add,
    token_create,
    workspace_create,
)
from tests.web.cast import API, NODES, Person, problem

PASSWORD = "a long enough password"
PEOPLE = "/account/people"
PAGES = (PEOPLE, "/account/usage", "/account/all-tokens", "/account/log", "/account/log.csv")


@pytest.fixture(autouse=True)
def _server(settings: Settings, db: None) -> None:
    settings.MODE = "server"


def browser_of(person: User) -> Client:
    found = Client(raise_request_exception=False)
    found.force_login(person)
    return found


@pytest.fixture
def ada() -> User:
    return person_add(name="ada", password=PASSWORD, is_admin=True)


@pytest.fixture
def admin(ada: User) -> Client:
    found = browser_of(ada)
    AuditEntry.objects.all().delete()
    return found


@pytest.fixture
def ben() -> User:
    return person_add(name="ben", password=PASSWORD, email="ben@team.example")


def said(answer: Any) -> str:
    """What a form says on the page that follows."""
    return " ".join(str(each) for each in answer.context["messages"])


def noted() -> list[tuple[str, str, str]]:
    return [(each.who, each.what, each.about) for each in AuditEntry.objects.order_by("pk")]


@pytest.mark.parametrize("role", [*Role.values, "guest"])
def test_only_administrators_come_here(ada: User, ben: User, role: str) -> None:
    token_create(workspace=workspace_create(person=ada, name="Platform"), person=ada, days=7)
    sha256 = ApiToken.objects.get().pk
    posts = (PEOPLE, f"{PEOPLE}/password", f"{PEOPLE}/{ada.pk}/close", f"{PEOPLE}/{ada.pk}/open")
    browser = Client()
    if role != "guest":
        browser = browser_of(ben)
        workspace = workspace_create(person=ada, name="Team")
        members.member_add(workspace=workspace, name="ben", role=Role(role))
    refused = {
        *(browser.get(path).status_code for path in PAGES),
        *(
            browser.post(path, {"name": "ben", "password": PASSWORD, "admin": "yes"}).status_code
            for path in (*posts, f"/account/all-tokens/{sha256}/revoke")
        ),
    }
    assert refused == ({302} if role == "guest" else {403})
    assert User.objects.filter(is_active=True).count() == 2
    assert ApiToken.objects.count() == 1


def test_local_mode_has_none_of_it(admin: Client, settings: Settings) -> None:
    settings.MODE = "local"
    assert {admin.get(path).status_code for path in PAGES} == {404}


def test_the_menu_leads_there(admin: Client, ben: User) -> None:
    assert f'href="{PEOPLE}"' in admin.get("/").content.decode()
    assert f'href="{PEOPLE}"' not in browser_of(ben).get("/").content.decode()
    page = admin.get(PEOPLE).content.decode()
    assert all(f'href="{path}"' in page for path in PAGES[:4])


def test_an_account_is_made_and_signs_in(admin: Client) -> None:
    asked = {"name": "nina", "password": PASSWORD}
    assert admin.post(PEOPLE, asked).status_code == 302
    assert "12 characters" in said(
        admin.post(PEOPLE, {"name": "x", "password": "short"}, follow=True)
    )
    assert "already exists" in said(admin.post(PEOPLE, asked, follow=True))
    assert "can sign in" in said(
        admin.post(PEOPLE, {"name": "olaf", "password": PASSWORD, "admin": "yes"}, follow=True)
    )

    answer = Client().post("/account/sign-in", {"login": "nina", "password": PASSWORD})
    assert answer.status_code == 302
    assert [(each.username, each.is_staff) for each in User.objects.order_by("pk")] == [
        ("ada", True), ("nina", False), ("olaf", True),
    ]  # fmt: skip
    assert noted()[:2] == [
        ("ada", "account", "nina: made"),
        ("ada", "account", "administrator olaf: made"),
    ]


def test_a_closed_account_is_refused_until_it_is_open_again(
    admin: Client, ada: User, ben: User
) -> None:
    theirs = browser_of(ben)
    token = token_create(workspace=workspace_create(person=ben, name="B"), person=ben, days=7)
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get(f"{API}/runs/", headers=headers).status_code == 200

    admin.post(f"{PEOPLE}/{ben.pk}/close")
    assert "</span>ben" not in theirs.get("/").content.decode()
    problem(Client().get(f"{API}/runs/", headers=headers), 401)
    assert "closed" in admin.get(PEOPLE).content.decode()

    admin.post(f"{PEOPLE}/{ben.pk}/open")
    assert Client().get(f"{API}/runs/", headers=headers).status_code == 200
    page = admin.post(f"{PEOPLE}/{ada.pk}/close", follow=True)
    assert "Another administrator" in said(page)
    assert User.objects.get(pk=ada.pk).is_active
    assert admin.post(f"{PEOPLE}/9999/close").status_code == 404
    assert noted()[1:] == [("ada", "account", "ben: closed"), ("ada", "account", "ben: open")]


def test_a_forgotten_password_is_set(admin: Client, ben: User) -> None:
    theirs, new = browser_of(ben), "another long password"
    at = f"{PEOPLE}/password"
    for name, password, answer in (
        ("ghost", new, "Nobody here"), ("ben", "short", "12 characters"), ("ben", new, "another"),
    ):  # fmt: skip
        assert answer in said(admin.post(at, {"name": name, "password": password}, follow=True))
    assert "</span>ben" not in theirs.get("/").content.decode()
    signed_in = Client().post("/account/sign-in", {"login": "ben", "password": new})
    assert signed_in.status_code == 302
    ben.set_unusable_password()
    ben.save()
    page = admin.post(at, {"name": "ben", "password": PASSWORD}, follow=True)
    assert "OpenID" in said(page)
    assert new not in str(noted())


def test_people_are_found_by_name_and_address(admin: Client, ben: User) -> None:
    def found(sought: str) -> list[str]:
        return [each.username for each in admin.get(PEOPLE, {"q": sought}).context["people"]]

    assert found("") == ["ada", "ben"]
    assert found("TEAM.example") == found("be") == ["ben"]
    assert found("nobody") == []


def test_what_is_used_is_counted(admin: Client, ada: User, ben: User) -> None:
    team = workspace_create(person=ada, name="Platform")
    members.member_add(workspace=team, name="ben", role=Role.VIEWER)
    who = Person(team, token_create(workspace=team))
    for _ in range(2):
        who.queued(NODES)
    guest = Client()
    guest.post(f"{API}/snapshots/", NODES, content_type="application/yaml")

    page = admin.get("/account/usage")

    row = page.context["workspaces"][0]
    assert (row.name, row.n_members, row.n_snapshots, row.n_runs) == ("Platform", 2, 2, 2)
    assert [each.person.username for each in row.owners] == ["ada"]
    used = page.context["used"]
    assert (used["people"], used["guests"], used["snapshots"], used["runs"]) == (2, 1, 3, 2)
    assert page.context["n_bytes"] > 0


def test_counting_costs_no_more_queries_for_more_workspaces(admin: Client, ada: User) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert admin.get("/account/usage").status_code == 200
        return len(queries)

    workspace_create(person=ada, name="first")
    few = n_queries()
    for n in range(10):
        workspace_create(person=ada, name=f"W{n}")
    assert n_queries() == few


def test_anybodys_token_is_revoked(admin: Client, ben: User) -> None:
    of_ben = token_create(
        workspace=workspace_create(person=ben, name="B"), person=ben, name="ci", days=7
    )
    of_server = token_create(workspace=local_workspace_ensure())
    page = admin.get("/account/all-tokens")
    assert of_ben not in page.content.decode()
    assert {each.workspace.kind for each in page.context["tokens"]} == {"members", "local"}

    for token in page.context["tokens"]:
        admin.post(f"/account/all-tokens/{token.sha256}/revoke")

    for text in (of_ben, of_server):
        problem(Client().get(f"{API}/runs/", headers={"Authorization": f"Bearer {text}"}), 401)
    [server, ben_s] = [entry[2] for entry in noted()]
    assert server == f"token of kviz token: {token_sha256(of_server)[:12]}"
    assert ben_s == "token of ben: ci"
    assert admin.post("/account/all-tokens/x/revoke").status_code == 404


def test_names_are_text(admin: Client, ada: User) -> None:
    name = "<script>alert(1)</script>"
    workspace = workspace_create(person=ada, name=name)
    token_create(workspace=workspace, person=ada, name=name, days=7)
    for path in PAGES[:4]:
        assert name not in admin.get(path).content.decode()
    assert Workspace.objects.get(name=name)
