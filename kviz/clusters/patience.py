"""How long reading waits for an API server that is busy, fails, or is away for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kviz.clusters.reading.problems import (
    ClusterProblem,
    Refusal,
    ServerFailed,
    StreamCut,
    TooManyRequests,
    Unreachable,
    Untrusted,
)

FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 8.0


@dataclass
class Patience:
    """Waits before a request is sent again, `budget_s` seconds in all."""

    budget_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    _has_answered: bool = False
    _failures: int = 0
    """Since the last answer."""

    def answered(self) -> None:
        """The server answered: the next wait is a short one again."""
        self._has_answered, self._failures = True, 0

    def wait(self, problem: ClusterProblem) -> None:
        """Wait as long as this problem wants it. Raises it when that makes no sense, or no more.

        A server that has never answered is at a wrong address rather than away.
        """
        if not self._may_pass(problem):
            raise problem
        wait_s = min(FIRST_WAIT_S * 2**self._failures, LONGEST_WAIT_S)
        if isinstance(problem, Refusal) and problem.retry_after_s is not None:
            wait_s = max(problem.retry_after_s, FIRST_WAIT_S)
        if wait_s > self.budget_s:
            raise problem
        self._failures += 1
        self.budget_s -= wait_s
        self.sleep(wait_s)

    def _may_pass(self, problem: ClusterProblem) -> bool:
        if isinstance(problem, TooManyRequests | ServerFailed):
            return True
        if isinstance(problem, Untrusted):
            return False
        return self._has_answered and isinstance(problem, Unreachable | StreamCut)
