"""The first cycle that two runs decide differently.

Cycles are walked in order, those of pods that only one run has left out. Lines are compared first:
they tell how far the runs may agree at all. Up to there the columns are compared, as bytes where
the two traces number things alike, a whole chunk at once where both were cut alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scheduler_core.analysis.compare.difference import Difference, difference
from scheduler_core.analysis.compare.lines import RunLines
from scheduler_core.analysis.compare.stored import StoredCycles
from scheduler_core.trace.events import Detail, ExtenderColumns, FilterColumns, ScoreColumns
from scheduler_core.trace.names import Names
from scheduler_core.trace.records import StatusRecord
from scheduler_core.wording import say

Pair = tuple[int, int]
"""Numbers of two cycles, one of each run; 0 where the run has no further one."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Two cycles and their first difference; `cycle_a` or `cycle_b` is 0 if a run was over."""

    cycle_a: int
    cycle_b: int
    pod: str
    attempt: int
    difference: Difference


class Partings:
    """Looks for what two runs decide differently."""

    def __init__(self, a: RunLines, b: RunLines) -> None:
        self.a, self.b = StoredCycles(a), StoredCycles(b)
        self._numbering = _Numbering(a, b)

    def first(self) -> Parting | None:
        """Return where the runs part, None if they decide all the same."""
        for cycle_a, cycle_b in self._walk():
            if not cycle_a or not cycle_b or not self._is_one_pod(cycle_a, cycle_b):
                return self._out_of_step(cycle_a, cycle_b)
            if not self._are_alike(cycle_a, cycle_b):
                found = self.between(cycle_a, cycle_b)
                if found is not None:
                    return found
        return None

    def between(self, cycle_a: int, cycle_b: int) -> Parting | None:
        """Return the first difference between two cycles of one pod."""
        found = difference(self.a.seen(cycle_a), self.b.seen(cycle_b))
        line = self.a.read.lines[cycle_a - 1]
        if found is None:
            return None
        return Parting(cycle_a, cycle_b, line.pod, line.attempt, found)

    def _walk(self) -> Iterator[Pair]:
        """Yield the cycles in step; the last pair is out of step, if the runs ever are."""
        known_a, known_b = self.a.read.names, self.b.read.names
        cycles_a, cycles_b = _cycles_of(self.a, known_b), _cycles_of(self.b, known_a)
        while True:
            pair = next(cycles_a, 0), next(cycles_b, 0)
            if pair == (0, 0):
                return
            yield pair

    def _is_one_pod(self, cycle_a: int, cycle_b: int) -> bool:
        line_a, line_b = self.a.read.lines[cycle_a - 1], self.b.read.lines[cycle_b - 1]
        return line_a[:2] == line_b[:2]

    def _out_of_step(self, cycle_a: int, cycle_b: int) -> Parting:
        """The runs do not try the same pod next, or one of them tries none."""
        if cycle_a and cycle_b:
            found = self.between(cycle_a, cycle_b)
            if found is None:
                raise AssertionError("cycles of different pods differ")
            return found
        stored, cycle = (self.a, cycle_a) if cycle_a else (self.b, cycle_b)
        line = stored.read.lines[cycle - 1]
        tried = say("diff.attempt", "{pod}, attempt {attempt}", pod=line.pod, attempt=line.attempt)
        values = (tried, NO_CYCLE) if cycle_a else (NO_CYCLE, tried)
        return Parting(
            cycle_a, cycle_b, line.pod, line.attempt, Difference("", "", "", "cycle", *values)
        )

    def _are_alike(self, cycle_a: int, cycle_b: int) -> bool:
        """Whether a look at lines and columns shows that two cycles decided the same."""
        a, b = self.a, self.b
        if a.read.lines[cycle_a - 1] != b.read.lines[cycle_b - 1]:
            return False
        if not self._numbering.nodes_alike(cycle_a, cycle_b):
            return False
        same = self._numbering.all_alike
        if same and cycle_a == cycle_b and self._same_chunk(cycle_a):
            return True
        if same and bytes(a.raw(cycle_a)) == bytes(b.raw(cycle_b)):
            return True
        names_a, names_b = a.read.end.names, b.read.end.names
        columns_a = _columns(a.details(cycle_a), names_a)
        return columns_a == _columns(b.details(cycle_b), names_b)

    def _same_chunk(self, cycle: int) -> bool:
        chunk_a = self.a.read.chunks[self.a.chunk_of(cycle)]
        chunk_b = self.b.read.chunks[self.b.chunk_of(cycle)]
        return chunk_a.first_cycle == chunk_b.first_cycle and chunk_a.details == chunk_b.details


NO_CYCLE = say("diff.no_further_cycle", "no further cycle")


def _cycles_of(stored: StoredCycles, known: set[str]) -> Iterator[int]:
    """Yield the cycles of pods that the other run knows, too."""
    return (number for number, line in enumerate(stored.read.lines, 1) if line.pod in known)


class _Numbering:
    """Where two traces mean the same by the same numbers."""

    def __init__(self, a: RunLines, b: RunLines) -> None:
        names_a, names_b = a.end.names, b.end.names
        self._nodes = names_a.agrees_on_nodes(names_b)
        self.all_alike = (
            self._nodes and names_a.plugins == names_b.plugins and names_a.agrees_on_pods(names_b)
        )
        self._starts = a.starts, b.starts
        self._until = _orders_agree_until(a, b)

    def nodes_alike(self, cycle_a: int, cycle_b: int) -> bool:
        """Whether columns over the examined nodes are about the same nodes in the same order."""
        starts_a, starts_b = self._starts
        before = cycle_a < self._until and cycle_b < self._until
        return self._nodes and before and starts_a[cycle_a - 1] == starts_b[cycle_b - 1]


def _orders_agree_until(a: RunLines, b: RunLines) -> int:
    """Return the first cycle before which the orders of nodes may be different ones."""
    for one, other in zip(a.orders, b.orders, strict=False):
        if one != other:
            return min(one[0], other[0])
    rest = [*a.orders[len(b.orders) :], *b.orders[len(a.orders) :]]
    return rest[0][0] if rest else max(len(a.lines), len(b.lines)) + 1


def _columns(details: list[Detail], names: Names) -> list[object]:
    """Return what the columns of a cycle decide, to be held against another run's.

    Dry runs are not part of it: what they come to, nomination and victims, is in the lines.
    """
    found: list[object] = []
    for event in details:
        match event:
            case FilterColumns():
                statuses = [_named(status, names) for status in event.statuses]
                found.append((statuses, event.status, event.feasible, event.nodes))
            case ScoreColumns():
                found.append((event.nodes, event.totals))
            case ExtenderColumns():
                found.append(event)
            case _:
                pass
    return found


def _named(status: StatusRecord, names: Names) -> tuple[str, str, tuple[str, ...]]:
    return status.code, names.plugin(status.plugin), status.reasons
