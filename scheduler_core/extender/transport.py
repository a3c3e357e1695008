"""How a request reaches an extender: injected, so that the engine stays pure.

A transport either returns what the extender answered, whatever the HTTP status, or raises one of

* `RequestFailed`: no answer came (refused, timed out, not allowed, ...);
* `BodyFailed`: an answer began, but its body could not be read.

Both carry the text that Go's HTTP client would give, without the `Post "URL": ` before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

TIMED_OUT: Final = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
TIMED_OUT_READING: Final = (
    "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
)


@dataclass(frozen=True, slots=True)
class TLSSettings:
    """How to trust a server, and how to prove the caller's identity; files are paths, data PEM."""

    insecure: bool = False
    server_name: str = ""
    ca_data: bytes = b""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer; `duration_ns` is how long it took in real time."""

    status: int
    body: bytes
    duration_ns: int


class TransportError(Exception):
    """There is no complete answer. See the module docstring."""

    def __init__(self, text: str, duration_ns: int = 0) -> None:
        super().__init__(text)
        self.text = text
        self.duration_ns = duration_ns


class RequestFailed(TransportError):
    """No answer came."""


class BodyFailed(TransportError):
    """An answer began, but its body could not be read."""


class Transport(Protocol):
    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        """Send a POST with a JSON body. Raises RequestFailed or BodyFailed."""
