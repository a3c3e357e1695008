"""Who may see what: workspaces, share tokens, samples, guests."""

from __future__ import annotations

import datetime as dt

import pytest
from django.contrib.sessions.models import Session
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from kviz.accounts.models import ApiToken, Workspace
from kviz.accounts.services import (
    guests_prune,
    local_token_ensure,
    local_workspace_ensure,
    token_create,
)
from kviz.runs.sharing import run_share
from kviz.snapshots.models import Snapshot
from kviz.snapshots.services import samples_load, snapshot_share
from tests.web.cast import API, NODES, Person, problem
from tests.web.test_hidden_cycles import addresses

DAY = dt.timedelta(days=1)


def test_a_link_made_over_rest_opens_the_run_for_reading(ada: Person, ben: Person) -> None:
    run = ada.finished()
    share = ada.post(f"/runs/{run.pk}/share/", {}).json()
    assert ada.post(f"/runs/{run.pk}/share/", {}).json() == share
    assert share["url"].endswith(f"/runs/{run.pk}?share={share['token']}")
    assert ben.get(f"/runs/{run.pk}/?share={share['token']}").status_code == 200
    problem(ben.post(f"/runs/{run.pk}/share/?share={share['token']}", {}), 403)
    problem(ben.post(f"/runs/{run.pk}/share/", {}), 404)


LISTS = ("runs", "snapshots", "experiments", "sessions", "share-links")


def test_what_is_adas_is_in_no_list_of_bens_and_cannot_be_named_by_him(
    ada: Person, ben: Person
) -> None:
    """tests/web/test_roles.py asks every address that names something of others."""
    run = ada.finished()
    ada.post("/sessions/", {})
    run_share(run=run)
    snapshot = str(run.snapshot_id)
    asks = {"snapshot": snapshot, "kind": "survive", "asked": {"of": "zones"}}
    assert ada.post("/experiments/", asks).status_code == 201
    for name in LISTS:
        assert ada.get(f"/{name}/").json() != []
        assert ben.get(f"/{name}/").json() == []
    problem(ben.post("/runs/", {"snapshot": snapshot}), 400)
    problem(ben.post("/experiments/", asks), 400)
    assert Client().get(f"/experiments/capacity?snapshot={snapshot}").status_code == 404


def test_a_link_opens_every_address_of_a_run_for_reading_only(ada: Person, ben: Person) -> None:
    run = ada.finished()
    share = run_share(run=run).token
    assert share == run_share(run=run).token
    opened = 0
    for address in sorted(addresses(run, 1, "giant")):
        mine = ada.client.get(address, headers=ada.headers).status_code
        shared = f"{address}?share={share}"
        theirs = ben.client.get(shared, headers=ben.headers).status_code
        if address.startswith(API):
            assert theirs == mine, address
            opened += theirs == 200
            problem(ben.client.get(f"{shared}x", headers=ben.headers), 405 if mine == 405 else 404)
        assert ben.client.delete(shared, headers=ben.headers).status_code in (403, 404, 405)
    assert opened > 15
    problem(ben.client.post(f"{API}/runs/{run.pk}/cancel/?share={share}", headers=ben.headers), 403)
    problem(ben.get(f"/snapshots/{run.snapshot_id}/?share={share}"), 404)


def test_sharing_a_snapshot_shares_its_owners_runs(ada: Person, ben: Person) -> None:
    run = ada.finished()
    assert run.snapshot is not None
    share = snapshot_share(snapshot=run.snapshot)

    assert ben.get(f"/snapshots/{run.snapshot_id}/?share={share}").status_code == 200
    assert ben.get(f"/runs/{run.pk}/?share={share}").status_code == 200
    problem(ben.delete(f"/snapshots/{run.snapshot_id}/?share={share}"), 403)


def test_samples_are_everybodys_to_read(ada: Person, ben: Person) -> None:
    samples_load()
    sample = Snapshot.objects.filter(is_sample=True).first()
    assert sample is not None

    assert ben.get(f"/snapshots/{sample.pk}/").status_code == 200
    response = ada.post("/runs/", {"snapshot": str(sample.pk)})
    assert response.status_code == 201
    problem(ben.get(f"/runs/{response.json()['id']}/"), 404)
    problem(ada.delete(f"/snapshots/{sample.pk}/"), 403)


def test_samples_are_loaded_once_and_renewed_when_they_change(db: None) -> None:
    samples_load()
    before = dict(Snapshot.objects.values_list("name", "pk"))
    Snapshot.objects.filter(name="gpu-pool").update(sha256="old", counts={})
    Snapshot.objects.filter(name="zone-spread").update(name="gone")

    samples_load()

    after = dict(Snapshot.objects.values_list("name", "pk"))
    assert after.keys() == before.keys()
    assert after["gpu-pool"] == before["gpu-pool"]
    assert Snapshot.objects.get(name="gpu-pool").counts["Node"] == 15


def test_in_local_mode_every_browser_is_the_owner(db: None) -> None:
    first, second = Client(), Client()
    first.get(f"{API}/runs/")
    second.get(f"{API}/runs/")

    assert Workspace.objects.filter(kind=Workspace.Kind.LOCAL).count() == 1
    assert Workspace.objects.count() == 1


def test_in_server_mode_every_session_is_a_guest_of_its_own(db: None, settings: Settings) -> None:
    settings.MODE = "server"
    first, second = Client(), Client()
    upload = {"data": NODES, "content_type": "application/yaml"}

    mine = first.post(f"{API}/snapshots/", **upload).json()["id"]  # type: ignore[arg-type]

    assert first.get(f"{API}/snapshots/{mine}/").status_code == 200
    problem(second.get(f"{API}/snapshots/{mine}/"), 404)


@pytest.fixture
def guest(db: None, settings: Settings) -> tuple[Client, Workspace]:
    """A browser of a shared server, and the workspace its first upload began."""
    settings.MODE = "server"
    settings.SESSION_COOKIE_AGE = 10 * DAY.total_seconds()
    browser = Client()
    browser.post(f"{API}/snapshots/", NODES, content_type="application/yaml")
    return browser, Workspace.objects.get()


def away(workspace: Workspace, days: int) -> None:
    """Let so many days go by."""
    Workspace.objects.filter(pk=workspace.pk).update(seen_at=F("seen_at") - days * DAY)
    for session in Session.objects.all():
        Session.objects.filter(pk=session.pk).update(expire_date=session.expire_date - days * DAY)


def test_what_a_guest_left_goes_when_the_session_has_ended(
    guest: tuple[Client, Workspace],
) -> None:
    browser, workspace = guest
    local = local_workspace_ensure()
    away(local, 1000)
    away(workspace, 10)
    assert guests_prune() == 0  # seen may be a day old

    away(workspace, 2)

    assert guests_prune() == 1
    assert list(Workspace.objects.all()) == [local]
    assert Snapshot.objects.filter(is_sample=False).count() == 0
    assert browser.get("/snapshots/").status_code == 200


@pytest.mark.parametrize("by", ["page", "token"])
def test_a_guest_who_comes_back_is_kept(guest: tuple[Client, Workspace], by: str) -> None:
    browser, workspace = guest
    bearer = {"Authorization": f"Bearer {token_create(workspace=workspace)}"}
    for _ in range(4):
        away(workspace, 6)
        if by == "page":
            assert len(browser.get("/snapshots/").context["page"]) == 1
        else:
            assert Client().get(f"{API}/snapshots/", headers=bearer).status_code == 200
        assert guests_prune() == 0
    assert Snapshot.objects.filter(workspace=workspace).count() == 1


def test_the_local_token_is_kept_and_only_its_hash_is_stored(
    db: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("data")

    token = local_token_ensure(folder=folder)

    assert local_token_ensure(folder=folder) == token
    assert (folder / "token").stat().st_mode & 0o777 == 0o600
    assert token not in str(list(ApiToken.objects.values()))
    ApiToken.objects.all().delete()
    assert local_token_ensure(folder=folder) != token


def test_tokens_are_not_guessable(ada: Person) -> None:
    tokens = {token_create(workspace=ada.workspace) for _ in range(10)}

    assert len(tokens) == 10
    assert all(len(token) >= 40 for token in tokens)
