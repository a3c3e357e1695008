"""Websockets obey neither CORS nor Django's host check, so both are made up for here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class SameOrigin:
    """Accept a page of this very site, or a script that shows a bearer token; refuse the rest."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        application = self.application if is_welcome(scope) else WebsocketDenier()
        await application(scope, receive, send)


def header(scope: Scope, name: str) -> str:
    """The first header of that lower-case name, empty if there is none."""
    wanted = name.encode()
    for key, value in scope["headers"]:
        if key == wanted:
            return str(value.decode("latin-1"))
    return ""


def is_welcome(scope: Scope) -> bool:
    host, origin = header(scope, "host").lower(), header(scope, "origin").lower()
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    if origin:
        return urlsplit(origin).netloc == host
    return header(scope, "authorization").lower().startswith("bearer ")
