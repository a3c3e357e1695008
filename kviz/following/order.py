"""The order in which changes of different kinds are taken to have happened (ADR 0037).

Kinds are watched over connections of their own: within a kind the order of arrival is the order
of the writes, between kinds it is not. Their resourceVersions come from one counter of the store
(a fact of etcd, no promise of the API), so that changes are told in that order, and one waits
until no earlier one can come: until every kind has been heard up to it, but for `SETTLE_S` at most.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import Final

from kviz.following.changes import Change

SETTLE_S: Final = 1.0
"""So long a change waits for earlier ones of other kinds."""


@dataclass(frozen=True, slots=True)
class _Held:
    change: Change
    heard_s: float


def _place(held: _Held) -> tuple[int, str]:
    return held.change.version, held.change.resource


@dataclass
class Ordering:
    """Takes changes as they arrive, and hands them over in the order of their versions."""

    heard: dict[str, int] = field(default_factory=dict)
    """By kind: the version up to which its watch has been heard."""
    n_late: int = 0
    """Changes that came when a later one had been handed over: they follow it."""
    _held: list[_Held] = field(default_factory=list)
    _told: int = 0

    def begin(self, resource: str, version: int) -> None:
        """A kind was listed at a version; its changes come from there on."""
        self.heard[resource] = version

    def take(self, change: Change, now_s: float) -> None:
        insort(self._held, _Held(change, now_s), key=_place)
        self.reach(change.resource, change.version)

    def reach(self, resource: str, version: int) -> None:
        """All changes of a kind up to a version have come: a bookmark says so."""
        self.heard[resource] = max(self.heard.get(resource, 0), version)

    def ready(self, now_s: float) -> list[Change]:
        """Hand over, in order, what need not wait any longer."""
        certain = min(self.heard.values(), default=0)
        overdue = [h.change.version for h in self._held if now_s - h.heard_s >= SETTLE_S]
        until = max(certain, max(overdue, default=0))
        n_ready = sum(1 for held in self._held if held.change.version <= until)
        ready = [held.change for held in self._held[:n_ready]]
        del self._held[:n_ready]
        self.n_late += sum(1 for change in ready if change.version < self._told)
        self._told = max([self._told, *(change.version for change in ready)])
        return ready

    def flush(self) -> list[Change]:
        """Hand over everything: nothing more will come."""
        ready = [held.change for held in self._held]
        self._held.clear()
        return ready
