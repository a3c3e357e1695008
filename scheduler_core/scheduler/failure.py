"""What follows when a pod does not get its node: back into the queue, and word to the user.

Upstream: v1.36 pkg/scheduler/schedule_one.go (handleSchedulingFailure).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from scheduler_core.api import PodCondition
from scheduler_core.cluster.pods import TemplateTable
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.status import Code, Status
from scheduler_core.queue.nominator import OVERRIDE
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.scheduling_queue import SchedulingQueue
from scheduler_core.scheduler.client import Client

POD_SCHEDULED: Final = "PodScheduled"
UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"
MAX_NOTE_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt ended without a node; `fit` says that plugins turned the pod down.

    Unless PostFilter says otherwise the pod's nomination is cleared.
    """

    message: str
    fit: bool
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    nominating: str = OVERRIDE
    node_name: str = ""


def fit_failure(diagnosis: Diagnosis, nominating: str = OVERRIDE, node_name: str = "") -> Failure:
    """Return the failure that plugins caused by rejecting nodes."""
    return Failure(
        diagnosis.message(),
        fit=True,
        unschedulable_plugins=frozenset(diagnosis.unschedulable_plugins),
        pending_plugins=frozenset(diagnosis.pending_plugins),
        nominating=nominating,
        node_name=node_name,
    )


def refusal(status: Status) -> Failure:
    """Return the failure after Reserve or Permit: a fit error over the one node, or an error."""
    if not status.is_rejected:
        return Failure(status.message, fit=False)
    counts = Counter(status.reasons)
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    pending = status.code is Code.PENDING
    return Failure(
        f"0/1 nodes are available: {reasons}." if reasons else "0/1 nodes are available:",
        fit=True,
        unschedulable_plugins=frozenset((status.plugin,)),
        pending_plugins=frozenset((status.plugin,) if pending else ()),
    )


class FailureHandler:
    """Requeues pods whose attempt failed and writes down why."""

    def __init__(self, queue: SchedulingQueue, client: Client, templates: TemplateTable) -> None:
        self._queue = queue
        self._client = client
        self._templates = templates

    def handle(self, queued: QueuedPodInfo, failure: Failure) -> None:
        """Requeue the pod, keep or change its nomination, and tell the user."""
        queued.clear_rejector_plugins()
        queued.unschedulable_plugins = set(failure.unschedulable_plugins)
        queued.pending_plugins = set(failure.pending_plugins)
        if not self._requeue(queued):
            return
        self._queue.nominator.add(queued.pod, failure.nominating, failure.node_name)
        pod, message = queued.pod, failure.message
        self._client.record_event(pod, "Warning", "FailedScheduling", _truncated(message))
        self._client.patch_pod_status(
            pod,
            PodCondition(
                type=POD_SCHEDULED,
                status="False",
                reason=UNSCHEDULABLE if failure.fit else SCHEDULER_ERROR,
                message=message,
            ),
            failure.node_name if failure.nominating == OVERRIDE else None,
        )

    def _requeue(self, queued: QueuedPodInfo) -> bool:
        """Put the pod back as it is now, unless it is gone, bound or another of its name.

        Tell whether it is still the pod to write the failure on.
        """
        live = self._client.pod(queued.pod.key)
        if live is None or live.spec.node_name or live.uid != queued.pod.uid:
            self._queue.done(queued.pod.uid)
            return live is None or live.uid == queued.pod.uid
        queued.pod = self._templates.info(live)
        self._queue.add_unschedulable_if_not_present(queued)
        return True


def _truncated(message: str) -> str:
    """Cut a note to what an Event may hold."""
    suffix = " ..."
    if len(message) <= MAX_NOTE_BYTES:
        return message
    return message[: MAX_NOTE_BYTES - len(suffix)] + suffix
