"""Which part of the scheduler the time of a workload goes to, by looking in every so often."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Mapping
from types import FrameType
from typing import Final

INTERVAL_S: Final = 0.001
"""Time between two looks."""

PARTS: Final[Mapping[tuple[str, str], str]] = {
    ("framework.runtime", "run_pre_filter"): "PreFilter",
    ("framework.runtime", "run_filter_with_nominated_pods"): "Filter",
    ("framework.runtime", "run_post_filter"): "PostFilter (preemption)",
    ("framework.runtime", "run_pre_score"): "PreScore",
    ("framework.runtime", "run_score"): "Score",
    ("scheduler.algorithm", "find_feasible_nodes"): "the rest of the search",
    ("scheduler.algorithm", "prioritize"): "totals, and the pick",
    ("scheduler.cycle_trace", "filter"): "trace: recording the cycle",
    ("scheduler.cycle_trace", "scoring"): "trace: recording the cycle",
    ("scheduler.cycle_trace", "post_filter"): "trace: recording the cycle",
    ("trace.codec", "add"): "trace: encoding events",
    ("trace.codec", "cut"): "trace: hashing, compressing",
    ("scheduler.cycle", "_prepare_binding"): "assume, Reserve, Permit",
    ("scheduler.binding", "_bind"): "Bind, API server, watchers",
    ("scheduler.failure", "handle"): "requeueing after a failure",
    ("queue.scheduling_queue", "pop"): "popping pods",
    ("sim.simulation", "finish_attempt"): "evictions",
    ("sim.simulation", "advance_to"): "clock and what falls due",
}
"""Parts by module and function; of nested ones the innermost counts, Filter inside preemption
as preemption."""

_WHOLE: Final = ("PostFilter (preemption)",)


class Parts:
    """Looks where the process is, from `start` to `stop`, and counts by part."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def start(self) -> None:
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, INTERVAL_S, INTERVAL_S)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def shares(self) -> dict[str, float]:
        """Return each part's share of the time, the largest first."""
        total = sum(self.counts.values()) or 1
        return {part: round(n / total, 4) for part, n in self.counts.most_common()}

    def _look(self, signum: int, frame: FrameType | None) -> None:
        self.counts[part_of(frame)] += 1


def part_of(frame: FrameType | None) -> str:
    """Return the part that a frame belongs to."""
    innermost = ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", "")).removeprefix("scheduler_core.")
        part = PARTS.get((module, frame.f_code.co_name), "")
        if part in _WHOLE:
            return part
        innermost = innermost or part
        frame = frame.f_back
    return innermost or "all else"
