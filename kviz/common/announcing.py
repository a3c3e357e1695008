"""Workers hear of rows that wait: from Celery where a broker is configured, else they look.

A message names a row and carries nothing else. What becomes of it is decided by the claim of the
row (`kviz.common.claiming`): a message that is lost, late, or delivered twice does no harm, as
workers look into the tables, too, and a row is claimed once.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from django.conf import settings
from django.db import transaction

if TYPE_CHECKING:
    from celery import Celery

log = logging.getLogger(__name__)

Kind = Literal["run", "fork", "optimum", "experiment", "portion", "luck", "look"]
"""What a message is about; `look`: about nothing, look into the tables."""

URGENCY: Final[dict[Kind, int]] = {
    "run": 0,
    "fork": 3,
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
            "socket_timeout": 30.0,
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
    return app


def is_redis() -> bool:
    return str(settings.CELERY_BROKER_URL).startswith("redis")


def announce(kind: Kind, key: str, message: str = "") -> None:
    """Send a message about a row as soon as the transaction that stores it is over."""
    if settings.CELERY_BROKER_URL:
        transaction.on_commit(lambda: send(kind, key, message))


def send(kind: Kind, key: str, message: str = "", expires_s: float | None = None) -> None:
    """Send a message. That no broker is there is logged only: workers look into the tables."""
    urgency = URGENCY[kind]
    try:
        broker().send_task(
            task_name(kind),
            [key],
            task_id=message or None,
            priority=urgency if is_redis() else LEAST_URGENT - urgency,
            expires=expires_s,
            retry=False,
        )
    except Exception as problem:
        log.warning("the broker did not take a message about %s %s: %s", kind, key, problem)


def withdraw(message: str) -> None:
    """Have workers skip a message that they have not begun with."""
    if settings.CELERY_BROKER_URL:
        transaction.on_commit(lambda: _revoke(message))


def _revoke(message: str) -> None:
    try:
        broker().control.revoke(message)
    except Exception as problem:
        log.warning("the broker did not take back message %s: %s", message, problem)
