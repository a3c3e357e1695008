"""Take a `0/216 nodes are available: ...` message apart, down to the nodes it counts.

Pure: no database. Older wordings are taken apart, too; they just may not name any node of a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kviz.reference.plugin_guide import Reason, reason_guide
from kviz.runs.reading.projection import StatusDocument

NODES_NAMED: Final = 12

_HEAD: Final = re.compile(r"(\d+)/(\d+) nodes are available:\s*")
_COUNTED: Final = re.compile(r"(\d+) (.+)", re.DOTALL)
_NEXT_CLAUSE: Final = re.compile(r", (?=\d+ )")
_END: Final = re.compile(r"\.(?:\s+|$)")


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
    head = _HEAD.search(message)
    if head is None:
        return None
    body, rest = _split_sentence(message[head.end() :])
    second = _HEAD.search(rest)
    preemption, tail = "", rest
    if second is not None:
        preemption, _ = _split_sentence(rest[second.end() :])
        tail = rest[: second.start()]
    return Decoded(
        n_nodes=int(head.group(2)),
        clauses=[_clause(text, rejected, pre_filter) for text in _NEXT_CLAUSE.split(body)],
        preemption=[_clause(text, {}, None) for text in _NEXT_CLAUSE.split(preemption) if text],
        tail=tail.strip(" ,:"),
    )


def reasons_in(message: str) -> str:
    """Filter's reasons of a message, without the count before and the preemption after them."""
    head = _HEAD.search(message)
    return message if head is None else _split_sentence(message[head.end() :])[0]


def _split_sentence(text: str) -> tuple[str, str]:
    """Cut at the dot that ends the reasons; dots inside names are followed by no space."""
    end = _END.search(text)
    return (text, "") if end is None else (text[: end.start()], text[end.end() :])


def _clause(
    text: str, rejected: Mapping[str, StatusDocument], pre_filter: StatusDocument | None
) -> Clause:
    counted = _COUNTED.fullmatch(text)
    count, reason = (int(counted.group(1)), counted.group(2)) if counted else (None, text)
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
