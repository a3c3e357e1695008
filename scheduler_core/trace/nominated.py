"""What nominated pods did to a cycle's Filter: on which nodes they decide, and what they take.

Filter runs twice on a node to which pods of equal or higher priority are nominated: with them, as
if they had come, and without. The trace has the nodes where that makes a difference. The
Explorer's twin is `frontend/src/store/nominated.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scheduler_core.trace.cycle_record import CycleRecord, examined
from scheduler_core.trace.names import Names, Rejection
from scheduler_core.trace.records import NominatedOnNode

Effect = Literal["rejects", "changes", "needed"]
"""What nominated pods do to a node that is rejected.

`rejects`: without them the node would pass. `changes`: it would be rejected as well, with another
status. `needed`: it passes only with them, and Filter does not rely on their coming.
"""


@dataclass(frozen=True, slots=True)
class Nominee:
    """A nominated pod (`namespace/name`), and by resource what it takes.

    Cpu is in milli, all else in bytes or units.
    """

    pod: str
    requests: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Nominated:
    """The nominated pods that count on a node, and what they do to it.

    `without` is how the node would be rejected without them, None if it would pass.
    """

    effect: Effect
    pods: tuple[Nominee, ...]
    without: Rejection | None


def counted_on(record: CycleRecord) -> dict[int, NominatedOnNode]:
    """Return the nodes on which nominated pods decide, as the trace has them."""
    columns = record.filter_columns
    return {each.node: each for each in columns.nominated} if columns else {}


def nominated_by_node(record: CycleRecord, names: Names) -> dict[int, Nominated]:
    """Return what nominated pods do, by node."""
    columns = record.filter_columns
    if columns is None or not columns.nominated:
        return {}
    statuses = columns.status.array().tolist()
    status_of = dict(zip(examined(record, names.order), statuses, strict=True))
    return {
        each.node: Nominated(
            _effect(status_of[each.node], each.without),
            tuple(Nominee(names.pod(pod.pod), names.amounts(pod.requests)) for pod in each.pods),
            names.rejection(columns.statuses[each.without]) if each.without else None,
        )
        for each in columns.nominated
    }


def _effect(status: int, without: int) -> Effect:
    if not without:
        return "rejects"
    return "needed" if status == without else "changes"


def nominated_document(found: Nominated) -> dict[str, object]:
    """Return the one shape in which REST and the command line give it out."""
    return {
        "effect": found.effect,
        "pods": [{"pod": each.pod, "requests": dict(each.requests)} for each in found.pods],
        "without": rejection_document(found.without) if found.without else None,
    }


def rejection_document(rejection: Rejection) -> dict[str, object]:
    return {
        "plugin": rejection.plugin,
        "code": rejection.code,
        "reasons": list(rejection.reasons),
    }
