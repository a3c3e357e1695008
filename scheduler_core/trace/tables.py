"""What events mean, as tables that Python and the browser share.

`fold.py` and `why.py` read them here, their twins in `frontend/src/store/` from the module that
`typescript.py` generates; a test in each language holds the fold against `CHANGES`, event by event.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from scheduler_core.trace.records import Queue, Result


class Cache(IntEnum):
    """What the scheduler's cache holds of a pod."""

    ABSENT = 0
    ASSUMED = 1
    ADDED = 2


TERMINAL_PHASES: Final = ("Succeeded", "Failed")
"""A pod in one of these takes no room and waits for no node."""

OCCUPYING: Final = (Cache.ASSUMED, Cache.ADDED)
"""States of the cache in which a pod takes room on its node."""

WAITING_QUEUES: Final = (Queue.ACTIVE, Queue.BACKOFF, Queue.UNSCHEDULABLE, Queue.GATED)
"""Where pods wait for their next attempt."""

CACHE_AFTER: Final[Mapping[str, Cache]] = {
    "Assumed": Cache.ASSUMED,
    "Forgotten": Cache.ABSENT,
    "Bound": Cache.ADDED,
}
"""By event: what the cache holds of its pod afterwards."""

QUEUE_AFTER: Final[Mapping[Result, Queue]] = {
    Result.SCHEDULED: Queue.BINDING,
    Result.UNSCHEDULABLE: Queue.NOWHERE,
    Result.ERROR: Queue.NOWHERE,
    Result.BIND_ERROR: Queue.NOWHERE,
    Result.SKIPPED: Queue.NOWHERE,
    Result.WAITING: Queue.WAITING_ON_PERMIT,
    Result.UNKNOWN: Queue.NOWHERE,
}
"""Where a pod is that its cycle left in flight; a `QueueMoved` may follow."""

RESOLVABLE: Final = "Unschedulable"
UNRESOLVABLE: Final = "UnschedulableAndUnresolvable"
REJECTING: Final = (RESOLVABLE, UNRESOLVABLE, "Pending")
"""Codes of a status with which a plugin rejects; evicting pods can only help with the first."""

UNSCHEDULABLE_MINUTES: Final = 5
"""How long a pod stays in unschedulablePods at most, before it is tried without an event."""
FIT: Final = "NodeResourcesFit"
PODS: Final = "pods"
TOO_MANY_PODS: Final = "Too many pods"
INSUFFICIENT: Final = "Insufficient "
INSUFFICIENT_OTHERS: Final = "Insufficient further resources"
"""The plugin that rejects for want of room, and how its reasons name what is short."""

CHANGES: Final[Mapping[str, tuple[str, ...]]] = {
    "RunStarted": ("run", "now_ns"),
    "ClockAdvanced": ("now_ns",),
    "ResourcesDefined": ("resources", "usage"),
    "NodeAdded": ("nodes",),
    "NodeUpdated": ("nodes",),
    "NodeDeleted": ("nodes",),
    "NodeOrderChanged": ("node_order",),
    "PodAdded": ("pods", "usage"),
    "PodUpdated": ("pods", "usage"),
    "PodDeleted": ("pods", "usage"),
    "PodEvicted": ("pods", "n_evicted"),
    "ScenarioStepped": (),
    "QueueMoved": ("pods",),
    "NominationChanged": ("pods",),
    "CycleStarted": ("pods", "cycle"),
    "PreFilterFinished": (),
    "FilterFinished": (),
    "PreScoreFinished": (),
    "NodeSelected": (),
    "PostFilterFinished": (),
    "PreemptionStarted": (),
    "PreemptionDecided": (),
    "PreemptionIneligible": (),
    "Assumed": ("pods", "usage"),
    "Unreserved": (),
    "Forgotten": ("pods", "usage"),
    "PointFinished": ("pods",),
    "PermitWaiting": ("pods",),
    "PermitResolved": ("pods",),
    "DevicesAllocated": (),
    "Bound": ("pods", "usage", "n_bound"),
    "CycleFinished": ("pods", "cycle", "results"),
    "EventRecorded": (),
    "ExtenderCalled": (),
    "RunFinished": ("finished",),
}
"""By header event: the parts of `TraceState` it may change.

Those that change nothing only describe the running cycle: they become its steps.
"""
