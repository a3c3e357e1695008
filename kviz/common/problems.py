"""RFC 9457 problem documents: the one shape of every error the REST API answers with.

A document has `type`, `title`, `status`, `detail` and, where single files or fields are to
blame, `errors`: a list of objects with `message` and whichever of `file`, `document`, `line`,
`path` and `field` is known.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final, Literal

from django.conf import settings
from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.views import set_rollback

from kviz.common.claiming import StorageFailed
from kviz.common.forgery import why_forged
from kviz.common.limits import RETRY_AFTER_S, TooManyAtOnce
from kviz.common.wording import translated

CONTENT_TYPE = "application/problem+json"
MAX_HOST_CHARS = 253
ErrorItem = Mapping[str, str | int]
Kind = Literal["", "busy", "cannot-reenact", "run-file", "too-large", "veiled"]
"""What scripts may want to distinguish besides the status: the end of a document's `type`."""

BUSY_S: Final = 5
"""When to come back while the database cannot be used."""

COME_BACK: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Answers that say when."""

log = logging.getLogger(__name__)


class Problem(exceptions.APIException):
    """A request that cannot be served, with the status and the words to say so."""

    def __init__(
        self, status: HTTPStatus, detail: str, errors: Sequence[ErrorItem] = (), kind: Kind = ""
    ) -> None:
        super().__init__(translated(detail))
        self.status_code = status.value
        self.errors = errors
        self.kind = kind
        self.wait = RETRY_AFTER_S if status in COME_BACK else None


class Gone(Exception):
    """What an address showed once and does no more; the message says why."""


def document(
    status: int, detail: str, errors: Sequence[ErrorItem] = (), kind: Kind = ""
) -> dict[str, object]:
    """The problem document; `kind` names what scripts may want to distinguish."""
    body: dict[str, object] = {
        "type": f"urn:kviz:problem:{kind}" if kind else "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": translated(detail),
    }
    if errors:
        body["errors"] = translated(list(errors))
    return body


def response(
    status: int, detail: str, errors: Sequence[ErrorItem] = (), kind: Kind = ""
) -> JsonResponse:
    """The same as a response."""
    return JsonResponse(
        document(status, detail, errors, kind), status=status, content_type=CONTENT_TYPE
    )


def wants_problem(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


# ---------------------------------------------------------------- REST framework's hook


def exception_handler(exc: Exception, context: Mapping[str, object]) -> HttpResponse | None:
    """Turn what a REST view raised into a problem document; a bug stays an exception.

    It is JSON whatever media type was asked for.
    """
    if isinstance(exc, Http404):
        exc = exceptions.NotFound()
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    elif isinstance(exc, RequestDataTooBig):
        exc = Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_much_text())
    elif isinstance(exc, SuspiciousOperation):
        exc = Problem(HTTPStatus.BAD_REQUEST, str(exc))
    elif isinstance(exc, TooManyAtOnce):
        exc = Problem(HTTPStatus.TOO_MANY_REQUESTS, str(exc))
    if not isinstance(exc, exceptions.APIException):
        return None
    set_rollback()
    detail, errors = _explain(exc)
    kind: Kind = exc.kind if isinstance(exc, Problem) else ""
    answer = response(exc.status_code, detail, errors, kind)
    if challenge := getattr(exc, "auth_header", None):
        answer["WWW-Authenticate"] = challenge
    if (wait := getattr(exc, "wait", None)) is not None:
        answer["Retry-After"] = str(int(wait) + 1)
    return answer


def _explain(exc: exceptions.APIException) -> tuple[str, Sequence[ErrorItem]]:
    if isinstance(exc, Problem):
        return str(exc.detail), exc.errors
    if isinstance(exc.detail, str):
        return str(exc.detail), ()
    return _("Some fields are not valid."), list(_field_errors(exc.detail, ""))


def _field_errors(detail: object, field: str) -> list[ErrorItem]:
    """Flatten REST framework's nested lists and dicts of messages."""
    if isinstance(detail, Mapping):
        return [
            item
            for name, inner in detail.items()
            for item in _field_errors(inner, f"{field}.{name}" if field else str(name))
        ]
    if isinstance(detail, list):
        return [item for inner in detail for item in _field_errors(inner, field)]
    return [{"field": field, "message": str(detail)}]


def _too_much_text() -> str:
    """Return what to say to a request with more text than is held in memory."""
    most = (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) >> 20
    text = _("Text may have %(most)s MiB at most. Upload a larger cluster as a file.")
    return text % {"most": most}


# ---------------------------------------------------------------- Django's error views


def error(request: HttpRequest, status: HTTPStatus, detail: str, kind: Kind = "") -> HttpResponse:
    """The answer to a request that fails: a page, or below `/api/` a problem document."""
    if wants_problem(request):
        return response(status, detail, kind=kind)
    context = {"status": status.value, "title": _title(status), "detail": detail}
    return render(request, "error.html", context, status=status)


def _title(status: HTTPStatus) -> str:
    """Return the heading of a page with an error."""
    titles = {
        HTTPStatus.FORBIDDEN: _("Not allowed"),
        HTTPStatus.NOT_FOUND: _("Not found"),
        HTTPStatus.GONE: _("No longer shared"),
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: _("Too large"),
        HTTPStatus.TOO_MANY_REQUESTS: _("Too much at once"),
        HTTPStatus.SERVICE_UNAVAILABLE: _("Busy at the moment"),
    }
    of_server = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    other = _("kviz failed") if of_server else _("The request could not be read")
    return titles.get(status, other)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return error(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_much_text())
    if isinstance(exception, DisallowedHost):
        host = request.META.get("HTTP_HOST", "")[:MAX_HOST_CHARS]
        text = _("kviz does not answer as %(host)s. KVIZ_ALLOWED_HOSTS lists the names it has.")
        text %= {"host": repr(host)}
        return error(request, HTTPStatus.BAD_REQUEST, text)
    return malformed(request)


def malformed(request: HttpRequest) -> HttpResponse:
    return error(request, HTTPStatus.BAD_REQUEST, _("The request is malformed."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error(request, HTTPStatus.FORBIDDEN, str(exception) or _("You may not do this."))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error(request, HTTPStatus.NOT_FOUND, _("There is nothing at this address."))


def come_back(request: HttpRequest) -> HttpResponse:
    """The database is locked, full or gone: nothing is wrong with the request."""
    log.warning("the database cannot be used: %s", sys.exception())
    text = _("The database cannot be used at the moment. Nothing was changed; try again.")
    answer = error(request, HTTPStatus.SERVICE_UNAVAILABLE, text)
    answer.headers["Retry-After"] = str(BUSY_S)
    return answer


def not_storable(request: HttpRequest) -> HttpResponse:
    """The database takes no NUL in a text, and no value beyond what its column holds."""
    log.warning("what was sent cannot be stored", exc_info=True)
    text = _("A text or a number in this request is not one that the database can store.")
    return error(request, HTTPStatus.BAD_REQUEST, text)


def too_many(request: HttpRequest, why: TooManyAtOnce) -> HttpResponse:
    return error(request, HTTPStatus.TOO_MANY_REQUESTS, str(why))


def gone(request: HttpRequest, why: Gone) -> HttpResponse:
    return error(request, HTTPStatus.GONE, str(why))


def server_error(request: HttpRequest) -> HttpResponse:
    if isinstance(sys.exception(), StorageFailed):  # raised outside of a view
        return come_back(request)
    return error(
        request, HTTPStatus.INTERNAL_SERVER_ERROR, _("kviz failed. The server's log says why.")
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error(
        request,
        HTTPStatus.FORBIDDEN,
        _(
            "The request could be a forged one: %(reason)s Reload the page; scripts send "
            "`Authorization: Bearer TOKEN` instead."
        )
        % {"reason": why_forged(reason)},
    )
