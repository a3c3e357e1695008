"""What is measured of this process, and what its log lines have in common.

A request has an id, taken from `X-Request-ID` if a proxy in front sent one: it is in the answer, in
every log line that the request caused, and in its trace.
"""

from __future__ import annotations

import contextvars
import json
import logging
import re
import time
import uuid
from collections.abc import Callable
from typing import Final

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import Counter, Gauge, Histogram

from kviz.common import tracing

REQUESTS: Final = Counter(
    "kviz_http_requests", "Requests answered, by view.", ["method", "view", "status"]
)
DURATION: Final = Histogram(
    "kviz_http_request_duration_seconds", "How long answering took.", ["method", "view"]
)
SOCKETS: Final = Gauge("kviz_sockets", "Websockets that follow a run.")
LAG: Final = Histogram(
    "kviz_live_lag_seconds",
    "From the hint that a run advanced until a follower was sent what is new.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
MISSED: Final = Counter(
    "kviz_observed_calls_missed", "Calls of real schedulers that could not be recorded."
)

ID: Final = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)
METHODS: Final = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
"""Others are counted as one: anybody can make them up."""

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="")
log = logging.getLogger("kviz.requests")


class Observed:
    """Middleware: names, counts, times and logs each request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        own = given if ID.fullmatch(given) else uuid.uuid4().hex
        method = request.method if request.method in METHODS else "OTHER"
        token = request_id.set(own)
        began = time.perf_counter()
        try:
            with tracing.span(f"{method} {request.path_info}", request_id=own):
                response = self.get_response(request)
            took_s = time.perf_counter() - began
            view = _view(request)
            REQUESTS.labels(method, view, response.status_code).inc()
            DURATION.labels(method, view).observe(took_s)
            log.info(
                "%s %s %d",
                *(method, request.path_info, response.status_code),  # no query: it may hold a token
                extra={"view": view, "duration_ms": round(took_s * 1000, 1)},
            )
        finally:
            request_id.reset(token)
        response.headers["X-Request-ID"] = own
        return response


def _view(request: HttpRequest) -> str:
    """The name of an address, of which there are few; paths are without number."""
    if request.resolver_match is not None:
        return request.resolver_match.view_name or "unnamed"
    return "static" if request.path_info.startswith("/static/") else "none"


class JsonLines(logging.Formatter):
    """A log record as one line of JSON, with the id of the request that caused it."""

    EXTRA: Final = ("view", "duration_ms")

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if own := request_id.get():
            line["request_id"] = own
        line |= {name: vars(record)[name] for name in self.EXTRA if name in vars(record)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)

    converter = staticmethod(time.gmtime)


class FaultsOfSenders(logging.Filter):
    """Says in a line what was wrong with what somebody sent: no failure of the server's."""

    def filter(self, record: logging.LogRecord) -> bool:
        problem = record.exc_info[1] if record.exc_info else None
        if isinstance(problem, SuspiciousOperation) or (
            record.name.startswith("uvicorn") and isinstance(problem, UnicodeDecodeError)
        ):
            record.exc_info = None
            record.levelno, record.levelname = logging.INFO, "INFO"
        return True
