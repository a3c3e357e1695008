"""Websockets obey neither CORS nor Django's host check, so both are made up for here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Refused:
    """Answers every websocket with a status, before there is one."""

    def __init__(self, status: HTTPStatus) -> None:
        self.status = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close"})
            return
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"x-content-type-options", b"nosniff"),
            (b"cache-control", b"no-store"),
        ]
        start = {"type": "websocket.http.response.start", "headers": headers}
        await send({**start, "status": self.status.value})
        await send({"type": "websocket.http.response.body", "body": self.status.phrase.encode()})


class SameOrigin:
    """Accept a page of this very site, or a script that shows a bearer token; refuse the rest."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        application = self.application if is_welcome(scope) else Refused(HTTPStatus.FORBIDDEN)
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
        return _host_of(origin) == host
    return header(scope, "authorization").lower().startswith("bearer ")


def _host_of(origin: str) -> str:
    """The host and port of an origin; empty if it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
