"""The objects of a cluster, by kind, in the order they were created or read."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, cast

from scheduler_core.api.meta import KubeObject
from scheduler_core.api.types import KINDS

Kind = TypeVar("Kind", bound=KubeObject)


class ClusterObjects:
    """An immutable set of objects; each namespace and name stands for one object of a kind."""

    __slots__ = ("_by_kind",)

    def __init__(self, objects: Iterable[KubeObject] = ()) -> None:
        by_kind: dict[str, list[KubeObject]] = {kind: [] for kind in KINDS}
        for item in objects:
            by_kind[item.kind].append(item)
        self._by_kind: Mapping[str, tuple[KubeObject, ...]] = {
            kind: tuple(items) for kind, items in by_kind.items() if items
        }

    def of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The objects of one kind: ``objects.of(Pod)``."""
        return cast(tuple[Kind, ...], self._by_kind.get(kind.kind, ()))

    @property
    def counts(self) -> dict[str, int]:
        """How many objects there are of each kind that has any."""
        return {kind: len(items) for kind, items in self._by_kind.items()}

    def __iter__(self) -> Iterator[KubeObject]:
        for items in self._by_kind.values():
            yield from items

    def __len__(self) -> int:
        return sum(len(items) for items in self._by_kind.values())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClusterObjects):
            return NotImplemented
        return self._by_kind == other._by_kind

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ClusterObjects({self.counts})"
