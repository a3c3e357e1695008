"""A `0/216 nodes are available: ...` message, down to the nodes of a run that it counts.

Pure: no database. Messages in older wordings may not name any node of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kviz.reference.plugin_guide import reason_guide
from kviz.reference.plugin_texts import Reason
from kviz.runs.reading.projection import StatusDocument
from scheduler_core.evidence.fit_error import Counted, fit_error

NODES_NAMED: Final = 12


@dataclass(frozen=True)
class Meaning:
    """What a reason means, and the nodes it means it for, in node order.

    The same words can mean two things: a node that is full, and one that is too small.
    """

    guide: Reason | None
    nodes: list[str] = field(default_factory=list)

    @property
    def named(self) -> list[str]:
        return self.nodes[:NODES_NAMED]

    @property
    def unnamed(self) -> list[str]:
        return self.nodes[NODES_NAMED:]


@dataclass(frozen=True)
class Clause:
    """One reason and how many nodes it stands for; `count` is None if it stands for the pod."""

    count: int | None
    reason: str
    plugin: str
    meanings: list[Meaning]

    @property
    def nodes(self) -> list[str]:
        return [node for meaning in self.meanings for node in meaning.nodes]


@dataclass(frozen=True)
class Decoded:
    """`clauses` are Filter's reasons, `preemption` those of the dry runs, `tail` other text."""

    n_nodes: int
    clauses: list[Clause]
    preemption: list[Clause]
    tail: str


def decode(
    message: str,
    rejected: Mapping[str, StatusDocument],
    pre_filter: StatusDocument | None = None,
) -> Decoded | None:
    """Decode a message against what a cycle's PreFilter said and the nodes it rejected.

    None if it is no such message.
    """
    found = fit_error(message)
    if found is None:
        return None
    return Decoded(
        n_nodes=found.n_nodes,
        clauses=[_clause(each, rejected, pre_filter) for each in found.reasons],
        preemption=[_clause(each, {}, None) for each in found.preemption],
        tail=found.tail,
    )


def _clause(
    counted: Counted, rejected: Mapping[str, StatusDocument], pre_filter: StatusDocument | None
) -> Clause:
    count, reason = counted
    by_code: dict[str, list[str]] = {}
    plugin = ""
    for node, status in rejected.items():
        if reason in status.get("reasons", ()):
            by_code.setdefault(status["code"], []).append(node)
            plugin = status.get("plugin", "")
    if pre_filter is not None and reason in pre_filter.get("reasons", ()):
        plugin = pre_filter.get("plugin", "")
    found = reason_guide(reason)
    return Clause(
        count,
        reason,
        plugin or (found[0].name if found else ""),
        [_meaning(reason, code, nodes) for code, nodes in (by_code or {"": []}).items()],
    )


def _meaning(reason: str, code: str, nodes: list[str]) -> Meaning:
    found = reason_guide(reason, code)
    return Meaning(found[1] if found else None, nodes)
