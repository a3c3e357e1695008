"""A server without guests: everything asks for an account, except what has to be open."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from kviz.accounts.models import Workspace
from kviz.accounts.services import person_add
from kviz.runs.models import Run
from kviz.runs.sharing import run_share
from tests.web.cast import API, NODES, Person, person, problem
from tests.web.test_roles import addresses

PASSWORD = "a long enough password"


@pytest.fixture(autouse=True)
def _without_guests(settings: Settings, db: None) -> None:
    settings.MODE, settings.GUESTS = "server", False


@pytest.fixture
def run() -> Run:
    return person().finished()


@pytest.fixture
def nobody() -> Client:
    return Client(raise_request_exception=False)


def test_every_page_leads_to_the_sign_in_page(nobody: Client, run: Run) -> None:
    ids = {"run_id": run.pk, "snapshot_id": run.snapshot_id}
    shown = []
    for name, path, _ in addresses(ids):
        if path.startswith(("/account/", "/api/")) or name == "set-language":
            continue
        for method in ("get", "post"):
            answer = getattr(nobody, method)(path)
            if not answer.headers.get("Location", "").startswith("/account/sign-in?next="):
                shown.append((method, path, answer.status_code))
    assert shown == []
    assert Workspace.objects.count() == 1


def test_rest_wants_a_token_or_an_account(nobody: Client, ada: Person, run: Run) -> None:
    for path in (
        "/runs/",
        "/snapshots/",
        f"/runs/{run.pk}/",
        "/lessons/",
        "/clusters/",
        "/schema/",
    ):
        problem(nobody.get(f"{API}{path}"), 401)
        problem(nobody.get(f"{API}{path}?share="), 401)
    problem(nobody.post(f"{API}/snapshots/", NODES, content_type="application/yaml"), 401)
    assert ada.get("/runs/").status_code == 200
    nobody.force_login(person_add(name="cleo", password=PASSWORD))
    assert nobody.get(f"{API}/runs/").status_code == 200
    assert nobody.get("/").status_code == 200


def test_what_is_shared_can_be_read(nobody: Client, run: Run) -> None:
    share = run_share(run=run).token
    for path in (f"/runs/{run.pk}", f"/runs/{run.pk}/explore", f"{API}/runs/{run.pk}/cycles/"):
        assert nobody.get(f"{path}?share={share}").status_code == 200
        assert nobody.get(f"{path}?share={share}x").status_code == 404
    problem(nobody.get(f"{API}/clusters/?share={share}"), 401)
    assert nobody.get(f"/runs/?share={share}").status_code == 302
    assert nobody.post(f"/runs/{run.pk}/delete?share={share}").status_code == 302
    problem(nobody.delete(f"{API}/runs/{run.pk}/?share={share}"), 401)
    assert Workspace.objects.count() == 1


def test_a_guest_of_before_is_shut_out_and_brings_all_along(
    nobody: Client, settings: Settings
) -> None:
    settings.GUESTS = True
    upload = nobody.post(f"{API}/snapshots/", NODES, content_type="application/yaml").json()
    settings.GUESTS = False
    problem(nobody.get(f"{API}/snapshots/{upload['id']}/"), 401)

    person_add(name="cleo", password=PASSWORD)
    page = nobody.get("/account/sign-in")
    assert "as a guest" not in page.content.decode()
    nobody.post("/account/sign-in", {"login": "cleo", "password": PASSWORD})

    assert nobody.get(f"{API}/snapshots/{upload['id']}/").status_code == 200


def test_local_mode_never_asks(nobody: Client, settings: Settings) -> None:
    settings.MODE = "local"
    assert nobody.get("/").status_code == 200
    assert nobody.get(f"{API}/runs/").status_code == 200
