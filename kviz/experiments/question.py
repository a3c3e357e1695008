"""What an experiment needs of a question: the variants it asks for, and how one is carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

from kviz.experiments.loaded import LOADED
from kviz.runs.execution.engine import cluster_of, ruled_cluster_of
from kviz.runs.inputs import varied
from kviz.runs.models import Run
from scheduler_core.analysis.advice.trial import Trials
from scheduler_core.api import KubeObject
from scheduler_core.changes import Change, Rules
from scheduler_core.sim.run import RunOptions

Outcome: TypeAlias = Mapping[str, object]
"""What a variant came to, or what all of them come to: as JSON."""


@dataclass(frozen=True)
class Variant:
    """One of the runs of an experiment; a question has its own kind, which says what is run."""

    name: str


@dataclass(frozen=True)
class Beginning:
    """The run that all variants differ from; it is not stored. `on_cycle` hears of their cycles."""

    run: Run
    on_cycle: Callable[[], None]

    def cluster(self) -> tuple[Sequence[KubeObject], RunOptions]:
        """The objects that variants begin with, and by which rules. Raises InvalidInput."""
        return self._heard(*cluster_of(self.run))

    def ruled_cluster(self) -> tuple[Sequence[KubeObject], RunOptions, Rules]:
        """The same, and the rules that the options were made of. Raises InvalidInput."""
        objects, options, rules = ruled_cluster_of(self.run)
        return (*self._heard(objects, options), rules)

    def trials(self) -> Trials:
        """Trials of the same, loaded already where the last question was about it.

        Raises InvalidInput.
        """
        return LOADED.trials(self.run, self.on_cycle)

    def varied(self, changes: Sequence[Change]) -> tuple[Sequence[KubeObject], RunOptions]:
        """The same after changes, of rules among them. Raises InvalidInput."""
        return self._heard(*cluster_of(varied(self.run, changes)))

    def _heard(
        self, objects: Sequence[KubeObject], options: RunOptions
    ) -> tuple[Sequence[KubeObject], RunOptions]:
        return objects, replace(options, on_cycle=self.on_cycle)


V = TypeVar("V", bound=Variant)
V_in = TypeVar("V_in", bound=Variant, contravariant=True)


class Running(Protocol[V_in]):
    """Runs variants in copies of the process, and knows what is stored of those that were run."""

    def all(self, variants: Sequence[V_in]) -> Sequence[Outcome]:
        """Run some variants, and return what they came to in their order."""
        ...

    def as_done(
        self, numbers: Iterator[int], variant_of: Callable[[int], V_in]
    ) -> Iterator[tuple[int, Outcome]]:
        """Run variants that have numbers, and yield what each came to when it is done.

        Each number is asked for when it can be begun: what was yielded by then may decide which it
        is. Which variant it is, copies that were made before can tell, too.
        """
        ...

    def expect(self, n_more: int) -> None:
        """Say how many more variants there may be."""
        ...


class Question(Protocol[V]):
    """A question about a cluster that is answered by running variants of it.

    Made from the same inputs it must take the same course: an experiment that continues after a
    crash runs it again, and gets the stored outcomes; a variant has the same number each time.
    """

    def answer(self, running: Running[V]) -> Outcome:
        """Have variants run, and return what their outcomes come to.

        What all variants share must be loaded before: then their copies share it.
        """
        ...

    @property
    def per_copy(self) -> int:
        """How many variants a copy of the process may run: many, if they change nothing in it."""
        ...

    def carry_out(self, variant: V) -> Outcome:
        """Run a variant. This is called in a copy of the process: no database, no threads."""
        ...
