"""The objects around pods and nodes, as informers would list them.

Upstream: the listers of client-go that plugins ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from scheduler_core.api import KubeObject, Namespace

K = TypeVar("K", bound=KubeObject)


class ObjectStore:
    """Objects by kind and key (`namespace/name` or `name`), in order of creation."""

    def __init__(self) -> None:
        self._kinds: dict[type[KubeObject], dict[str, KubeObject]] = {}
        self._changes: dict[type[KubeObject], list[str]] = {}

    def fork(self) -> ObjectStore:
        """Return an independent copy."""
        fork = ObjectStore()
        fork._kinds = {kind: items.copy() for kind, items in self._kinds.items()}
        fork._changes = {kind: keys[:] for kind, keys in self._changes.items()}
        return fork

    def put(self, item: KubeObject) -> None:
        """Add an object, or replace the one with its key in place."""
        self._kinds.setdefault(type(item), {})[item.key] = item
        self._changes.setdefault(type(item), []).append(item.key)

    def remove(self, item: KubeObject) -> None:
        self._kinds.get(type(item), {}).pop(item.key, None)
        self._changes.setdefault(type(item), []).append(item.key)

    def revision(self, kind: type[K]) -> int:
        """Return how often objects of that kind have changed, so that answers can be cached."""
        return len(self._changes.get(kind, ()))

    def changed_since(self, kind: type[K], revision: int) -> Sequence[str]:
        """Return the keys of the objects put or removed since then, in order, with repeats."""
        return self._changes.get(kind, [])[revision:]

    def get(self, kind: type[K], key: str) -> K | None:
        found = self._kinds.get(kind, {}).get(key)
        return found if isinstance(found, kind) else None

    def all(self, kind: type[K]) -> Iterator[K]:
        """Iterate the objects of one kind in order of creation."""
        return (item for item in self._kinds.get(kind, {}).values() if isinstance(item, kind))

    def namespace_labels(self, name: str) -> dict[str, str]:
        """Return the labels of a namespace, empty if the namespace is not known."""
        namespace = self.get(Namespace, name)
        return namespace.metadata.labels if namespace else {}
