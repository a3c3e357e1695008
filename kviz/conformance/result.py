"""Comparing what was recorded with what kviz does, cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that came out otherwise; `plugin` is empty if it is no plugin's own."""

    name: str
    plugin: str
    field: str
    expected: object
    got: object


@dataclass
class CaseResult:
    """The comparison of one case.

    `not_compared` counts what was recorded but may come out otherwise in the real scheduler,
    too, when it runs again. `not_modelled` says why the case was not replayed at all.
    """

    name: str
    release: str = ""
    not_modelled: str = ""
    differences: list[Difference] = field(default_factory=list)
    cells: Counter[str] = field(default_factory=Counter)
    identical_cells: Counter[str] = field(default_factory=Counter)
    not_compared: Counter[str] = field(default_factory=Counter)

    @property
    def identical(self) -> bool:
        return not self.differences

    def compare(self, what: str, expected: object, got: object, plugin: str = "") -> None:
        """Note whether two values are equal.

        A plugin's value counts as its cell if there is one: that a plugin which rejects nothing
        rejects nothing here either says little about it.
        """
        same = expected == got
        if plugin and (expected or got):
            self.cells[plugin] += 1
            self.identical_cells[plugin] += same
        if not same:
            self.differences.append(Difference(self.name, plugin, what, expected, got))

    def leave_out(self, what: str) -> None:
        """Note that a recorded value is a matter of chance and was not compared."""
        self.not_compared[what] += 1


@dataclass
class Summary:
    """Results of many cases; `left_out` are those that were not replayed."""

    results: list[CaseResult] = field(default_factory=list)
    left_out: list[CaseResult] = field(default_factory=list)

    @staticmethod
    def of(found: Iterable[CaseResult]) -> Summary:
        summary = Summary()
        for result in found:
            (summary.left_out if result.not_modelled else summary.results).append(result)
        return summary

    @property
    def n_identical(self) -> int:
        return sum(result.identical for result in self.results)

    def by_plugin(self) -> dict[str, dict[str, int]]:
        cells: Counter[str] = Counter()
        identical: Counter[str] = Counter()
        for result in self.results:
            cells += result.cells
            identical.update(result.identical_cells)
        return {
            name: {"cells": cells[name], "identical": identical[name]} for name in sorted(cells)
        }

    def by_release(self) -> dict[str, dict[str, int]]:
        """Count cases and the identical ones by the release they were recorded from."""
        cases = Counter(result.release for result in self.results)
        identical = Counter(result.release for result in self.results if result.identical)
        return {
            name: {"cases": cases[name], "identical": identical[name]} for name in sorted(cases)
        }

    def not_modelled(self) -> dict[str, int]:
        """Count the cases that were not replayed, by what of them is not modelled."""
        return dict(sorted(Counter(result.not_modelled for result in self.left_out).items()))

    def not_compared(self) -> dict[str, int]:
        """Count what was left out, by kind of value."""
        left_out: Counter[str] = Counter()
        for result in self.results:
            left_out += result.not_compared
        return dict(sorted(left_out.items()))

    def as_json(self) -> dict[str, object]:
        """Return the object that `kviz conformance --json` prints."""
        return {
            "cases": len(self.results),
            "identical": self.n_identical,
            "byRelease": self.by_release(),
            "byPlugin": self.by_plugin(),
            "failures": [
                {
                    "name": difference.name,
                    "plugin": difference.plugin,
                    "field": difference.field,
                    "expected": difference.expected,
                    "got": difference.got,
                }
                for result in self.results
                for difference in result.differences
            ],
            "notCompared": self.not_compared(),
            "notModelled": self.not_modelled(),
        }
