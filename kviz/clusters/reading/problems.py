"""What can go wrong between kviz and an API server. Each message is a sentence for users.

No message holds a credential: texts of files, plugins, headers and proxies' addresses are never
quoted.

``ClusterProblem``
    ``ContextRefused``        a context that kviz cannot use, or not safely
    ``Unreachable``           no answer came
        ``Untrusted``         the answering server could not prove to be the API server
    ``StreamCut``             an answer began and broke off
    ``Refusal``               the API server answered with an error
        ``Unauthorized``      401: it does not know the credentials
        ``Forbidden``         403: it knows them, and they do not allow this
        ``NotFound``          404: it has no such kind
        ``Expired``           410: a resource version or continue token is too old
        ``TooManyRequests``   429: ask again after ``retry_after_s``
        ``ServerFailed``      5xx: also worth asking again
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import ClassVar

from kviz import distribution
from scheduler_core.wording import say


class ClusterProblem(Exception):
    """A cluster cannot be read."""


class ContextRefused(ClusterProblem):
    """A context that kviz cannot use, or not safely."""


def require_client() -> None:
    """See that the Kubernetes client is installed. Raises ContextRefused."""
    if find_spec("kubernetes") is None:
        needed = distribution.with_extra("cluster")
        raise ContextRefused(
            say(
                "cluster.client_missing",
                "Reading a cluster needs the Kubernetes client: {needed}.",
                needed=needed,
            )
        )


class Unreachable(ClusterProblem):
    """No answer came."""


class Untrusted(Unreachable):
    """The answering server could not prove to be the API server."""


class StreamCut(ClusterProblem):
    """An answer began and broke off; what came of its last line is not handed out."""


class Refusal(ClusterProblem):
    """The API server answered with an error.

    `message` is its own; `retry_after_s` is None where it does not say when to ask again.
    """

    about: ClassVar[str] = say("api_server.refused", "The API server refused")

    def __init__(
        self, status: int, message: str, *, reason: str = "", retry_after_s: float | None = None
    ) -> None:
        super().__init__(
            say(
                "api_server.with_status",
                "{about} ({status}): {message}",
                about=self.about,
                status=status,
                message=message,
            )
        )
        self.status = status
        self.message = message
        self.reason = reason
        self.retry_after_s = retry_after_s


class Unauthorized(Refusal):
    """401: it does not know the credentials."""

    about = say("api_server.unauthorized", "The API server does not accept the credentials")


class Forbidden(Refusal):
    """403: the credentials do not allow this."""

    about = say("api_server.forbidden", "The API server does not allow it")


class NotFound(Refusal):
    """404: it has no such kind."""

    about = say("api_server.not_found", "The API server has nothing there")


class Expired(Refusal):
    """410: a resource version or continue token is too old.

    `continue_token` continues a list, at a newer resource version than the pages before; empty
    if there is none.
    """

    about = say("api_server.gone", "What was asked for is too old")

    def __init__(self, status: int, message: str, *, continue_token: str = "") -> None:
        super().__init__(status, message, reason="Expired")
        self.continue_token = continue_token


class TooManyRequests(Refusal):
    """429: it is busy; ask again later."""

    about = say("api_server.busy", "The API server is busy")


class ServerFailed(Refusal):
    """5xx: it failed; it may be well again later."""

    about = say("api_server.failed", "The API server failed")
