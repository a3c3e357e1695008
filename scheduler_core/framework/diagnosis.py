"""Why a cycle found no node: one status per node, and the message a user reads.

Upstream: v1.36 pkg/scheduler/framework/types.go (Diagnosis, NodeToStatus, FitError).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.arrays import IntArray, Vocabulary
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.framework.status import SUCCESS, Code, Status, Verdict

ABSENT_STATUS = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


@dataclass(frozen=True, slots=True)
class Crowded:
    """The nodes whose status is another one because nominated pods count there.

    `at` are their positions, `without` what their status is without those pods, as an index of
    `Verdicts.statuses`; both int64 (n_crowded,). `added` has the pods, node by node.
    """

    at: IntArray
    without: IntArray
    added: Sequence[Change]

    def up_to(self, n: int) -> Crowded:
        """Return the first `n` of them."""
        return Crowded(self.at[:n], self.without[:n], self.added[:n])


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The combined answer of all Filter plugins about `n` nodes.

    `ids` is int64 (n,) into `statuses`, whose first entry is SUCCESS; each other status names
    the first plugin that rejected the node, with that plugin's reasons. `crowded` is
    None where nominated pods make no difference.
    """

    ids: IntArray
    statuses: tuple[Status, ...]
    crowded: Crowded | None = None

    @property
    def fits(self) -> npt.NDArray[np.bool_]:
        fits: npt.NDArray[np.bool_] = self.ids == 0
        return fits

    @property
    def all_fit(self) -> bool:
        """Nobody has rejected a node: there is no status but SUCCESS."""
        return len(self.statuses) <= 1

    @property
    def n_fits(self) -> int:
        n: int = self.ids.size
        return n if self.all_fit else n - int(np.count_nonzero(self.ids))

    def status(self, i: int) -> Status:
        return self.statuses[int(self.ids[i])]

    def up_to(self, n: int) -> Verdicts:
        """Return the verdicts about the first `n` nodes."""
        crowded = self.crowded
        if crowded is not None:
            n_left = int(np.count_nonzero(crowded.at < n))
            crowded = crowded.up_to(n_left) if n_left else None
        return Verdicts(self.ids[:n], self.statuses, crowded)

    def but(self, changed: Mapping[int, Status]) -> Verdicts:
        """Return the same verdicts, with other ones at some positions."""
        numbers = {status: i for i, status in enumerate(self.statuses)}
        ids = self.ids.copy()
        for i, status in changed.items():
            ids[i] = numbers.setdefault(status, len(numbers))
        return Verdicts(ids, tuple(numbers), self.crowded)


class VerdictBuilder:
    """Collects plugins' verdicts about the nodes of one view, first rejection first."""

    def __init__(self, n: int) -> None:
        self._ids: IntArray = np.zeros(n, np.int64)
        self._statuses: dict[Status, int] = {SUCCESS: 0}
        self._crowded: Crowded | None = None

    def undecided(self) -> IntArray:
        """Return the positions of the nodes nobody has rejected yet, int64."""
        positions: IntArray = (self._ids == 0).nonzero()[0]
        return positions

    def add(self, plugin: str, at: IntArray, verdict: Verdict) -> None:
        """Take over a plugin's verdict about the nodes at positions `at`."""
        rejected = verdict.code.nonzero()[0]
        if not rejected.size:
            return
        kinds = verdict.kinds(rejected)
        if (kinds == kinds[0]).all():
            status = verdict.status(int(rejected[0]))
            self._ids[at[rejected]] = self._number(_attributed(status, plugin))
            return
        _, first, inverse = np.unique(kinds, return_index=True, return_inverse=True)
        numbers = [
            self._number(_attributed(verdict.status(int(rejected[i])), plugin)) for i in first
        ]
        self._ids[at[rejected]] = np.array(numbers, np.int64)[inverse]

    def merge(self, at: IntArray, verdicts: Verdicts) -> None:
        """Take over finished verdicts about the nodes at positions `at`."""
        numbers = np.array([self._number(status) for status in verdicts.statuses], np.int64)
        self._ids[at] = numbers[verdicts.ids]
        if (more := verdicts.crowded) is not None:
            self._add_crowded(at[more.at], numbers[more.without], more.added)

    def merge_crowded(self, at: IntArray, verdicts: Verdicts, crowd: Nodes) -> None:
        """Take over verdicts about the nodes at positions `at` with their nominated pods.

        A node that they reject is rejected for their reasons. `crowd` is the view of those nodes
        to which the pods are added; where they make another status, they are noted.
        """
        numbers = np.array([self._number(status) for status in verdicts.statuses], np.int64)
        without, counting = self._ids[at], numbers[verdicts.ids]
        differ = (without != counting).nonzero()[0]
        if differ.size:
            added = [crowd.changes[i] for i in differ.tolist()]
            self._add_crowded(at[differ], without[differ], added)
        self._ids[at] = np.where(counting, counting, without)

    def _add_crowded(self, at: IntArray, without: IntArray, added: Sequence[Change]) -> None:
        """Note nodes behind all that are noted."""
        known = self._crowded
        if known is not None:
            at = np.concatenate((known.at, at))
            without = np.concatenate((known.without, without))
            added = [*known.added, *added]
        self._crowded = Crowded(at, without, added)

    def _number(self, status: Status) -> int:
        return self._statuses.setdefault(status, len(self._statuses))

    def build(self) -> Verdicts:
        return Verdicts(self._ids, tuple(self._statuses), self._crowded)


def _attributed(status: Status, plugin: str) -> Status:
    """Attribute a rejection; any other code is none that Filter may give, and so an error."""
    if status.is_rejected:
        return status.by(plugin)
    return Status(Code.ERROR, (f'running "{plugin}" filter plugin: {status.message}',), plugin)


@dataclass
class Diagnosis:
    """What is known of the nodes a cycle rejected, by cluster row.

    `absent` is the status of all nodes without one of their own.
    """

    nodes: Nodes
    absent: Status = ABSENT_STATUS
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    pre_filter_message: str = ""
    post_filter_message: str = ""
    _statuses: Vocabulary[Status] = field(default_factory=Vocabulary)
    _of_unknown: dict[str, Status] = field(default_factory=dict)
    """Extenders may reject nodes that the cluster does not have; they count all the same."""

    @cached_property
    def _ids(self) -> IntArray:
        """Numbers in `_statuses` by row, -1 for none; most cycles turn nobody down."""
        return np.full(self.nodes.cluster.n_rows, -1, np.int64)

    def record(self, nodes: Nodes, verdicts: Verdicts) -> None:
        """Remember the rejected among `nodes`, and by which plugins.

        A node on which a plugin failed gets no status: the error ends the search.
        """
        if verdicts.all_fit:
            return
        is_rejected = np.array([status.is_rejected for status in verdicts.statuses])
        rejected = np.flatnonzero(is_rejected[verdicts.ids])
        numbers = np.zeros(len(verdicts.statuses), np.int64)
        for i in np.flatnonzero(np.bincount(verdicts.ids[rejected])).tolist():
            status = verdicts.statuses[i]
            numbers[i] = self._statuses.id(status)
            self.add_plugin_status(status)
        self._ids[nodes.rows[rejected]] = numbers[verdicts.ids[rejected]]

    def set_status(self, node_name: str, status: Status) -> None:
        """Set one node's status (extenders, Reserve, Permit)."""
        row = self.nodes.cluster.row_of.get(node_name)
        if row is None:
            self._of_unknown[node_name] = status
        else:
            self._ids[row] = self._statuses.id(status)

    def add_plugin_status(self, status: Status) -> None:
        """Note the plugin behind a rejection: its events may wake the pod."""
        if status.plugin and status.is_rejected:
            self.unschedulable_plugins.add(status.plugin)
        if status.plugin and status.code is Code.PENDING:
            self.pending_plugins.add(status.plugin)

    def __len__(self) -> int:
        """Return how many nodes have a status of their own."""
        n_of_rows = int(np.count_nonzero(self._ids >= 0)) if self._statuses.values else 0
        return n_of_rows + len(self._of_unknown)

    def status(self, node_name: str) -> Status:
        row = self.nodes.cluster.row_of.get(node_name, -1)
        number = int(self._ids[row]) if 0 <= row < self._ids.size else -1
        return self.absent if number < 0 else self._statuses.values[number]

    def nodes_with(self, code: int) -> Nodes:
        """Return the nodes whose status has that code, in node order."""
        codes = np.array([*(s.code for s in self._statuses.values), self.absent.code], np.int64)
        return self.nodes.take(codes[self._ids[self.nodes.rows]] == code)

    def message(self) -> str:
        """Return `0/N nodes are available: ...`, exactly as the scheduler phrases it."""
        n = self.nodes.n
        text = f"0/{n} nodes are available:"
        if self.pre_filter_message:
            text += f" {self.pre_filter_message}."
        elif reasons := self._histogram(n):
            text += f" {', '.join(reasons)}."
        return f"{text} {self.post_filter_message}" if self.post_filter_message else text

    def _histogram(self, n: int) -> list[str]:
        """Count reasons over nodes; lines sort as text, as upstream sorts them."""
        counts: Counter[str] = Counter()
        own = self._ids[self._ids >= 0]
        statuses = self._statuses.values
        for status, count in zip(statuses, np.bincount(own, minlength=len(statuses)), strict=True):
            for reason in status.reasons:
                counts[reason] += int(count)
        for status in self._of_unknown.values():
            counts.update(status.reasons)
        if len(self) < n:
            for reason in self.absent.reasons:
                counts[reason] += n - len(self)
        return sorted(f"{count} {reason}" for reason, count in counts.items() if count)
