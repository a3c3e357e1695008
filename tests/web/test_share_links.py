"""Share links: listed, expiring, revoked; what they opened says so and shows nothing."""

from __future__ import annotations

import datetime as dt
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from kviz.accounts import members
from kviz.accounts.models import AuditEntry, Role, Workspace
from kviz.accounts.services import person_add, workspace_create
from kviz.runs.models import Run, ShareLink
from kviz.runs.sharing import KEPT_FOR, links_prune, run_share
from tests.web.cast import API, Person, problem

HOUR = dt.timedelta(hours=1)
READS = ("", "cycles/", "cycles/1/detail/", "pods/shop/giant/why/")
PAGES = ("", "/cycles", "/explore", "/cycles.csv", "/pods/shop/giant/why")


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_a_link_that_is_over_says_so_and_shows_nothing(ada: Person, ben: Person, end: str) -> None:
    run = ada.finished()
    link = run_share(run=run, expires_at=timezone.now() + HOUR)
    assert ben.get(f"/runs/{run.pk}/?share={link.token}").status_code == 200
    now = timezone.now()
    ended = {"revoked_at": now} if end == "revoked" else {"expires_at": now}
    ShareLink.objects.filter(pk=link.pk).update(**ended)

    for read in READS:
        assert end in problem(ben.get(f"/runs/{run.pk}/{read}?share={link.token}"), 410)["detail"]
    for page in PAGES:
        answer = ben.client.get(f"/runs/{run.pk}{page}?share={link.token}")
        assert answer.status_code == 410
        assert end.encode() in answer.content
        assert b"giant" not in answer.content.replace(b"/pods/shop/giant/why", b"")
    other = ada.finished()
    problem(ben.get(f"/runs/{other.pk}/?share={link.token}"), 404)


def test_a_script_chooses_when_a_link_expires_and_revokes_it(ada: Person, ben: Person) -> None:
    run = ada.finished()
    one, two = (ada.post(f"/runs/{run.pk}/share/", {"days": 7}).json() for _ in range(2))
    assert one["token"] != two["token"]
    left = dt.datetime.fromisoformat(one["expires_at"]) - timezone.now()
    assert dt.timedelta(days=6, hours=23) < left <= dt.timedelta(days=7)
    problem(ada.post(f"/runs/{run.pk}/share/", {"days": 0}), 400)
    ben.get(f"/runs/{run.pk}/?share={one['token']}")
    ada.get(f"/runs/{run.pk}/?share={two['token']}")

    listed = {each["id"]: each for each in ada.get("/share-links/").json()}
    assert listed[one["id"]]["url"] == one["url"]
    assert listed[one["id"]]["opened_at"] is not None
    assert listed[two["id"]]["opened_at"] is None  # one's own run
    assert ada.delete(f"/share-links/{one['id']}/").status_code == 204
    assert ben.get(f"/runs/{run.pk}/?share={one['token']}").status_code == 410
    assert ben.get(f"/runs/{run.pk}/?share={two['token']}").status_code == 200
    assert ada.delete("/share-links/").status_code == 204
    assert ben.get(f"/runs/{run.pk}/?share={two['token']}").status_code == 410
    assert [each["is_open"] for each in ada.get("/share-links/").json()] == [False, False]


def test_links_of_others_are_neither_listed_nor_revoked(ada: Person, ben: Person) -> None:
    link = run_share(run=ada.finished())
    assert ben.get("/share-links/").json() == []
    problem(ben.delete(f"/share-links/{link.pk}/"), 404)
    assert ben.delete("/share-links/").status_code == 204
    assert ShareLink.objects.open().count() == 1


def test_the_page_lists_links_and_revokes_them(owner: Person) -> None:
    run, browser = owner.finished(), Client()
    assert b"/runs/links" not in browser.get("/runs/").content
    assert browser.post(f"/runs/{run.pk}/share", {"days": "8"}).status_code == 404
    for days in ("7", "30", ""):
        assert browser.post(f"/runs/{run.pk}/share", {"days": days}).status_code == 302
    assert b"/runs/links" in browser.get("/runs/").content
    page = browser.get("/runs/links")
    assert [link.expires_at is None for link, _ in page.context["links"]] == [True, False, False]
    assert page.content.count(b"/revoke") == 4  # and one for all

    browser.post(f"/runs/links/{ShareLink.objects.earliest('pk').pk}/revoke")
    assert ShareLink.objects.open().count() == 2
    browser.post("/runs/links/revoke")
    assert ShareLink.objects.open().count() == 0
    assert browser.get("/runs/links").content.count(b"/revoke") == 0
    assert browser.post("/runs/links/9999/revoke").status_code == 404


@pytest.fixture
def team(db: None, settings: Settings) -> dict[str, Any]:
    """Browsers of a workspace's members by role, and of somebody else; its run and a link."""
    settings.MODE = "server"
    people = {name: person_add(name=name, password="a long password") for name in (*Role, "other")}
    workspace = workspace_create(person=people["owner"], name="Platform")
    for role in (Role.EDITOR, Role.VIEWER):
        members.member_add(workspace=workspace, name=role, role=role)
    browsers: dict[str, Any] = {}
    for name, each in people.items():
        browsers[name] = Client()
        browsers[name].force_login(each)
    run = Run.objects.create(workspace=workspace, status=Run.Status.FINISHED)
    return browsers | {"link": run_share(run=run, made_by=people["owner"]), "run": run}


def test_a_viewer_sees_who_shares_but_cannot_share_on(team: dict[str, Any]) -> None:
    link, viewer = team["link"], team["viewer"]
    (listed,) = viewer.get(f"{API}/share-links/").json()
    assert (listed["made_by"], listed["url"]) == ("owner", None)
    page = viewer.get("/runs/links").content
    assert b"owner" in page
    assert link.token.encode() not in page
    assert b"/revoke" not in page
    for path in (f"/runs/links/{link.pk}/revoke", "/runs/links/revoke"):
        assert viewer.post(path).status_code == 403
    for path in (f"{API}/share-links/{link.pk}/", f"{API}/share-links/"):
        assert viewer.delete(path).status_code == 403
    assert team["other"].post(f"/runs/links/{link.pk}/revoke").status_code == 404
    link.refresh_from_db()
    assert link.is_open


def test_who_made_and_revoked_links_is_in_the_audit_log(team: dict[str, Any]) -> None:
    editor, run = team["editor"], team["run"]
    AuditEntry.objects.all().delete()
    editor.post(f"{API}/runs/{run.pk}/share/", {"days": 3}, content_type="application/json")
    made = ShareLink.objects.latest("pk")
    assert made.made_by is not None
    assert made.made_by.username == "editor"
    editor.post(f"/runs/links/{made.pk}/revoke")
    editor.delete(f"{API}/share-links/")
    entries = AuditEntry.objects.order_by("pk").values_list("who", "what")
    assert list(entries) == [("editor", "share"), ("editor", "unshare"), ("editor", "unshare")]


def test_links_there_were_still_open_their_runs(ada: Person, ben: Person) -> None:
    run = ada.finished()
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, "runs_run")
        if "share_token" not in {each.name for each in columns}:
            cursor.execute("ALTER TABLE runs_run ADD COLUMN share_token varchar(64)")
        cursor.execute("UPDATE runs_run SET share_token = 'from-before'")
    migration = import_module("kviz.runs.migrations.0017_share_links")
    old = _OldApps()
    migration.keep_links(old, connection.schema_editor())
    assert ben.get(f"/runs/{run.pk}/?share=from-before").status_code == 200


class _OldApps:
    """The models as they were when the migration runs: a run has a token."""

    def get_model(self, app: str, name: str) -> Any:
        if name != "Run":
            return apps.get_model(app, name)

        class Rows:
            @staticmethod
            def exclude(**_: str) -> Any:
                return Rows

            @staticmethod
            def values_list(*_: str) -> list[tuple[object, str]]:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT id, share_token FROM runs_run WHERE share_token <> ''")
                    found: list[tuple[object, str]] = cursor.fetchall()
                    return found

        return type("Run", (), {"objects": Rows})


def test_links_that_are_long_over_are_forgotten(ada: Person) -> None:
    run = ada.finished()
    for ago in (dt.timedelta(), KEPT_FOR + HOUR):
        link = run_share(run=run)
        ShareLink.objects.filter(pk=link.pk).update(revoked_at=timezone.now() - ago)
    kept = run_share(run=run)
    assert links_prune() == 1
    assert kept in ShareLink.objects.all()
    assert Workspace.objects.filter(pk=ada.workspace.pk).exists()
