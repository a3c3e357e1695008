"""Reads: what each node says to a pod of one cycle; nodes that say the same are one row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypedDict

from kviz.runs.reading.projection import CycleDocument
from scheduler_core.evidence.cycle import CycleEvidence
from scheduler_core.sim.reenactment import ReenactedCycle

MAX_ROWS: Final = 30
"""So many groups are told apart; the others have less nodes."""
MAX_ASKED: Final = 8
"""So many nodes of a group are asked for their values; with more one speaks for all."""
MAX_NODES: Final = 40
"""So many nodes of a group are named."""


@dataclass
class NodeGroup:
    """Nodes that one plugin rejects alike: its recorded reasons, and what it says with values.

    With more than `MAX_ASKED` nodes the sentence is that of the first, an example. `also` is what
    other plugins say of a node that is alone.
    """

    plugin: str
    reasons: tuple[str, ...]
    nodes: list[str] = field(default_factory=list)
    sentence: str = ""
    also: list[str] = field(default_factory=list)

    @property
    def is_example(self) -> bool:
        return len(self.nodes) > MAX_ASKED


class NodeGroupDocument(TypedDict):
    """A group as REST and pages have it; `nodes` are the first `MAX_NODES` of `n_nodes`."""

    plugin: str
    reasons: list[str]
    nodes: list[str]
    n_nodes: int
    sentence: str
    is_example: bool
    also: list[str]


def node_groups(recorded: CycleDocument, cycle: ReenactedCycle | None) -> list[NodeGroupDocument]:
    """Group the rejected nodes of a cycle, the smallest group first; with `cycle` with values."""
    groups: dict[tuple[str, tuple[str, ...]], NodeGroup] = {}
    for node, status in recorded["filter"].items():
        key = (status.get("plugin", ""), tuple(status.get("reasons", ())))
        groups.setdefault(key, NodeGroup(*key)).nodes.append(node)
    found = list(groups.values())
    if cycle is not None:
        evidence = cycle.evidence
        found = [each for group in found for each in _by_sentence(group, evidence)]
    return [_document(each) for each in sorted(found, key=lambda each: len(each.nodes))[:MAX_ROWS]]


def _document(group: NodeGroup) -> NodeGroupDocument:
    return {
        "plugin": group.plugin,
        "reasons": list(group.reasons),
        "nodes": group.nodes[:MAX_NODES],
        "n_nodes": len(group.nodes),
        "sentence": group.sentence,
        "is_example": group.is_example,
        "also": group.also,
    }


def _by_sentence(group: NodeGroup, evidence: CycleEvidence) -> Iterator[NodeGroup]:
    """Yield a group with its sentence; few nodes of which each says its own are told apart."""
    if group.is_example:
        group.sentence = _sentence(evidence, group.nodes[0], group.plugin)
        yield group
        return
    alike: dict[str, NodeGroup] = {}
    for node in group.nodes:
        said = _sentence(evidence, node, group.plugin)
        part = alike.setdefault(said, NodeGroup(group.plugin, group.reasons, sentence=said))
        part.nodes.append(node)
    for part in alike.values():
        if len(part.nodes) == 1:
            rejections = evidence.node(part.nodes[0]).rejections
            part.also = [each.headline for each in rejections if each.plugin != group.plugin]
        yield part


def _sentence(evidence: CycleEvidence, node: str, plugin: str) -> str:
    """What the plugin that decided says of the node, short."""
    rejections = evidence.node(node).rejections
    return next((each.headline for each in rejections if each.plugin == plugin), "")
