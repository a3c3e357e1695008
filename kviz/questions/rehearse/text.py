"""What an upgrade changes, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kviz.command_line.tables import table
from scheduler_core.analysis.rehearsal import Rehearsal, ReleaseChange
from scheduler_core.api.counting import counted
from scheduler_core.config import FeatureGates

NOT_KNOWN: Final = "not known"


@dataclass(frozen=True)
class Answer:
    """A rehearsal, and what of the old gates the new release refuses, by name."""

    found: Rehearsal
    old: FeatureGates
    new: FeatureGates
    refused: Mapping[str, str]

    def as_json(self) -> dict[str, object]:
        """Return what `kviz rehearse --json` prints."""
        ends, found = self.found.comparison.ends, self.found
        return {
            "from": self.old.release.name,
            "fromText": self.old.release_text,
            "to": self.new.release.name,
            "identical": not found.apart,
            "moved": [
                {"pod": each.pod, "a": each.a, "b": each.b, "luck": each.luck}
                | self._because(each.pod)
                for each in ends.moved
            ],
            "newly_pending": [
                {"pod": each.pod, "a": each.node, "message": each.message} | self._because(each.pod)
                for each in ends.newly_pending
            ],
            "newly_bound": [
                {"pod": each.pod, "b": each.node, "message": each.message} | self._because(each.pod)
                for each in ends.newly_bound
            ],
            "evicted": {
                "a": found.comparison.evicted_a,
                "b": found.comparison.evicted_b,
                "because": {pod: list(found.because(pod)) for pod in self._evicted()},
            },
            "messages": len(ends.messages),
            "switches": [
                {
                    "name": change.name,
                    "upstream": change.upstream or None,
                    "sentence": change.sentence,
                    "undo": change.undo or None,
                    "pods": n,
                }
                for change, n in self._causes()
            ],
            "refused": dict(self.refused),
            "panics": list(found.panics),
            "first_divergence": found.comparison.as_json()["first_divergence"],
        }

    def text(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        old, new = self.old.release_text, self.new.release.name
        n = len(self.found.apart)
        ended = (
            f"{counted(n, 'pod')} {'ends' if n == 1 else 'end'} otherwise"
            if n
            else "no pod ends otherwise"
        )
        yield f"From Kubernetes v{old} to v{new}: {ended}."
        yield from self.found.panics
        for name, why in self.refused.items():
            yield f"v{new} refuses {name}: {why}."
        for title, head, rows in self._tables():
            if rows:
                yield f"\n{title}"
                yield from table(head, rows)
        yield from self._why()
        if n_texts := len(self.found.comparison.ends.messages):
            said = (
                "stays pending with another message"
                if n_texts == 1
                else "stay pending with other messages"
            )
            yield f"\n{counted(n_texts, 'pod')} {said}."

    def _why(self) -> Iterator[str]:
        for change, n in self._causes():
            upstream = f" ({change.upstream})" if change.upstream else ""
            yield f"\n{change.name}{upstream}: {counted(n, 'pod')}. {change.sentence}"
            if change.undo:
                yield f"To keep the old behaviour: --feature-gates {change.undo}"
            else:
                yield "Nothing keeps the old behaviour."

    def _tables(self) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
        ends, a, b = (
            self.found.comparison.ends,
            f"v{self.old.release.name}",
            f"v{self.new.release.name}",
        )
        moved = [
            (each.pod, each.a, each.b, self._cause(each.pod, each.luck)) for each in ends.moved
        ]
        yield "Moved", ("POD", a, b, "BECAUSE OF"), moved
        bound = [(each.pod, each.node, self._cause(each.pod)) for each in ends.newly_bound]
        yield "Newly bound", ("POD", b, "BECAUSE OF"), bound
        pending = [
            (each.pod, each.node, self._cause(each.pod), each.message)
            for each in ends.newly_pending
        ]
        yield "Newly pending", ("POD", a, "BECAUSE OF", "MESSAGE"), pending
        evicted = [(pod, self._evicted_in(pod), self._cause(pod)) for pod in self._evicted()]
        yield "Evicted under one release only", ("POD", "UNDER", "BECAUSE OF"), evicted

    def _evicted(self) -> list[str]:
        comparison = self.found.comparison
        return sorted(set(comparison.evicted_a) ^ set(comparison.evicted_b))

    def _evicted_in(self, pod: str) -> str:
        gates = self.old if pod in self.found.comparison.evicted_a else self.new
        return f"v{gates.release.name}"

    def _cause(self, pod: str, luck: bool | None = False) -> str:
        """The causes of what became of a pod; those that take each other are joined by a plus."""
        tie = ", by a tie only" if luck else ""
        if alone := self.found.alone.get(pod):
            return ", ".join(alone) + tie
        return (" + ".join(self.found.together.get(pod, ())) or NOT_KNOWN) + tie

    def _because(self, pod: str) -> dict[str, object]:
        return {"because": list(self.found.because(pod))}

    def _causes(self) -> Iterable[tuple[ReleaseChange, int]]:
        for name, n in self.found.causes.items():
            yield self.found.changes[name], n
