"""Why a pod is pending: what the engine makes of its last cycle, and what comes next.

Pure: no database. Words for people are made where they are shown; these are the facts.
"""

from __future__ import annotations

from typing import Protocol

from kviz.runs.reading.projection import CycleDocument, Json
from scheduler_core.trace.index import UNKNOWN
from scheduler_core.trace.why import Why, why_document


class PodFacts(Protocol):
    """What is known of a pod at the end (`kviz.runs.models.PodOutcome`)."""

    pod: str
    queue: str
    node: str
    nominated_node: str
    attempts: int
    last_cycle: int
    gated_by: str
    backoff_until_ns: int
    moved_by: str
    evicted_in_cycle: int | None
    evicted_by: str
    deleted: bool


def status_of(pod: PodFacts) -> str:
    """`bound`, `deleted`, `unknown`, `gated`, `not_attempted` or `pending`."""
    if pod.deleted:
        return "deleted"
    if pod.node:
        return "bound"
    if pod.queue == UNKNOWN:
        return UNKNOWN
    if pod.gated_by:
        return "gated"
    return "pending" if pod.last_cycle else "not_attempted"


def pod_why_document(pod: PodFacts, cycle: CycleDocument | None, found: Why) -> Json:
    """The answer to "why is this pod pending?"; `cycle` is its last one, if it had any."""
    return {
        "pod": pod.pod,
        "status": status_of(pod),
        "node": pod.node,
        "nominated_node": pod.nominated_node,
        "attempts": pod.attempts,
        "message": cycle["message"] if cycle else "",
        "cycle": pod.last_cycle or None,
        **why_document(found),
        "preemption": cycle["preemption"] if cycle else None,
        "next": {
            "queue": pod.queue,
            "moved_by": pod.moved_by,
            "gated_by": pod.gated_by,
            "backoff_until_ns": pod.backoff_until_ns,
            "waits_for": cycle["unschedulable_plugins"] if cycle else [],
        },
        "evicted_in_cycle": pod.evicted_in_cycle,
        "evicted_by": pod.evicted_by,
    }
