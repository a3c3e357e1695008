"""Every address there is, asked in every way: no failure, and the headers of a strict site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.web.cast import Person, problem

SAME_FOR_ALL = ("/static/", "/then-and-now/words.json", "/docs/")
"""What holds nothing of anybody, and may be stored."""
FILLED = {"uuid": str(UUID(int=0)), "int": "1", "slug": "a-slug", "str": "text", "path": "text"}
STRICT = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def routes(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for each in patterns:
        route = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, route)
        elif isinstance(each, URLPattern):
            yield route


def filled(route: str) -> str:
    """An address with something in the place of each part that varies."""
    plain = re.sub(
        r"<(?:(\w+):)?\w+>", lambda found: FILLED.get(found[1] or "str", "ABCDEF"), route
    )
    return "/" + plain.replace("^", "").replace("$", "").replace("\\Z", "")


ADDRESSES = sorted({filled(route) for route in routes(get_resolver().url_patterns)})


@pytest.fixture
def visitor(owner: Person) -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST", "BREW"])
def test_whatever_is_asked_is_answered_strictly(visitor: Client, method: str) -> None:
    for address in [*ADDRESSES, "/nowhere", "/api/v1/nowhere/", "/static/css/tokens.css"]:
        answer = visitor.generic(method, address, b"", "application/json")
        assert answer.status_code < 500, (method, address)
        said = {name: answer.headers.get(name) for name in STRICT}
        assert said == STRICT, (method, address)
        assert "camera=()" in answer.headers["Permissions-Policy"]
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy, (method, address)
        assert not re.search(r"script-src[^;]*unsafe", policy), (method, address)
        if not address.startswith(SAME_FOR_ALL):
            assert "no-store" in answer.headers["Cache-Control"], (method, address)


@pytest.mark.slow("asks every address")
def test_a_foreign_page_can_make_nobody_do_anything(owner: Person) -> None:
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    browser.get("/runs/")
    for address in ADDRESSES:
        for method in ("POST", "DELETE"):
            answer = browser.generic(
                method,
                address,
                b"a=1",
                "application/x-www-form-urlencoded",
                headers={"Origin": "https://elsewhere.example"},
            )
            assert answer.status_code in (403, 404, 405, 411), (method, address, answer.status_code)


HOSTS = [
    "elsewhere.example",
    "localhost.elsewhere.example",
    "a b",
    "[::1",
    "localhost:x",
    "@localhost",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_is_not_ours_is_refused(visitor: Client, host: str) -> None:
    for address in ("/", "/runs/", "/api/v1/runs/"):
        answer = visitor.get(address, headers={"host": host})
        assert answer.status_code == 400
        if address.startswith("/api/"):
            problem(answer, 400)
