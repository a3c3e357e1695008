"""The one sentence that says why a pod found no node, with the values.

It is about the pod where that was rejected as a whole, and else about the node that came nearest
(`trace/why.py` says which that is, and here every plugin was asked). A pod that requests an
extended resource is meant for the nodes that offer it, so that the nearest of these leads. Of the
plugins that reject the node one leads whose cause lasts: what eviction or waiting removes comes
after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.evidence.cycle import CycleEvidence, PluginEvidence
from scheduler_core.trace.names import Rejection
from scheduler_core.trace.tables import FIT
from scheduler_core.trace.why import Why, is_lasting, standing
from scheduler_core.wording import AND, Text, say, series, some_of

MAX_MEANT: Final = 20
"""So many nodes that offer what a pod requests are looked at for the nearest."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What leads: the `sentence` of one plugin, as a predicate of the pod.

    `headline` is its short form, empty in what was stored before there were any. `node` is the one
    it is about, empty if it is about the pod itself; `which` says of all nodes which one that is.
    `also` are the sentences of the other plugins that reject that node, `elsewhere` those of other
    near misses, with their names.
    """

    plugin: str
    sentence: str
    node: str = ""
    which: str = ""
    also: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    headline: str = ""

    @property
    def text(self) -> str:
        """Return the headline, with the node it is about."""
        sentence = self.headline or self.sentence
        if not self.which:
            return sentence
        return say("lead.on_which", "{sentence} ({which})", sentence=sentence, which=self.which)

    @property
    def nearest(self) -> str:
        """Return the node it is about as a table names it, with what is special about it."""
        is_usual = isinstance(self.which, Text) and self.which.id == "lead.nearest"
        return self.node if is_usual else self.which or self.node

    @property
    def in_full(self) -> str:
        """Return the sentence where the headline leaves some of it out, else nothing."""
        return self.sentence if self.headline not in ("", self.sentence) else ""


def lead_of_why(evidence: CycleEvidence, found: Why) -> Lead | None:
    """Return what leads for a cycle that found no node, None if nothing is known to reject it.

    `found` is what the trace makes of the same cycle; it says which node is the nearest.
    """
    if evidence.pod:
        return lead_of_pod(evidence.pod)
    near = nearest_first(evidence, found)
    if not near:
        return None
    node = _nearest(evidence, near)
    rejections = rejections_of(evidence, found, node)
    if not rejections:
        return None
    if evidence.apart is not None:
        more = _others(evidence, found, "", near, ())
        return Lead(evidence.apart.plugin, evidence.apart.sentence, elsewhere=tuple(more))
    first, others = rejections[0], [name for name in near if name != node]
    same = [name for name in others if _says(evidence, name, first.sentence)]
    return Lead(
        first.plugin,
        first.sentence,
        node,
        _which(node, found.n_nodes, evidence, everywhere=len(same) + 1 == found.n_nodes),
        tuple(each.sentence for each in rejections[1:]),
        tuple(_others(evidence, found, node, [name for name in others if name not in same], same)),
        first.headline,
    )


def nearest_first(evidence: CycleEvidence, found: Why) -> list[str]:
    """Return the nodes that came nearest, now that every plugin is asked about them."""
    near = [miss.node for miss in found.nearest]
    others = [name for name in evidence.wanted if name not in near][:MAX_MEANT]
    wanted = [name for name in others if evidence.node(name).rejections]
    return sorted([*near, *wanted], key=lambda name: _standing(evidence, name))


def _standing(evidence: CycleEvidence, node: str) -> tuple[bool, tuple[bool, bool, int]]:
    """Return what to sort nodes by; one with another operating system is last."""
    return evidence.runs_other_os(node), standing(_known(evidence, node))


def rejections_of(evidence: CycleEvidence, found: Why, node: str) -> list[PluginEvidence]:
    """Return what rejects a node: lasting causes first; of equals what the cycle recorded.

    Of lasting causes a node that is too small is last: a larger one removes that.
    """
    recorded = next((miss.plugin for miss in found.nearest if miss.node == node), "")
    return sorted(
        evidence.node(node).rejections,
        key=lambda each: (_place(each), each.plugin != recorded),
    )


def _place(found: PluginEvidence) -> int:
    if not is_lasting(found.plugin, found.status.code.label):
        return 2
    return 1 if found.plugin == FIT else 0


def _known(evidence: CycleEvidence, node: str) -> list[Rejection]:
    return [
        Rejection(each.plugin, each.status.code.label, each.status.reasons)
        for each in evidence.node(node).rejections
    ]


def lead_of_pod(rejections: Sequence[PluginEvidence]) -> Lead:
    """Return what leads where plugins, at least one, reject the pod as a whole."""
    first, *others = rejections
    also = dict.fromkeys(each.sentence for each in others)
    also.pop(first.sentence, None)
    return Lead(first.plugin, first.sentence, also=tuple(also), headline=first.headline)


def lead_of_scheduler(name: str) -> Lead:
    """Return what leads for a pod that asks for a scheduler of another name."""
    return Lead(
        "",
        say("lead.no_profile", "asks for scheduler {name}, which no profile here has", name=name),
    )


def _nearest(evidence: CycleEvidence, near: Sequence[str]) -> str:
    """Return the nearest node, one of those the pod is meant for if there are any."""
    if evidence.meant is None:
        return near[0]
    meant = evidence.meant.nodes
    chosen = next((name for name in near if name in meant), None)
    return chosen or min(meant[:MAX_MEANT], key=lambda name: _standing(evidence, name))


def _which(node: str, n_nodes: int, evidence: CycleEvidence, *, everywhere: bool) -> str:
    meant = evidence.meant
    if n_nodes == 1:
        return say("lead.only_node", "{node}, the only node", node=node)
    if everywhere:
        return say("lead.all_nodes", "all {n_nodes:,} nodes", n_nodes=n_nodes)
    if meant is None or node not in meant.nodes:
        if evidence.large_enough == (node,):
            return say(
                "lead.only_large_enough",
                "{node}, of {n_nodes:,} nodes the only one large enough",
                node=node,
                n_nodes=n_nodes,
            )
        return say(
            "lead.nearest", "{node}, nearest of {n_nodes:,} nodes", node=node, n_nodes=n_nodes
        )
    what, n = series(meant.resources, AND), len(meant.nodes)
    return (
        say("lead.only_with", "{node}, the only node with {what}", node=node, what=what)
        if n == 1
        else say("lead.one_with", "{node}, one of {n:,} with {what}", node=node, n=n, what=what)
    )


def _says(evidence: CycleEvidence, node: str, sentence: str) -> bool:
    return any(each.sentence == sentence for each in evidence.node(node).rejections)


def _others(
    evidence: CycleEvidence, found: Why, node: str, others: Sequence[str], same: Sequence[str]
) -> Iterator[str]:
    """Yield what keeps the pod from the other near misses, and how many nodes are farther off."""
    if same and (others or len(same) + 1 < found.n_nodes):
        yield say("lead.same", "{nodes}: as on {node}", nodes=some_of(same), node=node)
    yield from _elsewhere(evidence, found, others)
    n_more = found.n_nodes - 1 - len(same) - len(others)
    if n_more == 1:
        yield say("lead.one_more", "1 more node is farther off")
    elif n_more > 1:
        yield say("lead.more", "{n:,} more nodes are farther off", n=n_more)


def _elsewhere(evidence: CycleEvidence, found: Why, nodes: Iterable[str]) -> Iterable[str]:
    """Yield what keeps the pod from other nodes, those with the same reason together."""
    by_sentence: dict[str, list[str]] = {}
    for name in nodes:
        rejections = rejections_of(evidence, found, name)
        by_sentence.setdefault(rejections[0].headline if rejections else "", []).append(name)
    for sentence, names in by_sentence.items():
        if sentence:
            yield say("list.what_why", "{what}: {why}", what=some_of(names), why=sentence)
