"""What an API server answers in place of objects: a Status in JSON, or plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from kviz.clusters.reading.problems import (
    Expired,
    Forbidden,
    NotFound,
    Refusal,
    ServerFailed,
    TooManyRequests,
    Unauthorized,
)

SHOWN: Final = 300
"""Characters of a server's message that are passed on."""
ERROR_LINE: Final = b'{"type":"ERROR"'
TYPES: Final[Mapping[int, type[Refusal]]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    429: TooManyRequests,
}


@dataclass(frozen=True)
class Answer:
    """An HTTP answer other than 200."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _StatusMeta(msgspec.Struct):
    continue_token: str = msgspec.field(name="continue", default="")


class _Status(msgspec.Struct):
    kind: str = ""
    metadata: _StatusMeta = msgspec.field(default_factory=_StatusMeta)
    message: str = ""
    reason: str = ""
    code: int = 0


class _ErrorEvent(msgspec.Struct):
    type: str
    object: _Status


_STATUS: Final = msgspec.json.Decoder(_Status)
_EVENT: Final = msgspec.json.Decoder(_ErrorEvent)


def refusal_of(answer: Answer) -> Refusal:
    """The problem that an answer stands for. It may be plain text, and have no reason."""
    try:
        status = _STATUS.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        status = _Status(message=answer.body.decode(errors="replace"))
    wait = answer.headers.get("Retry-After", "")
    return _refusal(answer.status, status, float(wait) if wait.isdecimal() else None)


def status_of_line(line: bytes) -> Refusal | None:
    """The problem that a line of a watch stands for; None for one that tells of an object.

    What counts is code and reason: the texts differ between API servers.
    """
    if not line.startswith(ERROR_LINE):
        return None
    try:
        status = _EVENT.decode(line).object
    except (msgspec.DecodeError, UnicodeDecodeError):
        status = _Status()
    return _refusal(status.code or 500, status, None)


def _refusal(code: int, status: _Status, retry_after_s: float | None) -> Refusal:
    message = " ".join(status.message.split())[:SHOWN].rstrip(".") or f"status {code}"
    if code == 410 or status.reason in ("Expired", "Gone"):
        return Expired(code, message, continue_token=status.metadata.continue_token)
    kind = ServerFailed if code >= 500 else TYPES.get(code, Refusal)
    return kind(code, message, reason=status.reason, retry_after_s=retry_after_s)
