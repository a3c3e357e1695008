"""Why a pod found no node."""

from __future__ import annotations

from scheduler_core.trace.events import FilterFinished
from scheduler_core.trace.records import NONE


def leading_plugin(step: FilterFinished) -> int:
    """Return the plugin that was first to reject most nodes; -1 if some node was feasible.

    Among equals it is the one that nodes got furthest to: it says more.
    """
    if step.n_feasible or not step.rejected:
        return NONE
    return max(reversed(step.rejected), key=lambda each: each.n_nodes).plugin
