"""Who took a pod's room: the placements without any one of which its last cycle finds a node.

Only nodes that lack room and nothing else are looked at, and of the pods there only those that an
earlier cycle of the run placed. Whether one of them stood in the way is not computed from its
requests: the cycle is evaluated again without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.analysis.advice.trial import RunEnd
from scheduler_core.api import Pod
from scheduler_core.changes import ChangeError
from scheduler_core.changes.vocabulary import Delete, target_of
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.resource_names import is_extended_resource_name
from scheduler_core.framework.status import Code
from scheduler_core.plugins.node_ports import NodePorts
from scheduler_core.plugins.node_resources import Fit
from scheduler_core.sim.preview import CannotPreview
from scheduler_core.sim.reenactment import ReenactedCycle

MAX_TOOK: Final = 10
"""So many placements are named, the newest."""
MAX_TRIED: Final = 60
"""So many are taken back, one at a time, to look for those."""
ROOM: Final = frozenset((Fit.name, NodePorts.name))
"""The plugins for which a pod may be in the way of another on its own node."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod that a cycle of the run put onto a node."""

    pod: str
    cycle: int
    node: str


@dataclass(frozen=True, slots=True)
class TookRoom:
    """The placements each of which, taken back alone, lets the pod's last cycle find a node.

    `placements` are the newest first. `n_earlier` of the run are on the `n_nodes` nodes that lack
    only room. `complete`: none of those has been left out, for the limits above.
    """

    n_nodes: int
    n_earlier: int
    placements: tuple[Placement, ...]
    complete: bool


def took_room(held: ReenactedCycle, ends: RunEnd) -> TookRoom | None:
    """Look for who took the room of a held cycle's pod.

    None where no earlier cycle placed a pod on a node that lacks only room, and where the cycle
    cannot be evaluated again. `ends` are those of the same run: it is about pods that are still
    placed when that is over. Raises PluginFailure.
    """
    try:
        return _took_room(held, ends)
    except CannotPreview:
        return None


def _took_room(held: ReenactedCycle, ends: RunEnd) -> TookRoom | None:
    short = _short_of_room(held)
    if not short:
        return None
    earlier = {
        key: end.cycle for key, end in ends.pods.items() if end.node and 0 < end.cycle < held.number
    }
    there = [
        (Placement(pod.key, earlier[pod.key], held.nodes.name(i)), i, pod)
        for i in short
        for pod in held.nodes.pods(i)
        if pod.key in earlier
    ]
    if not there:
        return None
    there.sort(key=lambda each: -each[0].cycle)
    enough = _Enough(held)
    worth = (placed for placed, i, pod in there if enough.gives(pod, i, short[i]))
    found: list[Placement] = []
    complete = True
    for n_tried, placed in enumerate(worth):
        if n_tried >= MAX_TRIED or len(found) >= MAX_TOOK:
            complete = False
            break
        if _binds_without(held, placed.pod):
            found.append(placed)
    return TookRoom(len(short), len(there), tuple(found), complete)


def _short_of_room(held: ReenactedCycle) -> Mapping[int, frozenset[str]]:
    """Return the positions of the nodes that only plugins of ROOM reject, each with which.

    A node that is too small even if it were empty is none of them.
    """
    verdicts = held.individually
    if verdicts.pod:
        return {}
    found = {}
    for i, name in enumerate(held.nodes.names):
        statuses = verdicts.nodes.get(name, ())
        plugins = frozenset(status.plugin for status in statuses)
        too_small = any(each.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE for each in statuses)
        if plugins and plugins <= ROOM and not too_small:
            found[i] = plugins
    return found


class _Enough:
    """Says which pods give back enough of a node, nominated ones left out of account.

    What is refused cannot be an answer. Extended resources are left to the cycle: the plugin may
    ignore them, or have them from devices.
    """

    def __init__(self, held: ReenactedCycle) -> None:
        nodes = held.nodes
        self._requests = {
            name: amount
            for name, amount in held.requests.items()
            if amount > 0 and not is_extended_resource_name(name)
        }
        self._free = {
            name: nodes.allocatable(name) - nodes.requested(name) for name in self._requests
        }

    def gives(self, pod: PodInfo, at: int, plugins: frozenset[str]) -> bool:
        if NodePorts.name in plugins and not pod.template.host_ports:
            return False
        back = pod.template.requests.placed
        return all(
            amount <= int(self._free[name][at]) + back.get(name, 0)
            for name, amount in self._requests.items()
        )


def _binds_without(held: ReenactedCycle, key: str) -> bool:
    pod = held.objects.get(Pod, key)
    if pod is None:
        return False
    try:
        found = held.previews.change((Delete(target_of(pod)),))
    except ChangeError:
        return False
    return found.decided is not None and bool(found.decided.node)
