"""What follows when a pod does not get its node: it is requeued, and its status says why.

Upstream: v1.36 pkg/scheduler/schedule_one.go (handleSchedulingFailure).
"""

from __future__ import annotations

from typing import Final

from scheduler_core.api import PodCondition
from scheduler_core.cluster.pods import TemplateTable
from scheduler_core.queue.nominator import OVERRIDE
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.scheduling_queue import SchedulingQueue
from scheduler_core.scheduler.client import Client
from scheduler_core.scheduler.outcome import NotScheduled, Unschedulable

POD_SCHEDULED: Final = "PodScheduled"
UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"
MAX_NOTE_BYTES: Final = 1024


class FailureHandler:
    """Requeues pods whose attempt failed and writes down why."""

    def __init__(self, queue: SchedulingQueue, client: Client, templates: TemplateTable) -> None:
        self._queue = queue
        self._client = client
        self._templates = templates

    def handle(self, queued: QueuedPodInfo, outcome: NotScheduled) -> None:
        """Requeue the pod, keep or change its nomination, write an Event and its condition."""
        queued.clear_rejector_plugins()
        queued.unschedulable_plugins = set(outcome.unschedulable_plugins)
        queued.pending_plugins = set(outcome.pending_plugins)
        if not self._requeue(queued):
            return
        self._queue.nominator.add(queued.pod, outcome.nominating, outcome.nominated_node)
        pod, message = queued.pod, outcome.message
        unschedulable = isinstance(outcome, Unschedulable)
        self._client.record_event(pod, "Warning", "FailedScheduling", _truncated(message))
        self._client.patch_pod_status(
            pod,
            PodCondition(
                type=POD_SCHEDULED,
                status="False",
                reason=UNSCHEDULABLE if unschedulable else SCHEDULER_ERROR,
                message=message,
            ),
            outcome.nominated_node if outcome.nominating == OVERRIDE else None,
        )

    def _requeue(self, queued: QueuedPodInfo) -> bool:
        """Put the pod back as it is now, unless it is gone, bound or another of its name.

        Return whether it is still the pod whose status must be written.
        """
        live = self._client.pod(queued.pod.key)
        if live is None or live.spec.node_name or live.uid != queued.pod.uid:
            self._queue.done(queued.pod.uid)
            return live is None or live.uid == queued.pod.uid
        queued.pod = self._templates.info(live)
        self._queue.add_unschedulable_if_not_present(queued)
        return True


def _truncated(message: str) -> str:
    """Cut a note to what an Event may hold, in bytes as upstream does (truncateMessage)."""
    suffix, text = b" ...", message.encode()
    if len(text) <= MAX_NOTE_BYTES:
        return message
    return (text[: MAX_NOTE_BYTES - len(suffix)] + suffix).decode(errors="replace")
