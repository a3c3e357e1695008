"""How long a worker may take for one piece of work, and what is said of one that took longer.

The work itself checks the clock: it ends in order, and its results so far stay stored. If it no
longer checks, because a plugin hangs, its process is ended some time later
(`kviz.live.tasks.end_overdue`). Either way its row has failed, and is not tried again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from kviz.common.announcing import Kind
from scheduler_core.wording import say


@dataclass(frozen=True)
class TimeLimit:
    """What one kind of work may take at a stretch: the number of seconds in a setting."""

    of: str
    setting: str

    @property
    def seconds(self) -> int:
        """After so long the work ends itself."""
        return int(getattr(settings, self.setting))

    @property
    def hard_seconds(self) -> int:
        """After so long its process is ended."""
        return self.seconds + int(settings.GRACE_SECONDS)

    def ends_at(self) -> float:
        """When work that begins now must end, by the monotonic clock."""
        return time.monotonic() + self.seconds


RUN: Final = TimeLimit(say("time_limit.run", "a run"), "RUN_SECONDS")
SEARCH: Final = TimeLimit(say("time_limit.optimum", "the search for an optimum"), "RUN_SECONDS")
EXPERIMENT: Final = TimeLimit(say("time_limit.experiment", "an experiment"), "EXPERIMENT_SECONDS")
LIMITS: Final[dict[Kind, TimeLimit]] = {
    "run": RUN,
    "optimum": SEARCH,
    "experiment": EXPERIMENT,
    "portion": EXPERIMENT,
    "luck": EXPERIMENT,
}


class TookTooLong(Exception):
    """The work has taken longer than it may."""

    def __init__(self, limit: TimeLimit) -> None:
        super().__init__(
            say(
                "time_limit.exceeded",
                "It took longer than the limit of {n:,} s for {of} ({setting}).",
                n=limit.seconds,
                of=limit.of,
                setting=f"KVIZ_{limit.setting}",
            )
        )
