"""Which nodes to add so that pending pods bind, and which could be drained.

What to add is one variant: its search is a chain of runs. Each drain that is tried is a variant of
its own; those that succeed are made in the process that asks, too, so that the next ones begin in
the cluster they leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from kviz.experiments.question import Beginning, Outcome, Running, Variant
from kviz.forking.copies import ONE
from kviz.questions.nodes.text import addition_json
from kviz.runs.inputs import invalid
from scheduler_core.analysis.advice.nodes.adding import Addition, nodes_to_add
from scheduler_core.analysis.advice.nodes.draining import Drained, candidates, drain
from scheduler_core.analysis.advice.nodes.offers import offers_of
from scheduler_core.analysis.advice.nodes.shapes import Shapes, load_shapes
from scheduler_core.analysis.advice.pools import pools_of
from scheduler_core.analysis.advice.survival import standing_run
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.changes import Change, document_of
from scheduler_core.changes.vocabulary import CopyNode, Create
from scheduler_core.config import ConfigError, Problem
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.sim.run import Run as SimulatedCluster
from scheduler_core.sim.run import RunOptions
from scheduler_core.wording import say, series

ADD: Final = "nodes to add"
MOST_AT_ONCE: Final = 16
"""So many drains are tried at most before the first that succeeds is made."""


@dataclass(frozen=True)
class Try(Variant):
    """A drain of a node; without one, what to add is looked for. `batch` counts from 1."""

    node: str = ""
    batch: int = 0


class NodeSets:
    """Looks for nodes to add, and drains as many nodes as possible."""

    per_copy: Final = ONE

    def __init__(self, begun: Beginning, shapes: str, max_runs: int, drains: int) -> None:
        self._begun = begun
        self._shapes = shapes
        self._max_runs = max_runs
        self._drains = drains

    @cached_property
    def _cluster(self) -> tuple[Sequence[KubeObject], RunOptions]:
        return self._begun.cluster()

    @cached_property
    def _standing(self) -> SimulatedCluster:
        return standing_run(*self._cluster)

    def answer(self, running: Running[Try]) -> Outcome:
        self._checked_shapes()
        (added,) = running.all([Try(ADD)])
        drained: list[dict[str, object]] = []
        kept: list[dict[str, object]] = []
        left = candidates(self._standing, self._drains) if self._drains else []
        width, batch = 2, 0
        while left:
            batch += 1
            asked = [Try(f"drain {name}", name, batch) for name in left[:width]]
            width = min(2 * width, MOST_AT_ONCE)
            for variant, outcome in zip(asked, running.all(asked), strict=True):
                left.remove(variant.node)
                if "waves" in outcome:
                    drain(self._standing, variant.node)
                    drained.append({"node": variant.node, "waves": outcome["waves"]})
                    width = 1  # the others of the batch are tried again, without it
                    break
                why = outcome.get("why", outcome.get("problem"))
                kept.append({"node": variant.node, "why": why})
        n_nodes = sum(isinstance(item, Node) for item in self._cluster[0])
        tried = len(drained) + len(kept)
        return {
            "add": added.get("add"),
            "drain": {"nodes": drained, "kept": kept, "tried": tried, "of": n_nodes},
        }

    def carry_out(self, variant: Try) -> Outcome:
        try:
            if not variant.node:
                return self._added()
            found = drain(self._standing, variant.node)
        except PluginFailure as failure:
            return {"problem": str(failure)}
        told: dict[str, object] = {"batch": variant.batch, "node": variant.node}
        if isinstance(found, Drained):
            return told | {"waves": [list(wave) for wave in found.waves]}
        return told | {"why": found.why}

    def _added(self) -> Outcome:
        objects, options = self._cluster
        shapes = self._checked_shapes()
        offers = offers_of(objects, shapes.shapes, shapes.pools)
        found = nodes_to_add(objects, options, offers, self._max_runs)
        changes = [document_of(each) for each in changes_of(found, objects)]
        return {"add": addition_json(found), "changes": changes}

    def _checked_shapes(self) -> Shapes:
        return shapes_of(self._shapes, self._cluster[0])


def shapes_of(text: str, objects: Sequence[KubeObject]) -> Shapes:
    """Read shapes that go with a cluster. Raises InvalidInput, with lines."""
    if not text.strip():
        return Shapes()
    try:
        shapes = load_shapes(text)
    except ConfigError as error:
        raise invalid("shapes", error.problems) from error
    nodes = [item for item in objects if isinstance(item, Node)]
    pools = {pool.name for pool in pools_of(nodes)}
    if unknown := sorted(shapes.pools.keys() - pools):
        message = say(
            "question.no_pool",
            "There is no pool {pool}; there is {pools}.",
            pool=unknown[0],
            pools=series(sorted(pools)),
        )
        raise invalid("shapes", [Problem((), message)])
    if clash := sorted({node.name for node in nodes} & {node.name for node, _ in shapes.shapes}):
        raise invalid("shapes", [Problem((), f"{clash[0]} is the name of a node.")])
    return shapes


def changes_of(found: Addition, objects: Sequence[KubeObject]) -> list[Change]:
    """Return the changes that add the nodes, as a run can be made with them."""
    there = {item.name: item for item in objects if isinstance(item, Node)}
    changes: list[Change] = []
    for offer, n in zip(found.offers, found.counts, strict=True):
        if n and offer.node == there.get(offer.node.name):
            changes.append(CopyNode(offer.node.name, n))
        elif n:
            made = tuple(item for item in offer.items(n) if not isinstance(item, Pod))
            changes.append(Create(made))
    return changes
