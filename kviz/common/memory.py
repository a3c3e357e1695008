"""How much memory the machine has left, for what a worker keeps to be faster next time."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SPARE: Final = 0.25
"""Nothing is kept while less than this share of the memory is available."""


def memory_is_short() -> bool:
    """Whether kept data must be dropped; False if the machine does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        amounts = {line.partition(":")[0]: int(line.split()[1]) for line in lines}
        return amounts["MemAvailable"] < SPARE * amounts["MemTotal"]
    except (OSError, LookupError, ValueError):
        return False
