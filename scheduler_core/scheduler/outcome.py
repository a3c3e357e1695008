"""How a scheduling cycle ends.

Upstream: v1.36 pkg/scheduler/schedule_one.go (ScheduleResult) and framework/types.go (FitError).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.status import Code, Status
from scheduler_core.queue.nominator import OVERRIDE
from scheduler_core.scheduler.assumed_pod import AssumedPod
from scheduler_core.trace.records import Nominating

NO_NODES_AVAILABLE = "no nodes available to schedule pods"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The pod is assumed on its node and reserved there; its binding cycle may begin.

    With `waits_on_permit` it is bound only when the Permit plugins that hold it allow it.
    """

    assumed: AssumedPod
    waits_on_permit: bool = False


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """No node fits, or a plugin rejected the node that was picked: the pod waits for a change.

    The plugins are those whose events may wake the pod. Unless PostFilter says otherwise the pod's
    nomination is cleared.
    """

    message: str
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    nominating: Nominating = OVERRIDE
    nominated_node: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something went wrong, as opposed to a rejection; the pod is tried again after a backoff."""

    message: str
    unschedulable_plugins: ClassVar[frozenset[str]] = frozenset()
    pending_plugins: ClassVar[frozenset[str]] = frozenset()
    nominating: ClassVar[Nominating] = OVERRIDE
    nominated_node: ClassVar[str] = ""


NotScheduled: TypeAlias = Unschedulable | Failed
Outcome: TypeAlias = Scheduled | NotScheduled


def no_node_fits(diagnosis: Diagnosis, post_filter: PostFilterOutcome) -> Unschedulable:
    """Return the outcome of a cycle in which plugins have rejected every node."""
    return Unschedulable(
        diagnosis.message(),
        frozenset(diagnosis.unschedulable_plugins),
        frozenset(diagnosis.pending_plugins),
        post_filter.nominating,
        post_filter.node_name,
    )


def refused(status: Status) -> NotScheduled:
    """Return the outcome of Reserve or Permit: a fit error over the one node, or an error."""
    if not status.is_rejected:
        return Failed(status.message)
    counts = Counter(status.reasons)
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return Unschedulable(
        f"0/1 nodes are available: {reasons}." if reasons else "0/1 nodes are available:",
        frozenset((status.plugin,)),
        frozenset((status.plugin,) if status.code is Code.PENDING else ()),
    )
