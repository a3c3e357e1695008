"""The list of pages that the browser tests open is complete."""

from __future__ import annotations

import re
from uuid import UUID

from django.urls import resolve, reverse
from pytest_django import Settings

from kviz.runs.sharing import run_share
from tests.page_list import NO_PAGES, PAGES, SERVER_PAGES, configured
from tests.web.cast import Person

ANY = UUID(int=0)


def test_every_address_is_a_page_that_is_opened_or_no_page() -> None:
    assert PAGES.keys() | NO_PAGES | SERVER_PAGES == configured().keys()
    assert len(PAGES) + len(NO_PAGES) + len(SERVER_PAGES) == len(configured())


def test_a_page_is_opened_at_its_own_address() -> None:
    kinds = ("run", "snapshot", "session", "experiment", "followed", "game", "export", "homework")
    ids = {**dict.fromkeys(kinds, ANY), "code": "ABCDEF", "homework_code": "abc"}
    for name, pages in PAGES.items():
        for path in pages:
            assert resolve(path.format(**ids).partition("?")[0]).url_name == name


def test_what_is_no_page_shows_none(ada: Person, settings: Settings) -> None:
    settings.MODE = "server"  # where there are all of them
    run = ada.finished()
    ids = {
        "run_id": run.pk,
        "snapshot_id": ANY,
        "session_id": ANY,
        "experiment_id": ANY,
        "followed_id": ANY,
        "game_id": ANY,
        "name": "performance.svg",
        "slug": "what-is-a-node",
        "number": 1,
        "code": "ABCDEF",
        "workspace_id": ANY,
        "membership_id": 1,
        "invitation_id": 1,
        "sha256": "x",
        "person_id": 1,
        "link_id": 1,
        "room_id": ANY,
        "homework_id": ANY,
    }
    token = run_share(run=run).token
    for name in NO_PAGES:
        wanted = re.findall(r":(\w+)>", configured()[name])
        address = reverse(name, kwargs={each: ids[each] for each in wanted})
        answer = ada.client.get(address, {"share": token})
        is_page = answer["Content-Type"].startswith("text/html")
        assert answer.status_code == 405 or not is_page, name
