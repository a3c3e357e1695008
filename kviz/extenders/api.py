"""What a real scheduler calls. It waits, so nothing here takes its time."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Final

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from kviz.common import problems
from kviz.extenders import incoming, selectors
from kviz.extenders.incoming import Verb
from kviz.extenders.models import ExtenderSession
from kviz.extenders.observer import ObservedCall
from kviz.extenders.recorder import recorder

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
MAX_PER_SECOND: Final = 300
VERBS: Final = frozenset(Verb)


@csrf_exempt
@require_POST
def extend(request: HttpRequest, token: str, verb: str) -> HttpResponse:
    """Answer neutrally, then record the call. The token is all the proof there is."""
    began_ns = time.monotonic_ns()
    session = selectors.session_of_token(token)
    if session is None or verb not in VERBS:
        raise Http404(verb)
    length = request.headers.get("Content-Length", "")
    if not length.isdecimal():
        return problems.response(HTTPStatus.LENGTH_REQUIRED, "Send a Content-Length.")
    if int(length) > MAX_BODY_BYTES:
        detail = f"A request may have at most {MAX_BODY_BYTES} bytes: set nodeCacheCapable: true."
        return problems.response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
    if _calls_too_often(session):
        detail = f"At most {MAX_PER_SECOND} requests a second."
        return problems.response(HTTPStatus.TOO_MANY_REQUESTS, detail)
    try:
        exchange = incoming.answer(Verb(verb), request.body)
    except incoming.BadRequest as error:
        return problems.response(HTTPStatus.BAD_REQUEST, str(error))
    if not session.run.is_over:
        took_ns = time.monotonic_ns() - began_ns
        call = ObservedCall(time.time_ns() - took_ns, Verb(verb), exchange, took_ns)
        recorder.record(session.run_id, call)
    return HttpResponse(exchange.answer, content_type="application/json")


def _calls_too_often(session: ExtenderSession) -> bool:
    key = f"extender:{session.pk}:{int(time.time())}"
    cache.add(key, 0, timeout=2)
    try:
        return cache.incr(key) > MAX_PER_SECOND
    except ValueError:  # it expired just now
        return False
