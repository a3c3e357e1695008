"""Nominated pods as what they are to Filter: pods that may come to a node before this one.

Upstream: v1.36 pkg/scheduler/framework/runtime/framework.go (addGENominatedPods).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from operator import is_not

import numpy as np

from scheduler_core.cluster.arrays import BoolArray, grown
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import NO_CHANGE, Change, Nodes
from scheduler_core.cluster.pods import PodInfo

MAX_PRIORITIES = 16
"""So many priorities' rivals are cached; beyond that those of the oldest go."""

Nominated = Mapping[str, Sequence[PodInfo]]
"""Nominated pods by node name; a node's sequence is another one each time it changes."""


class NominatedPods:
    """The pods that matter to a pod of some priority, as changes of nodes, cached by priority."""

    def __init__(self) -> None:
        self._rivals: dict[int, _Rivals] = {}

    def changes(self, nominated: Nominated, pod: PodInfo, nodes: Nodes) -> dict[int, Change]:
        """Return, by position, the pods of equal or higher priority nominated to a node.

        Changes that `nodes` has stay part of it.
        """
        if not nominated:
            return {}
        rivals = self._rivals.get(pod.priority)
        if rivals is None:
            if len(self._rivals) >= MAX_PRIORITIES:
                del self._rivals[next(iter(self._rivals))]
            rivals = self._rivals[pod.priority] = _Rivals(pod.priority)
        rivals.refresh(nominated, nodes.cluster)
        found = rivals.on(nodes, pod.uid)
        if not nodes.changes:
            return found
        return {
            i: Change((*nodes.changes[i].added, *change.added), nodes.changes[i].removed)
            for i, change in found.items()
        }


class _Rivals:
    """The nominated pods of at least one priority, by row."""

    def __init__(self, priority: int) -> None:
        self._priority = priority
        self._seen: dict[str, Sequence[PodInfo]] = {}
        self._change_of: dict[int, Change] = {}
        self._row_of: dict[str, int] = {}
        """The row of every rival's node, by the rival's uid."""
        self._crowded: BoolArray = np.zeros(0, np.bool_)

    def refresh(self, nominated: Nominated, cluster: ClusterColumns) -> None:
        """Look at the nodes whose nominated pods have changed."""
        self._crowded = grown(self._crowded, cluster.n_rows)
        seen = self._seen
        is_new = map(is_not, nominated.values(), map(seen.get, nominated))
        moved = list(compress(nominated, is_new))
        if len(seen) + len(moved) > len(nominated):
            moved += [name for name in seen if name not in nominated]
        for name in moved:
            row = cluster.row_of.get(name)
            if row is not None:
                self._take_over(name, row, nominated.get(name, ()))

    def _take_over(self, name: str, row: int, pods: Sequence[PodInfo]) -> None:
        before = self._change_of.pop(row, NO_CHANGE)
        for pod in before.added:
            if self._row_of.get(pod.uid) == row:
                del self._row_of[pod.uid]
        rivals = tuple(pod for pod in pods if pod.priority >= self._priority)
        self._crowded[row] = bool(rivals)
        if rivals:
            self._change_of[row] = Change(rivals)
            self._row_of |= {pod.uid: row for pod in rivals}
        if pods:
            self._seen[name] = pods
        else:
            del self._seen[name]

    def on(self, nodes: Nodes, uid: str) -> dict[int, Change]:
        """Return the changes by position, the pod itself left out."""
        at = self._crowded[nodes.rows].nonzero()[0]
        rows = nodes.rows[at].tolist()
        own_row = self._row_of.get(uid)
        if own_row is None or own_row not in rows:
            change_of = self._change_of
        else:
            change_of = self._change_of | {own_row: self._without(uid, own_row)}
        found = {i: change_of[row] for i, row in zip(at.tolist(), rows, strict=True)}
        return found if change_of is self._change_of else _that_add(found)

    def _without(self, uid: str, row: int) -> Change:
        return Change(tuple(pod for pod in self._change_of[row].added if pod.uid != uid))


def _that_add(changes: Mapping[int, Change]) -> dict[int, Change]:
    return {i: change for i, change in changes.items() if change.added}
