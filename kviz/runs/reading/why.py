"""Why a pod is pending: what the engine makes of its last cycle, and what comes next.

No queries: it takes rows that were read. Sentences are made where they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from kviz import sentences
from kviz.runs.models import PodOutcome
from kviz.runs.reading.projection import CycleDocument, Json
from scheduler_core.trace.index import UNKNOWN
from scheduler_core.trace.why import Why, why_document

PodStatus = Literal["bound", "deleted", "unknown", "gated", "not_attempted", "pending"]


def status_of(pod: PodOutcome) -> PodStatus:
    """What happened to a pod by the end of what is stored."""
    if pod.deleted:
        return "deleted"
    if pod.node:
        return "bound"
    if pod.queue == UNKNOWN:
        return "unknown"
    if pod.gated_by:
        return "gated"
    return "pending" if pod.last_cycle else "not_attempted"


def pod_why_document(
    pod: PodOutcome,
    cycle: CycleDocument | None,
    found: Why,
    registered: Mapping[str, Sequence[str]],
) -> Json:
    """The answer to "why is this pod pending?"; `cycle` is its last one, if it had any.

    `registered` are the events that each plugin of its profile asked for.
    """
    waits_for = cycle["unschedulable_plugins"] if cycle else []
    asked = [*waits_for, *([pod.gated_by] if pod.gated_by else ())]
    return {
        "pod": pod.pod,
        "status": status_of(pod),
        "node": pod.node,
        "nominated_node": pod.nominated_node,
        "attempts": pod.attempts,
        "message": cycle["message"] if cycle else "",
        "lead": sentences.said(pod.lead),
        "owner": pod.owner,
        "cluster_says": pod.cluster_says,
        "cycle": pod.last_cycle or None,
        **why_document(found),
        "preemption": cycle["preemption"] if cycle else None,
        "next": {
            "queue": pod.queue,
            "moved_by": pod.moved_by,
            "gated_by": pod.gated_by,
            "backoff_until_ns": pod.backoff_until_ns,
            "waits_for": waits_for,
            "wakes": {name: list(registered[name]) for name in asked if name in registered},
        },
        "evicted_in_cycle": pod.evicted_in_cycle,
        "evicted_by": pod.evicted_by,
    }
