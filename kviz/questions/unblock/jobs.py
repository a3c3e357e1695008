"""What would let a pending pod bind: each plan that is run is a variant (docs/unblock.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from kviz.experiments.question import Beginning, Outcome, Running, Variant
from kviz.forking.copies import MANY
from kviz.questions.unblock.text import as_json, tried_json, tried_of
from kviz.runs.inputs import invalid
from scheduler_core.analysis.advice.pods_asked import NothingToUnblock, with_others
from scheduler_core.analysis.advice.unblock import Search, Tried
from scheduler_core.config import Problem
from scheduler_core.wording import told

Plans = Iterator[int]


@dataclass(frozen=True)
class Attempt(Variant):
    """A plan, by its number in the search."""

    number: int = 0


class Unblocking:
    """Searches for the smallest changes after which a pod binds, or all pending of its owner.

    An outcome has the `answer` that a plan is, None if it is none.
    """

    per_copy: Final = MANY

    def __init__(self, begun: Beginning, pod: str, with_owner: bool) -> None:
        self._begun = begun
        self._pod = pod
        self._with_owner = with_owner
        self._search: Search | None = None

    def answer(self, running: Running[Attempt]) -> Outcome:
        trials = self._begun.trials()

        def run(work: Callable[[int], Tried], numbers: Plans) -> Iterator[tuple[int, Tried]]:
            for number, outcome in running.as_done(numbers, self._attempt):
                yield number, tried_of(outcome)

        try:
            _, *others = with_others(trials, self._pod) if self._with_owner else (self._pod,)
            self._search = Search(trials, self._pod, run, others)
            for found in self._search.steps():
                running.expect(found.n_plans - found.n_tried)
        except NothingToUnblock as error:
            raise invalid("pod", [Problem((), told(error))]) from error
        return as_json(found)

    def carry_out(self, variant: Attempt) -> Outcome:
        return tried_json(self._searching.run(variant.number))

    def _attempt(self, number: int) -> Attempt:
        return Attempt(self._searching.sentence(number), number)

    @property
    def _searching(self) -> Search:
        assert self._search is not None
        return self._search
