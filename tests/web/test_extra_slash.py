"""An address with a slash too many leads to the page, and nowhere else."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.web.cast import CLUSTER, Person


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_extra_slash_leads_to_the_page(owner: Person, method: str) -> None:
    run = owner.finished(CLUSTER)
    for page in (f"/runs/{run.pk}", "/runs/new", "/teach", "/plugins/NodeResourcesFit"):
        answer = owner.client.generic(method, f"{page}/?lang=%C3%A9&c=1")
        assert answer.status_code == 301
        assert answer["Location"] == f"{page}?lang=%C3%A9&c=1"
        assert owner.client.get(f"{page}//").headers["Location"] == page
        assert owner.client.get(page).status_code == 200


def test_a_missing_slash_still_leads_to_the_page(owner: Person) -> None:
    assert owner.client.get("/runs").headers["Location"] == "/runs/"
    assert owner.client.get("/runs/").status_code == 200


@pytest.mark.parametrize("path", ["/nowhere/", "//example.com/", "/runs/nothing/", "//teach/"])
def test_what_is_no_page_stays_none(client: Client, db: None, path: str) -> None:
    assert client.get("/", PATH_INFO=path).status_code == 404


def test_what_is_sent_is_not_sent_elsewhere(owner: Person) -> None:
    assert owner.client.post("/runs/new/", {"seed": "1"}).status_code == 404
