"""Seeded choices: the same seed draws the same cluster on every machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

Json = dict[str, Any]
"""A Kubernetes object or a part of one, as it is in a manifest."""


class Draw:
    """Random choices, and which features the document at hand makes use of."""

    def __init__(self, seed: str, features: Sequence[str] = (), likelihood: float = 0.3) -> None:
        """Take each of `features` with the given likelihood."""
        self._random = random.Random(seed)
        self.features = frozenset(f for f in features if self.chance(likelihood))

    def has(self, feature: str, likelihood: float = 0.5) -> bool:
        """Whether the document makes use of the feature and does so here."""
        return feature in self.features and self.chance(likelihood)

    def chance(self, likelihood: float) -> bool:
        return self._random.random() < likelihood

    def number(self, low: int, high: int) -> int:
        """Return a number from low to high, both included."""
        return self._random.randint(low, high)

    def one(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def some(self, options: Sequence[T], at_least: int = 0, at_most: int | None = None) -> list[T]:
        """Return different options in the order given."""
        most = len(options) if at_most is None else min(at_most, len(options))
        n_taken = self.number(min(at_least, most), most)
        taken = sorted(self._random.sample(range(len(options)), n_taken))
        return [options[i] for i in taken]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self._random.sample(list(options), len(options))
