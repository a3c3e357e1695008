"""The hint "run advanced to seq n".

A worker process cannot reach an in-memory channel layer, so it writes its hints as lines to its
standard output, which `kviz serve` reads and passes on (docs/adr/0011-a-workers-hints.md).
"""

from __future__ import annotations

import sys
from uuid import UUID

from django.conf import settings

from kviz.live.hints import Hint, announce, announce_from_thread


def group_of(run_id: UUID) -> str:
    return f"run.{run_id}"


def deliver(run_id: UUID, seq: int, **_: object) -> None:
    """Receive `run_advanced` in the process that serves viewers, in whatever thread."""
    announce_from_thread(group_of(run_id), _hint(run_id, seq))


def write(run_id: UUID, seq: int, **_: object) -> None:
    """Receive `run_advanced` in a worker: over Redis, or as a line to its supervisor."""
    if settings.REDIS_URL:
        deliver(run_id, seq)
    else:
        sys.stdout.write(f"{run_id} {seq}\n")
        sys.stdout.flush()


async def relay(line: str) -> None:
    """Pass on one line a worker wrote; others are not hints and are dropped."""
    run_id, _, seq = line.strip().partition(" ")
    if seq.lstrip("-").isdigit():
        await announce(group_of(UUID(run_id)), _hint(UUID(run_id), int(seq)))


def _hint(run_id: UUID, seq: int) -> Hint:
    return {"type": "run.advanced", "run": str(run_id), "seq": seq}
