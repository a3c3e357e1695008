"""How fast this machine is just now, as the time of a fixed loop."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

N_ITERATIONS: Final = 20_000_000

REFERENCE: Final[Mapping[tuple[str, int], int]] = {
    ("basic", 500): 2350,
    ("basic", 1000): 1300,
    ("basic", 5000): 1165,
    ("spread", 5000): 430,
    ("antiaffinity", 5000): 430,
    ("preemption", 500): 265,
}
"""Pods that kube-scheduler v1.36 schedules per calibration, by workload and number of nodes."""


def loop_s(n_iterations: int) -> float:
    """Return the CPU seconds that so many rounds of the loop take."""
    start_s = time.process_time()
    x = 0
    for i in range(n_iterations):
        x = (x * 31 + i) & 0xFFFFFFFF
    return time.process_time() - start_s
