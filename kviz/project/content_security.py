"""What pages may load and do: the content security policy, as django-csp takes it, and the like."""

from __future__ import annotations

from typing import Final

from csp.constants import NONCE, NONE, SELF, UNSAFE_INLINE

UNUSED: Final = (
    "accelerometer",
    "browsing-topics",
    "camera",
    "display-capture",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "usb",
    "xr-spatial-tracking",
)
PERMISSIONS: Final = ", ".join(f"{feature}=()" for feature in UNUSED)
"""What a browser can do and no page of kviz wants."""


def directives(vite_server: str) -> dict[str, list[object]]:
    """Scripts and styles come from this site's files only, never from a page's text.

    The editor makes its styles as it goes: a page that has one lets them in by a nonce.

    While the front end is developed they come from Vite's server, too, which sends styles as
    text and news over a websocket.
    """
    strict: dict[str, list[object]] = {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "style-src": [SELF, NONCE],
        "style-src-attr": [UNSAFE_INLINE],
        "worker-src": [SELF, "blob:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
    if not vite_server:
        return strict
    websocket = vite_server.replace("http", "ws", 1)
    return strict | {
        "script-src": [SELF, vite_server],
        "style-src": [SELF, UNSAFE_INLINE],
        "connect-src": [SELF, vite_server, websocket],
    }
