"""What is free in all, and on the emptiest node, of what a pod asks for and does not find.

It is about the nodes that lack only room: NodeResourcesFit rejects them, and no other plugin does.
Much in all and little on each is what people call fragmentation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_core.amounts import amount_text, in_one_unit
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.columns import PODS
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.evidence.requirement import state_of
from scheduler_core.framework.individual import Preparation
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code
from scheduler_core.plugins.node_resources import Fit
from scheduler_core.wording import AND, SEMICOLON, say, series


@dataclass(frozen=True, slots=True)
class FreeAmount:
    """A resource that some of the nodes are short of: cpu in milli, others in bytes or units.

    `pods` are places. `free` is the sum over the nodes, of which one that is overcommitted adds
    nothing; `most` is free on the node `emptiest`, the first of equals.
    """

    resource: str
    requested: int
    free: int
    most: int
    emptiest: str

    @property
    def in_all(self) -> str:
        """Return the amount and what it is of: `3 cpu`, `85.5Ti memory`, `no places for pods`."""
        what = say("room.pod_places", "places for pods") if self.resource == PODS else self.resource
        if not self.free:
            return say("room.none_of", "no {resource}", resource=what)
        return say(
            "room.amount",
            "{amount} {resource}",
            amount=amount_text(self.resource, self.free),
            resource=what,
        )

    @property
    def text(self) -> str:
        """Return the amounts as the part of a sentence that follows `have`."""
        asked, most = in_one_unit(self.resource, self.requested, self.most)
        if not self.free:
            return say(
                "room.free_on_one",
                "{what} free, of {asked} asked for",
                what=self.in_all,
                asked=asked,
            )
        return say(
            "room.free_in_all",
            "{what} free in all, {most} on the emptiest ({emptiest}), of {asked} asked for",
            what=self.in_all,
            most=most,
            emptiest=self.emptiest,
            asked=asked,
        )


@dataclass(frozen=True, slots=True)
class FreeRoom:
    """What is free on the `n_nodes` nodes that lack only room, of each resource that is short.

    The resource that most nodes are short of comes first.
    """

    n_nodes: int
    amounts: tuple[FreeAmount, ...]

    @property
    def sentence(self) -> str:
        """Return it all in one sentence, without full stop."""
        if self.n_nodes > 1:
            told = series((each.text for each in self.amounts), SEMICOLON)
            return say(
                "room.nodes_have",
                "The {n_nodes:,} nodes that lack only room have {told}",
                n_nodes=self.n_nodes,
                told=told,
            )
        only = self.amounts[0].emptiest
        told = series(
            (say("room.in_all_free", "{in_all} free", in_all=each.in_all) for each in self.amounts),
            AND,
        )
        return say(
            "room.only_node_has",
            "Only {only} lacks nothing but room: it has {told}",
            only=only,
            told=told,
        )


def free_room(
    framework: Framework, prepared: Preparation, fit: Fit, pod: PodInfo, nodes: Nodes
) -> FreeRoom | None:
    """Add up what is free on the nodes that lack only room; None if there are none.

    What is kept for nominated pods that matter to the pod is not free.
    """
    changes = framework.nominated_changes(pod, nodes)
    crowded = nodes.what_if(changes) if changes else nodes
    worlds = [nodes, crowded] if changes else [nodes]
    lacking = _lack_only_room(framework, prepared, pod, worlds)
    if prepared.rejections or not lacking.any():
        return None
    there = crowded.take(np.flatnonzero(lacking))
    return FreeRoom(there.n, tuple(_amounts(fit, prepared, there)))


def _lack_only_room(
    framework: Framework, prepared: Preparation, pod: PodInfo, worlds: list[Nodes]
) -> BoolArray:
    """Return bool (n,): the nodes that Fit rejects in one of the worlds, and nothing else in any.

    A node that is too small even if it were empty lacks more than room.
    The worlds are of the same nodes, without nominated pods and with them.
    """
    names = worlds[0].names
    otherwise = np.ones(len(names), np.bool_)
    for narrowed in prepared.narrowed.values():
        otherwise &= np.array([name in narrowed for name in names], np.bool_)
    short = np.zeros(len(names), np.bool_)
    for world in worlds:
        for plugin, verdict in framework.run_filter_individually(
            prepared.state, pod, world
        ).items():
            if plugin == Fit.name:
                short |= verdict.code != 0
                otherwise &= verdict.code != Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            else:
                otherwise &= verdict.code == 0
    found: BoolArray = otherwise & short
    return found


def _amounts(fit: Fit, prepared: Preparation, nodes: Nodes) -> list[FreeAmount]:
    """Return the resources that nodes are short of, the one that most are short of first."""
    requests: dict[str, int] = state_of(dict, prepared.state.pre_filter.get(fit.name))
    found = []
    for name, request in requests.items():
        allocatable = nodes.allocatable(name)
        free = allocatable - nodes.requested(name)
        short = request > free
        if fit.is_backed(name):
            short &= allocatable > 0
        found.append((np.count_nonzero(short), _amount(name, request, free, nodes)))
    places = nodes.allowed_pods - nodes.n_pods
    found.append((np.count_nonzero(places < 1), _amount(PODS, 1, places, nodes)))
    return [amount for n_short, amount in sorted(found, key=lambda each: -each[0]) if n_short]


def _amount(resource: str, requested: int, free: IntArray, nodes: Nodes) -> FreeAmount:
    left = np.maximum(free, 0)
    emptiest = int(left.argmax())
    return FreeAmount(
        resource, requested, int(left.sum()), int(left[emptiest]), nodes.name(emptiest)
    )
