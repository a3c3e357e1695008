"""The limit on bodies, at the door: before anything is spooled to disk."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from typing import Any

import pytest

from kviz.project.body_limit import BodyLimit
from tests.web.english import english_on
from tests.web.test_no_english_left import CHINESE

Message = MutableMapping[str, Any]


async def application(scope: Message, receive: Any, send: Any) -> None:
    """Reads its whole body and tells how long it was."""
    n_bytes, more = 0, True
    while more:
        message = await receive()
        n_bytes += len(message["body"])
        more = message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(n_bytes).encode()})


async def post(
    parts: list[bytes], *headers: tuple[bytes, bytes], path: str = "/api/v1/snapshots/"
) -> tuple[int, bytes, int]:
    """Status, body, and how many parts were taken from the client."""
    sent: list[Message] = []
    left = list(parts)

    async def receive() -> Message:
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message: Message) -> None:
        sent.append(message)

    limited = BodyLimit(application, max_bytes=10)
    scope = {"type": "http", "method": "POST", "path": path, "headers": list(headers)}
    await limited(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], body, len(parts) - len(left)


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_within_the_limit_passes(declared: bool) -> None:
    headers = [(b"content-length", b"10")] if declared else []
    assert await post([b"12345", b"67890"], *headers) == (200, b"10", 2)


async def test_a_declared_length_is_refused_and_the_body_dropped() -> None:
    status, body, n_taken = await post([b"1" * 8, b"2" * 8], (b"content-length", b"16"))

    assert status == 413
    assert json.loads(body)["type"] == "urn:kviz:problem:too-large"
    assert n_taken == 2


async def test_who_asks_first_need_not_send_it() -> None:
    headers = [(b"content-length", b"16"), (b"expect", b"100-continue")]
    status, _, n_taken = await post([b"1" * 16], *headers)

    assert (status, n_taken) == (413, 0)


async def test_a_length_that_was_not_declared_is_counted() -> None:
    status, body, n_taken = await post([b"1" * 8, b"2" * 8, b"3" * 8])

    assert status == 413
    assert json.loads(body)["status"] == 413
    assert n_taken == 3


async def test_a_browser_gets_a_page_in_its_language() -> None:
    asked = ((b"content-length", b"16"), (b"accept-language", b"zh-hant"))
    status, body, _ = await post([b"1" * 16], *asked, path="/snapshots/new")
    page = body.decode()

    assert status == 413
    assert '<html lang="zh-hant">' in page
    assert english_on(page) == []
    assert "MiB" in page
    api = json.loads((await post([b"1" * 16], *asked))[1])
    assert CHINESE.search(api["detail"])
