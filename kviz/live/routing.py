"""Websocket addresses of runs, and what every websocket passes through."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, cast

from channels.routing import URLRouter
from channels.sessions import SessionMiddlewareStack
from django.urls import URLPattern, path, re_path

from kviz.live.consumers import RunConsumer
from kviz.live.origin import Refused, SameOrigin

RUNS = [path("ws/runs/<uuid:run_id>/", RunConsumer.as_asgi())]


def websockets(patterns: Sequence[URLPattern]) -> SameOrigin:
    """The application of these addresses: for this site's own pages, each with its session."""
    nowhere = cast("Callable[..., Any]", Refused(HTTPStatus.NOT_FOUND))
    return SameOrigin(SessionMiddlewareStack(URLRouter([*patterns, re_path("", nowhere)])))
