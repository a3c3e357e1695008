"""Two runs held against each other, all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from operator import attrgetter

from scheduler_core.analysis.compare.causes import causes
from scheduler_core.analysis.compare.ends import (
    Ends,
    Message,
    Moved,
    NewlyBound,
    NewlyPending,
    ends,
)
from scheduler_core.analysis.compare.inputs import Inputs, Setting, inputs
from scheduler_core.analysis.compare.lines import CycleLine, RunLines
from scheduler_core.analysis.compare.parting import Pair, Parting, Partings
from scheduler_core.analysis.compare.words import Cycles, parting_sentence, sentence
from scheduler_core.api.gc_freeze import gc_paused

Json = dict[str, object]
Key = tuple[str, int, int]
"""Pod, attempt, and how many cycles of that attempt there were: a pod may be made once more."""


@dataclass(frozen=True)
class Comparison:
    """`parting` is the first cycle decided differently, `outcome` the first that it shows in.

    `evicted_a` and `evicted_b` are all pods that had to leave their nodes, in order.
    """

    parting: Parting | None
    outcome: Parting | None
    cycles: Cycles
    ends: Ends
    evicted_a: list[str]
    evicted_b: list[str]
    inputs: Inputs
    changes: tuple[str, ...] = ()
    """What one run was made of the other by, in words, where that is known."""

    @property
    def causes(self) -> list[str]:
        """What went in differently and has to do with where the runs part; may be unknown."""
        return causes(self.parting, self.inputs, self.changes)

    def with_known(self, arguments: Sequence[Setting], changes: Sequence[str]) -> Comparison:
        """Return the comparison with what traces do not hold: arguments of plugins, changes."""
        settings = [*self.inputs.settings, *arguments]
        inputs = replace(self.inputs, settings=settings)
        return replace(self, inputs=inputs, changes=tuple(changes))

    @property
    def identical(self) -> bool:
        """Whether all was decided the same, and came to the same end."""
        same = self.parting is None and self.evicted_a == self.evicted_b and not self.ends.differ
        return same and self.cycles.only_a == self.cycles.only_b == 0

    @property
    def luck_only(self) -> bool:
        """Whether all that differs follows from ties: only how they are broken was changed."""
        is_luck = self.parting is not None and self.parting.difference.luck
        return is_luck and self.inputs.only_draws_differ

    @property
    def sentence(self) -> str:
        """The answer in words."""
        return sentence(
            self.parting,
            self.outcome,
            self.ends,
            cycles=self.cycles,
            evicted=(self.evicted_a, self.evicted_b),
            identical=self.identical,
            inputs_differ=self.inputs.differ,
            luck_only=self.luck_only,
        )

    def as_json(self) -> Json:
        """The document that scripts read (`docs/architecture.md` names it a contract)."""
        return {
            "identical": self.identical,
            "sentence": self.sentence,
            "first_divergence": self._divergence_json(),
            "first_outcome": _parting_json(self.outcome),
            "luck_only": self.luck_only,
            "cycles": asdict(self.cycles),
            "moved": _rows(self.ends.moved),
            "newly_bound": _rows(self.ends.newly_bound),
            "newly_pending": _rows(self.ends.newly_pending),
            "evicted": {"a": self.evicted_a, "b": self.evicted_b},
            "messages": _rows(self.ends.messages),
            "utilisation": [asdict(each) for each in self.ends.utilisation],
            "inputs": asdict(self.inputs),
            "changes": list(self.changes),
        }

    def _divergence_json(self) -> Json | None:
        found = _parting_json(self.parting)
        return found and {**found, "causes": self.causes}


def _rows(of_pods: Sequence[Moved | NewlyBound | NewlyPending | Message]) -> list[Json]:
    """Return a document for each; there may be tens of thousands, and none holds another."""
    if not of_pods:
        return []
    names = [field.name for field in fields(of_pods[0])]
    values = attrgetter(*names)
    return [dict(zip(names, values(each), strict=True)) for each in of_pods]


def _parting_json(parting: Parting | None) -> Json | None:
    if parting is None:
        return None
    found = parting.difference
    return {
        "cycle": parting.cycle_a or parting.cycle_b,
        "cycle_a": parting.cycle_a or None,
        "cycle_b": parting.cycle_b or None,
        "pod": parting.pod,
        "attempt": parting.attempt,
        "point": found.point,
        "plugin": found.plugin,
        "node": found.node,
        "what": found.what,
        "a": found.a,
        "b": found.b,
        "n_nodes": found.n_nodes,
        "luck": found.luck,
        "tied": list(found.tied),
        "sentence": parting_sentence(parting),
    }


def compare(a: RunLines, b: RunLines) -> Comparison:
    """Compare two runs. Raises TraceError where the columns of one cannot be read."""
    with gc_paused():
        partings = Partings(a, b)
        cycles, first = _cycles(a, b)
        return Comparison(
            partings.first(),
            partings.between(*first) if first else None,
            cycles,
            ends(partings.a, partings.b),
            a.evicted,
            b.evicted,
            inputs(a, b),
        )


def _cycles(a: RunLines, b: RunLines) -> tuple[Cycles, Pair | None]:
    """Count aligned cycles that came to different ends; return the first two, too."""
    by_key_a, by_key_b = _by_key(a.lines), _by_key(b.lines)
    differing = [
        (number, other)
        for key, number in by_key_a.items()
        if (other := by_key_b.get(key, 0)) and _differ(a.lines[number - 1], b.lines[other - 1])
    ]
    only_a, only_b = (
        len(one.keys() - other.keys())
        for one, other in ((by_key_a, by_key_b), (by_key_b, by_key_a))
    )
    cycles = Cycles(len(a.lines), len(b.lines), len(differing), only_a, only_b)
    return cycles, min(differing, key=lambda pair: (max(pair), min(pair)), default=None)


def _differ(a: CycleLine, b: CycleLine) -> bool:
    return a != b and a.outcome != b.outcome


def _by_key(lines: Sequence[CycleLine]) -> dict[Key, int]:
    """Return the numbers of cycles by what aligns them."""
    found: dict[Key, int] = {}
    for number, line in enumerate(lines, 1):
        times = 1
        while (key := (line.pod, line.attempt, times)) in found:
            times += 1
        found[key] = number
    return found
