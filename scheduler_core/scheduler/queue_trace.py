"""What the queue decides, as trace events."""

from __future__ import annotations

from scheduler_core.queue.moves import Move, QueueEvent, Strategy, Via
from scheduler_core.trace.events import NominationChanged, QueueMoved
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import HintRecord


def record_queue_event(event: QueueEvent, recorder: Recorder) -> None:
    """Record a decision, unless it left a parked pod where it is without asking its plugins.

    With many pods parked those are most of what the queue decides.
    """
    if isinstance(event, Move) and _is_overlooked(event):
        return
    pod = recorder.pod(event.pod.uid)
    if isinstance(event, Move):
        recorder.emit(_queue_moved(event, pod, recorder))
    else:
        recorder.emit(NominationChanged(pod, recorder.node(event.node_name)))


def _is_overlooked(move: Move) -> bool:
    """Return whether none of the plugins that rejected the pod registered for the event."""
    return (
        move.strategy is Strategy.SKIP
        and not move.hints
        and move.via in (Via.CLUSTER_EVENT, Via.SELF_UPDATE)
    )


def _queue_moved(move: Move, pod: int, recorder: Recorder) -> QueueMoved:
    return QueueMoved(
        pod=pod,
        queue=move.queue,
        event=move.event,
        cause=move.cause,
        hints=tuple(HintRecord(recorder.plugin(h.plugin), h.hint.value) for h in move.hints),
        strategy=move.strategy.value if move.strategy else "",
        gated_by=recorder.plugin(move.gated_by),
        backoff_until_ns=move.backoff_until_ns,
    )
