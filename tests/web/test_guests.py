"""Who only looks around stores nothing, and one address does not become any number of guests."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import Settings

from kviz.accounts.guests import GuestRate
from kviz.accounts.models import Workspace
from tests.page_list import PAGES
from tests.web.cast import API, NODES, problem


@pytest.fixture(autouse=True)
def _server(settings: Settings, db: None) -> None:
    settings.MODE = "server"


@pytest.fixture
def few_guests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GuestRate, "THROTTLE_RATES", {"guest": "2/hour"})


def test_looking_around_stores_nothing() -> None:
    pages = [path for paths in PAGES.values() for path in paths if "{" not in path]
    for path in (*pages, f"{API}/runs/", f"{API}/lessons/", f"{API}/share-links/"):
        assert Client().get(path).status_code < 400, path
    assert Workspace.objects.count() == 0
    assert Session.objects.count() == 0


def upload(browser: Client) -> int:
    upload = f"{API}/snapshots/"
    answer = browser.post(upload, NODES, content_type="application/yaml")
    if answer.status_code == 429:
        assert int(answer["Retry-After"]) > 0
        assert "guests" in problem(answer, 429)["detail"]
    return answer.status_code


def test_an_address_becomes_so_many_guests(few_guests: None) -> None:
    first = Client()
    assert [upload(browser) for browser in (first, Client(), Client())] == [201, 201, 429]
    assert upload(first) == 201
    page = Client().post("/snapshots/new", {"text": NODES})
    assert page.status_code == 429
    assert b"guests" in page.content
    assert Client().get("/").status_code == 200
    assert Workspace.objects.count() == 2


def test_a_guest_keeps_one_workspace() -> None:
    browser = Client()
    browser.get("/snapshots/")
    upload(browser)
    upload(browser)
    assert len(browser.get("/snapshots/").context["page"]) == 2
    assert Workspace.objects.count() == 1
