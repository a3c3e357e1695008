"""The queue's decisions, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import EventObject, QueueingHint
from scheduler_core.trace.records import Queue


class Via(StrEnum):
    """Why the queue looked at a pod; the first four words are those of the recordings."""

    CLUSTER_EVENT = "clusterEvent"
    SELF_UPDATE = "selfUpdate"
    IN_FLIGHT_EVENT = "inFlightEvent"
    ATTEMPT_FAILURE = "attemptFailure"
    ADDED = "added"
    ACTIVATED = "activated"
    BACKOFF_COMPLETE = "backoffComplete"
    DELETED = "deleted"


class Strategy(StrEnum):
    """How urgently a pod is requeued (upstream: queueingStrategy)."""

    SKIP = "skip"
    AFTER_BACKOFF = "afterBackoff"
    IMMEDIATELY = "immediately"


@dataclass(frozen=True, slots=True)
class Hint:
    """What one rejector plugin said about an event."""

    plugin: str
    hint: QueueingHint


@dataclass(frozen=True, slots=True)
class Move:
    """A decision about a pod, also the decision to leave it where it is.

    `queue` is where the pod is afterwards (`IN_FLIGHT` for an in-flight event: what follows
    from it is in the attempt failure after it). `event` is the label of the cluster event,
    `cause` the key of the object behind it. `hints` holds all rejector plugins registered for
    the event, although the first `Queue` decides. `strategy` is empty where no event was
    weighed. `gated_by` is the PreEnqueue plugin that holds the pod; `backoff_until_ns` is 0
    unless the pod is in backoffQ.
    """

    pod: PodInfo
    queue: Queue
    event: str
    via: Via
    cause: str = ""
    hints: tuple[Hint, ...] = ()
    strategy: Strategy | None = None
    gated_by: str = ""
    backoff_until_ns: int = 0


@dataclass(frozen=True, slots=True)
class Nomination:
    """A pod's nominated node changed; `node_name` is empty when the nomination is cleared."""

    pod: PodInfo
    node_name: str


QueueEvent = Move | Nomination


def key_of(old: EventObject, new: EventObject) -> str:
    """Return the key of the object an event is about, empty if it is about none."""
    item = new if new is not None else old
    return "" if item is None else item.key
