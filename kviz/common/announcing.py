"""Workers hear of rows that wait: from Celery where a broker is configured, else they look.

A message names a row and carries nothing else. What becomes of it is decided by the claim of the
row (`kviz.common.claiming`): a message that is lost, late, or delivered twice does no harm, as
workers look into the tables, too, and a row is claimed once.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from django.conf import settings
from django.db import transaction

if TYPE_CHECKING:
    from celery import Celery

log = logging.getLogger(__name__)

Kind = Literal["run", "optimum", "experiment", "portion", "luck", "look"]
"""What a message is about; `look`: about nothing, look into the tables."""

URGENCY: Final[dict[Kind, int]] = {
    "run": 0,
    "optimum": 3,
    "experiment": 6,
    "portion": 7,
    "luck": 8,
    "look": 9,
}
"""0 goes first: somebody watches runs, and waits for the others."""
LEAST_URGENT: Final = 9
CONNECT_S: Final = 2.0
"""A broker that is away holds nobody up: the row is stored, and found later."""
ANSWER_S: Final = 2.0
"""Nor does one that says nothing, as RabbitMQ does to publishers while it lacks memory or disk."""
LEFT_ALONE_S: Final = 10.0
"""How long a broker that kept somebody waiting is sent nothing; workers look about as often."""
SLOW_S: Final = 1.0
"""What took so long kept somebody waiting."""


class _Patience:
    """Whether this process may be kept waiting by the broker again."""

    def __init__(self) -> None:
        self._until = 0.0

    def is_over(self) -> bool:
        return time.monotonic() < self._until

    @contextlib.contextmanager
    def tried(self, what: str) -> Iterator[None]:
        """Try something with the broker; that it fails is logged only."""
        began = time.monotonic()
        try:
            yield
        except Exception as problem:
            log.warning("the broker did not take %s: %s", what, problem or type(problem).__name__)
        finally:
            if time.monotonic() - began > SLOW_S:
                self._until = time.monotonic() + LEFT_ALONE_S


_PATIENCE: Final = _Patience()


def task_name(kind: Kind) -> str:
    return f"kviz.{kind}"


@cache
def broker() -> Celery:
    """The Celery application; workers add its tasks (`kviz.live.celery_worker`)."""
    from celery import Celery

    app = Celery("kviz", broker=settings.CELERY_BROKER_URL)
    transport_options: dict[str, object] = {"confirm_publish": True}
    if is_redis():
        steps = sorted(set(URGENCY.values()))
        transport_options = {
            "visibility_timeout": settings.VISIBILITY_SECONDS,
            "priority_steps": steps,
            "queue_order_strategy": "priority",
            "socket_connect_timeout": CONNECT_S,
            "socket_timeout": 10.0,
            "socket_keepalive": True,
        }
    app.conf.update(
        accept_content=["json"],
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=CONNECT_S,
        broker_transport_options=transport_options,
        task_acks_late=True,
        task_default_queue="kviz",
        task_ignore_result=True,  # what comes out is in the database
        task_queue_max_priority=LEAST_URGENT,
        task_reject_on_worker_lost=True,
        task_serializer="json",
        worker_cancel_long_running_tasks_on_connection_loss=False,  # its row is still held
        worker_prefetch_multiplier=1,
        worker_redirect_stdouts=False,
    )
    app.control.mailbox.producer_pool = None  # what is revoked goes by the connection given
    return app


def is_redis() -> bool:
    return str(settings.CELERY_BROKER_URL).startswith("redis")


def announce(kind: Kind, key: str, message: str = "") -> None:
    """Send a message about a row as soon as the transaction that stores it is over."""
    if settings.CELERY_BROKER_URL:
        transaction.on_commit(lambda: send(kind, key, message))


def send(kind: Kind, key: str, message: str = "", expires_s: float | None = None) -> None:
    """Send a message. That no broker is there is logged only: workers look into the tables."""
    if _PATIENCE.is_over():
        return
    urgency = URGENCY[kind]
    with (
        _PATIENCE.tried(f"a message about {kind} {key}"),
        broker().producer_or_acquire() as producer,
    ):
        _limit_waiting(producer.connection)
        broker().send_task(
            task_name(kind),
            [key],
            task_id=message or None,
            priority=urgency if is_redis() else LEAST_URGENT - urgency,
            expires=expires_s,
            retry=False,
            producer=producer,
        )


def withdraw(message: str) -> None:
    """Have workers skip a message that they have not begun with."""
    if settings.CELERY_BROKER_URL:
        transaction.on_commit(lambda: _revoke(message))


def _revoke(message: str) -> None:
    if _PATIENCE.is_over():
        return
    # It would be sent again and again until it is confirmed.
    unconfirmed = {} if is_redis() else {"confirm_publish": False}
    with (
        _PATIENCE.tried(f"back message {message}"),
        broker().connection_for_write(transport_options=unconfirmed) as connection,
    ):
        _limit_waiting(connection)
        broker().control.revoke(message, connection=connection)


def _limit_waiting(connection: Any) -> None:
    """Wait so long at most for anything that is sent with a connection, its closing included."""
    if not is_redis():  # which has its own limit
        connection.default_channel.connection.transport.sock.settimeout(ANSWER_S)
