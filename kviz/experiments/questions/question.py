"""What an experiment needs of a question: the variants it asks for, and how one is carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

Outcome: TypeAlias = Mapping[str, object]
"""What a variant came to, or what all of them come to: as JSON."""


@dataclass(frozen=True)
class Variant:
    """One of the runs of an experiment; a question has its own kind, which says what is run."""

    name: str


V = TypeVar("V", bound=Variant)
V_in = TypeVar("V_in", bound=Variant, contravariant=True)


class Running(Protocol[V_in]):
    """Runs variants in copies of the process, and knows what is stored of those that were run."""

    def all(self, variants: Sequence[V_in]) -> Sequence[Outcome]:
        """Run some variants, and return what they came to in their order."""
        ...

    def as_done(self, variants: Iterator[tuple[int, V_in]]) -> Iterator[tuple[int, Outcome]]:
        """Run variants that have numbers, and yield what each came to when it is done.

        Each is asked for when it can be begun: what was yielded by then may decide which it is.
        """
        ...

    def expect(self, n_more: int) -> None:
        """Say how many more variants there may be."""
        ...


class Question(Protocol[V]):
    """A question about a cluster that is answered by running variants of it.

    Made from the same inputs it must take the same course: an experiment that goes on after a
    crash asks again, and is told what is stored; a variant has the same number each time.
    """

    def answer(self, running: Running[V]) -> Outcome:
        """Have variants run, and return what their outcomes come to.

        What all variants share is to be loaded before: then their copies share it.
        """
        ...

    def carry_out(self, variant: V) -> Outcome:
        """Run a variant. This is called in a copy of the process: no database, no threads."""
        ...
