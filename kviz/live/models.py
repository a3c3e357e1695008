"""Which workers look for work. Those that work show it by the rows they hold."""

from __future__ import annotations

from django.db import models


class IdleWorker(models.Model):
    """A worker that found nothing to do when it looked last."""

    name = models.CharField(max_length=100, primary_key=True)
    looked_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
