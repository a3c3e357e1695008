"""The audit log: what people did is in it, once; who it is for reads it, nobody changes it."""

from __future__ import annotations

import csv
import datetime as dt
import io

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from kviz.accounts.audit import What, audit_prune, note
from kviz.accounts.models import ApiToken, AuditEntry, Invitation, Membership, Role, Workspace
from kviz.accounts.services import person_add, workspace_create
from kviz.runs.services import run_create
from kviz.snapshots.models import Snapshot
from tests.web.cast import API, NODES
from tests.web.test_saved_runs import body

PASSWORD = "a long enough password"


@pytest.fixture(autouse=True)
def _server(settings: Settings, db: None) -> None:
    settings.MODE = "server"


@pytest.fixture
def team() -> Workspace:
    return workspace_create(person=person_add(name="cleo", password=PASSWORD), name="Platform")


@pytest.fixture
def cleo(team: Workspace) -> Client:
    """An owner's browser."""
    found = Client()
    found.post("/account/sign-in", {"login": "cleo", "password": PASSWORD})
    AuditEntry.objects.all().delete()
    return found


def written() -> list[tuple[str, str]]:
    return [(each.who, each.what) for each in AuditEntry.objects.order_by("pk")]


def test_who_comes_and_goes(team: Workspace) -> None:
    browser = Client()
    browser.post("/account/sign-in", {"login": "cleo", "password": "wrong"})
    browser.post("/account/sign-in", {"login": "my secret password", "password": "oops"})
    browser.post("/account/sign-in", {"login": "cleo", "password": PASSWORD})
    new = "another long password"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    browser.post("/account/password", form)
    browser.post("/account/sign-out")

    assert written() == [
        ("cleo", "sign-in-failed"), ("", "sign-in-failed"), ("cleo", "sign-in"),
        ("cleo", "password"), ("cleo", "sign-out"),
    ]  # fmt: skip


def test_what_is_uploaded_shared_and_deleted(cleo: Client, team: Workspace) -> None:
    cleo.post("/snapshots/new", {"text": ""})
    cleo.post("/snapshots/new", {"text": NODES})
    snapshot = Snapshot.objects.get(workspace=team)
    run = run_create(workspace=team, snapshot=snapshot)
    cleo.get(f"/runs/{run.pk}")
    cleo.post(f"/runs/{run.pk}/share")
    cleo.delete(f"{API}/runs/{run.pk}/share/")
    cleo.post(f"/runs/{run.pk}/delete")
    cleo.post(f"/runs/{run.pk}/delete")
    cleo.delete(f"{API}/snapshots/{snapshot.pk}/")

    whats = [what for _, what in written()]
    assert whats == ["upload", "share", "unshare", "delete", "delete"]
    entries = list(AuditEntry.objects.order_by("pk"))
    assert {each.workspace_id for each in entries} == {team.pk}
    assert str(snapshot.pk) in entries[0].about
    assert entries[-1].about == f"/snapshots/{snapshot.pk}"


def test_a_token_acts_for_its_person(cleo: Client, team: Workspace) -> None:
    asked = {"name": "ci", "scope": "write", "days": "7"}
    token = cleo.post("/account/tokens/", asked).context["token"]
    headers = {"Authorization": f"Bearer {token}"}
    Client().post(f"{API}/snapshots/", NODES, content_type="application/yaml", headers=headers)
    sha256 = ApiToken.objects.get().sha256
    cleo.post(f"/account/tokens/{sha256}/revoke")
    cleo.post(f"/account/tokens/{sha256}/revoke")

    assert written() == [("cleo", "token"), ("cleo", "upload"), ("cleo", "revoke")]
    assert token not in str(list(AuditEntry.objects.values()))


def test_who_the_members_are(cleo: Client, team: Workspace) -> None:
    at = f"/account/workspaces/{team.pk}"
    person_add(name="nina", password=PASSWORD)
    cleo.post(at, {"name": "Renamed"})
    cleo.post(f"{at}/members", {"name": "ghost", "role": "viewer"})
    cleo.post(f"{at}/members", {"name": "nina", "role": "viewer"})
    nina, own = Membership.objects.get(person__username="nina"), Membership.objects.first()
    assert own is not None
    cleo.post(f"{at}/members/{nina.pk}/role", {"role": "editor"})
    cleo.post(f"{at}/members/{nina.pk}/remove")
    cleo.post(f"{at}/members/{own.pk}/remove")
    cleo.post(f"{at}/invitations", {"role": "viewer"})
    cleo.post(f"{at}/invitations/{Invitation.objects.get().pk}/withdraw")

    assert [(each.what, each.about) for each in AuditEntry.objects.order_by("pk")][:5] == [
        ("workspace", "Renamed"), ("member", "nina: viewer"), ("member", "nina: editor"),
        ("member", "nina: -"), ("invite", "viewer"),
    ]  # fmt: skip
    assert AuditEntry.objects.count() == 6


def state(team: Workspace) -> list[object]:
    """Who is in the workspace, as what; its name, links and tokens."""
    team.refresh_from_db()
    roles = Membership.objects.order_by("pk").values_list("workspace", "person", "role")
    tokens = ApiToken.objects.order_by("pk").values_list("pk", flat=True)
    return [team.name, list(roles), Invitation.objects.count(), list(tokens)]


def test_a_change_and_its_entry_are_one(
    cleo: Client, team: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log cannot be written: nothing is changed either, at any address of accounts."""
    cleo.raise_request_exception = False
    at = f"/account/workspaces/{team.pk}"
    for name in ("nina", "omar"):
        person_add(name=name, password=PASSWORD)
    cleo.post(f"{at}/members", {"name": "nina", "role": "viewer"})
    cleo.post(f"{at}/invitations", {"role": "viewer"})
    cleo.post("/account/tokens/", {"name": "ci", "scope": "write", "days": "7"})
    nina, link = Membership.objects.get(person__username="nina"), Invitation.objects.get()
    token = ApiToken.objects.get().pk
    asked: dict[str, dict[str, str]] = {
        at: {"name": "Renamed"},
        "/account/workspaces/": {"name": "Another"},
        f"{at}/members": {"name": "omar", "role": "viewer"},
        f"{at}/members/{nina.pk}/role": {"role": "editor"},
        f"{at}/invitations": {"role": "editor"},
        f"{at}/invitations/{link.pk}/withdraw": {},
        "/account/tokens/": {"name": "more", "scope": "read", "days": "7"},
        f"/account/tokens/{token}/revoke": {},
        f"{at}/members/{nina.pk}/remove": {},
    }

    def refuse(*_: object, **__: object) -> None:
        raise DatabaseError("no room")

    with monkeypatch.context() as broken:
        broken.setattr(AuditEntry, "save", refuse)
        for path, form in asked.items():
            before = state(team)
            assert cleo.post(path, form).status_code >= 500, path
            assert state(team) == before, path
    for path, form in asked.items():
        before = state(team)
        assert cleo.post(path, form).status_code < 400, path
        assert state(team) != before, path


def test_guests_and_local_mode_leave_no_entries(settings: Settings) -> None:
    for settings.MODE in ("server", "local"):
        Client().post("/snapshots/new", {"text": NODES})
    assert Snapshot.objects.filter(is_sample=False).count() == 2
    assert written() == []


@pytest.mark.parametrize("role", Role.values)
def test_owners_read_their_workspaces_log_and_administrators_all(
    cleo: Client, team: Workspace, role: str
) -> None:
    person = person_add(name="nina", password=PASSWORD)
    Membership.objects.create(workspace=team, person=person, role=role)
    note(What.SHARE, who="cleo", workspace=team.pk, about="=cmd()")
    note(What.SIGN_IN, who="somebody else")
    nina = Client()
    nina.force_login(person)
    at, whole = f"/account/workspaces/{team.pk}/log", "/account/log"

    expected = 200 if role == Role.OWNER else 403
    assert nina.get(at).status_code == nina.get(f"{at}.csv").status_code == expected
    assert nina.get(whole).status_code == nina.get(f"{whole}.csv").status_code == 403
    assert b"somebody else" not in cleo.get(at).content
    User.objects.filter(pk=person.pk).update(is_staff=True)
    assert b"somebody else" in nina.get(whole).content
    text = body(nina.get(f"{whole}.csv")).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    shared = [row for row in rows if row["what"] == "share"]
    assert [(row["who"], row["about"]) for row in shared] == [("cleo", "'=cmd()")]
    stranger = Client()
    stranger.force_login(person_add(name="stranger", password=PASSWORD))
    assert stranger.get(at).status_code == stranger.get(f"{at}.csv").status_code == 404


def test_an_entry_is_added_and_not_changed() -> None:
    entry = note(What.SIGN_IN, who="cleo")
    entry.who = "nobody"
    with pytest.raises(TypeError):
        entry.save()
    assert written() == [("cleo", "sign-in")]


def test_old_entries_go(settings: Settings) -> None:
    settings.AUDIT_DAYS = 30
    for days in (10, 40):
        entry = note(What.SIGN_IN, who=f"{days} days ago")
        AuditEntry.objects.filter(pk=entry.pk).update(at=F("at") - dt.timedelta(days=days))
    assert audit_prune() == 1
    assert written() == [("10 days ago", "sign-in")]
