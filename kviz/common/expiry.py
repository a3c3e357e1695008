"""When what is made for some days expires."""

from __future__ import annotations

import datetime as dt

from django.utils import timezone


def in_days(days: int | None) -> dt.datetime | None:
    """So many days from now; None, for what never expires, where no number was given."""
    return timezone.now() + dt.timedelta(days=days) if days else None
