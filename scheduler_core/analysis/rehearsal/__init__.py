"""What another release of the scheduler changes for a cluster, and which of its changes does.

`rules.py` says what the release makes of a configuration and of gates. `causes.py` runs the
cluster under both releases, and again as under the new one with single changes undone.
"""

from scheduler_core.analysis.rehearsal.causes import (
    Both,
    Difference,
    Differences,
    Kind,
    Rehearsal,
    ReleaseChange,
    Trials,
    rehearse,
)
from scheduler_core.analysis.rehearsal.rules import Carried, carried

__all__ = [
    "Both",
    "Carried",
    "Difference",
    "Differences",
    "Kind",
    "Rehearsal",
    "ReleaseChange",
    "Trials",
    "carried",
    "rehearse",
]
