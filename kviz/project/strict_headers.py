"""The headers of a strict site for what is answered before Django is asked, or instead of it.

Probes, metrics and refused bodies are answered by `kviz.project`, broken requests by the server
itself: none of that is a page, so nothing in it may be loaded, embedded, sniffed or stored.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final

from kviz.live.origin import Application, Receive, Scope, Send
from kviz.project import content_security

NO_PAGE: Final = tuple(
    (name.encode(), value.encode())
    for name, value in (
        ("cache-control", "no-store"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", content_security.PERMISSIONS),
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    )
)


class StrictHeaders:
    """Adds to every answer what it does not say itself."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def strictly(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                said = {bytes(name).lower() for name, _ in headers}
                headers += [each for each in NO_PAGE if each[0] not in said]
                message = {**message, "headers": headers}
            await send(message)

        await self.application(scope, receive, strictly)
