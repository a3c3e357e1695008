"""What an experiment needs of a question: the variants it asks for, and how one is carried out."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

Outcome: TypeAlias = Mapping[str, object]
"""What a variant came to, or what all of them come to: as JSON."""


@dataclass(frozen=True)
class Variant:
    """One of the runs of an experiment; a question has its own kind, which says what is run."""

    name: str


V = TypeVar("V", bound=Variant)
Asking: TypeAlias = Generator[Sequence[V], Sequence[Outcome], Outcome]


class Question(Protocol[V]):
    """A question about a cluster that is answered by running variants of it.

    Made from the same inputs it must take the same course: an experiment that goes on after a
    crash asks again, and is told what is stored.
    """

    def ask(self) -> Asking[V]:
        """Ask for variants, batch by batch, and return what their outcomes come to.

        It is sent the outcomes of each batch, in the batch's order. What all variants share is
        to be loaded before a batch is asked for: then their copies share it.
        """
        ...

    def carry_out(self, variant: V) -> Outcome:
        """Run a variant. This is called in a copy of the process: no database, no threads."""
        ...
