"""One question of a real scheduler, from its first byte to the last byte of the answer.

Who receives the request (`kviz/project/extender_deadline.py`) makes an `Asked` and has it in the
context; the view notes there what the question says. Recording waits until the answer was sent.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from kviz.extenders.incoming import Exchange, Verb
from kviz.extenders.observer import ObservedCall


@dataclass
class Asked:
    """A question and, as soon as it was read, what it says."""

    at_ns: int = field(default_factory=time.time_ns)
    _began_ns: int = field(default_factory=time.monotonic_ns)
    _said: tuple[UUID, Verb, Exchange] | None = None

    def says(self, run_id: UUID, verb: Verb, exchange: Exchange) -> None:
        self._said = run_id, verb, exchange

    def answered(self) -> tuple[UUID, ObservedCall] | None:
        """Return the call to record now that its answer was sent; None if there is none."""
        if self._said is None:
            return None
        run_id, verb, exchange = self._said
        took_ns = time.monotonic_ns() - self._began_ns
        return run_id, ObservedCall(self.at_ns, verb, exchange, took_ns)


current: Final[ContextVar[Asked | None]] = ContextVar("asked", default=None)
