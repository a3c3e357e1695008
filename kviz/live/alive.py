"""Which workers are alive, as the database tells: they look for work, or hold a row and say so."""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.apps import apps
from django.utils import timezone

from kviz.common.claiming import RUNNING, Claimed
from kviz.live.models import IdleWorker

SAYS_SO_S: Final = 10.0
"""How often an idle worker says that it looks."""
SILENT: Final = dt.timedelta(seconds=60)
"""A worker that has said nothing for so long does not count as alive."""
FORGOTTEN: Final = dt.timedelta(days=1)


def idle_worker_looked(*, name: str) -> None:
    """Note that a worker looked for work, and forget those that are long gone."""
    now = timezone.now()
    IdleWorker.objects.update_or_create(name=name, defaults={"looked_at": now})
    IdleWorker.objects.filter(looked_at__lt=now - FORGOTTEN).delete()


def workers_alive() -> int:
    """How many workers there are."""
    since = timezone.now() - SILENT
    names = set(IdleWorker.objects.filter(looked_at__gte=since).values_list("name", flat=True))
    held = {"status": RUNNING, "heartbeat_at__gte": since}
    for model in apps.get_models():
        if issubclass(model, Claimed):
            rows = model._default_manager.filter(**held).exclude(claimed_by="")
            names.update(rows.values_list("claimed_by", flat=True))
    return len(names)
