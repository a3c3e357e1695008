"""What applies to every response, whatever app it comes from."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from kviz.common import problems
from kviz.common.claiming import StorageFailed
from kviz.common.limits import RETRY_AFTER_S, TooManyAtOnce
from kviz.common.streaming import let_go_of_database

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, but a file is answered whole: under ASGI its file iterator would block."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        with found.file if found.file is not None else _NoFile() as file:
            response = HttpResponse(file.read(), status=int(found.status))
        del response["content-type"]
        for key, value in found.headers:
            response[key] = value
        return response


class _NoFile:
    """The empty body of a `304` or of the answer to `HEAD`."""

    def __enter__(self) -> _NoFile:
        return self

    def __exit__(self, *exc_info: object) -> None:
        return None

    def read(self) -> bytes:
        return b""


class EveryAnswer:
    """Every answer says who may embed it and what its page may do, files and errors included."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        for name, value in settings.EVERY_ANSWER.items():
            response.headers.setdefault(name, value)
        return response


class GiveBack:
    """A slow client holds no connection to the database while it reads the answer."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            let_go_of_database()


class Private:
    """Answers are for who asked, and stored nowhere, unless a view says otherwise.

    Where the database cannot be used for the moment, or somebody has too much at once, the answer
    says when to come back.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return problems.malformed(request)  # no name has a NUL, and PostgreSQL takes none
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            response.headers.setdefault("Retry-After", str(RETRY_AFTER_S))
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, StorageFailed):
            return problems.come_back(request)
        if isinstance(exception, DataError):
            return problems.not_storable(request)
        if isinstance(exception, TooManyAtOnce):
            return problems.too_many(request, exception)
        if isinstance(exception, problems.Gone):
            return problems.gone(request, exception)
        return None


class ApiProblems:
    """Errors below `/api/` that never reached a REST view are problem documents, too."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_plain = response.headers.get("Content-Type", "").startswith("text/html")
        if response.status_code >= 400 and is_plain and problems.wants_problem(request):
            return problems.response(response.status_code, _("The request could not be served."))
        return response
