"""The decisions in a scheduler's writes: bindings, and messages of pending pods.

An attempt that ends with the message it ended with before is not written, and so is not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from kviz.following.changes import Change
from scheduler_core.api import Pod, PodCondition

POD_SCHEDULED: Final = "PodScheduled"
UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"
REASONS: Final = (UNSCHEDULABLE, SCHEDULER_ERROR)
"""Of a PodScheduled=False that a scheduling attempt writes; a gate's is the API server's."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A binding to `node`, or a message; `before` is the pod as the decision found it.

    `version` is that of the write that says it. `nominated` is the node that this write nominates.
    """

    number: int
    what: Literal["binding", "message"]
    pod: Pod
    before: Pod
    version: int
    at_ns: int
    node: str = ""
    message: str = ""
    reason: str = ""
    nominated: str = ""


def decision_of(number: int, change: Change, before: object) -> Decision | None:
    """Return what a change of a pod says that its scheduler decided; None if it says nothing."""
    pod = change.item
    if not isinstance(pod, Pod) or change.what == "DELETED":
        return None
    was = before if isinstance(before, Pod) and before.uid == pod.uid else None
    if pod.spec.node_name:
        if was is None or was.spec.node_name:
            return None
        return Decision(
            number, "binding", pod, was, change.version, change.at_ns, node=pod.spec.node_name
        )
    told = scheduled_condition(pod)
    if told is None or told.status != "False" or told.reason not in REASONS:
        return None
    known = scheduled_condition(was) if was is not None else None
    if known is not None and (known.reason, known.message) == (told.reason, told.message):
        return None
    nominated = pod.status.nominated_node_name
    is_new = was is None or nominated != was.status.nominated_node_name
    return Decision(
        number,
        "message",
        pod,
        was or pod,
        change.version,
        change.at_ns,
        message=told.message,
        reason=told.reason,
        nominated=nominated if is_new else "",
    )


def scheduled_condition(pod: Pod) -> PodCondition | None:
    """Return what the pod's status says of its scheduling, None if it says nothing."""
    return next((each for each in pod.status.conditions if each.type == POD_SCHEDULED), None)
