"""Why a cycle found no node: one status per node, and the message a user reads.

Upstream: v1.36 pkg/scheduler/framework/types.go (Diagnosis, NodeToStatus, FitError).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.arrays import IntArray, Vocabulary
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.framework.status import SUCCESS, Code, Status, Verdict

ABSENT_STATUS = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The combined answer of all Filter plugins about `n` nodes.

    `ids` is int64 (n,) into `statuses`, whose first entry is SUCCESS; each other status names
    the first plugin that rejected the node, with that plugin's reasons.
    """

    ids: IntArray
    statuses: tuple[Status, ...]

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
        return Verdicts(self.ids[:n], self.statuses)

    def but(self, changed: Mapping[int, Status]) -> Verdicts:
        """Return the same verdicts, with other ones at some positions."""
        numbers = {status: i for i, status in enumerate(self.statuses)}
        ids = self.ids.copy()
        for i, status in changed.items():
            ids[i] = numbers.setdefault(status, len(numbers))
        return Verdicts(ids, tuple(numbers))


class VerdictBuilder:
    """Collects plugins' verdicts about the nodes of one view, first rejection first."""

    def __init__(self, n: int) -> None:
        self._ids: IntArray = np.zeros(n, np.int64)
        self._statuses: dict[Status, int] = {SUCCESS: 0}

    def undecided(self) -> IntArray:
        """Return the positions of the nodes nobody has rejected yet, int64."""
        return np.flatnonzero(self._ids == 0)

    def add(self, plugin: str, at: IntArray, verdict: Verdict) -> None:
        """Take over a plugin's verdict about the nodes at positions `at`."""
        rejected = np.flatnonzero(verdict.code)
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

    def _number(self, status: Status) -> int:
        return self._statuses.setdefault(status, len(self._statuses))

    def build(self) -> Verdicts:
        return Verdicts(self._ids, tuple(self._statuses))


def _attributed(status: Status, plugin: str) -> Status:
    """Attribute a rejection; any other code is none that Filter may give, and so an error."""
    return status.by(plugin) if status.is_rejected else Status(Code.ERROR, status.reasons, plugin)


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
        """Remember the rejected among `nodes`, and by which plugins."""
        if verdicts.all_fit:
            return
        rejected = np.flatnonzero(verdicts.ids)
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
        n_of_rows = int((self._ids >= 0).sum()) if self._statuses.values else 0
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
