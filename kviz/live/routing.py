"""Websocket addresses."""

from channels.routing import URLRouter
from channels.sessions import SessionMiddlewareStack
from django.urls import path

from kviz.live.consumers import RunConsumer
from kviz.live.origin import SameOrigin

websocket_application = SameOrigin(
    SessionMiddlewareStack(URLRouter([path("ws/runs/<uuid:run_id>/", RunConsumer.as_asgi())]))
)
