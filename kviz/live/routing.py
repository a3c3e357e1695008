"""Websocket addresses of runs, and what every websocket passes through."""

from collections.abc import Sequence

from channels.routing import URLRouter
from channels.sessions import SessionMiddlewareStack
from django.urls import URLPattern, path

from kviz.live.consumers import RunConsumer
from kviz.live.origin import SameOrigin

RUNS = [path("ws/runs/<uuid:run_id>/", RunConsumer.as_asgi())]


def websockets(patterns: Sequence[URLPattern]) -> SameOrigin:
    """The application of these addresses: for this site's own pages, each with its session."""
    return SameOrigin(SessionMiddlewareStack(URLRouter(list(patterns))))
