"""The answer to a real scheduler, from what is known of its session and the bytes it sent."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.http import HttpResponse

from kviz.common import problems
from kviz.extenders import asked, incoming, known
from kviz.extenders.incoming import Verb
from kviz.extenders.known import KnownSession
from kviz.extenders.recorder import recorder

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
VERBS: Final = frozenset(Verb)


def answer(
    session: KnownSession, verb: Verb, length: str, body: Callable[[], bytes]
) -> HttpResponse:
    """Answer neutrally; who received the question learns what it says, to record that."""
    if not length.isdecimal():
        return problems.response(HTTPStatus.LENGTH_REQUIRED, "Send a Content-Length.")
    if int(length) > MAX_BODY_BYTES:
        detail = f"A request may have at most {MAX_BODY_BYTES} bytes: set nodeCacheCapable: true."
        return problems.response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
    if session.calls_too_often():
        recorder.miss(session.run_id)
        detail = f"At most {known.MAX_PER_SECOND} requests a second."
        return problems.response(HTTPStatus.TOO_MANY_REQUESTS, detail)
    try:
        exchange = incoming.answer(verb, body())
    except incoming.BadRequest as error:
        return problems.response(HTTPStatus.BAD_REQUEST, str(error))
    question = asked.current.get()
    if question is not None and not session.is_over:
        question.says(session.run_id, verb, exchange)
    return HttpResponse(exchange.answer, content_type="application/json")
