"""The known state of a cluster: its objects by kind, with the order in which they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kviz.following.changes import EVENTS, Change, Item, Listed, What, identity
from scheduler_core.api import KubeObject, Node, Pod


@dataclass
class FollowedCluster:
    """Objects by kind and key. Lists fill it, changes move it on."""

    _kinds: dict[str, dict[str, Item]] = field(default_factory=dict)

    def fill(self, found: Listed) -> None:
        self._kinds[found.resource] = {identity(item): item for item in found.items}

    def apply(self, change: Change) -> Item | None:
        """Make a change, and return what was there before it."""
        items = self._kinds.setdefault(change.resource, {})
        key = identity(change.item)
        before = items.get(key)
        if change.what == "DELETED":
            items.pop(key, None)
        else:
            items[key] = change.item
        return before

    def undo(self, change: Change, before: Item | None) -> None:
        """Take a change back; `before` is what `apply` returned for it."""
        items = self._kinds.setdefault(change.resource, {})
        if before is None:
            items.pop(identity(change.item), None)
        else:
            items[identity(change.item)] = before

    def of(self, resource: str) -> dict[str, Item]:
        """The objects of a kind, by key."""
        return self._kinds.get(resource, {})

    def objects(self) -> Iterator[KubeObject]:
        """All objects that scheduling reads."""
        for resource, items in self._kinds.items():
            if resource != EVENTS:
                yield from (item for item in items.values() if isinstance(item, KubeObject))

    def nodes(self) -> Iterator[Node]:
        yield from (item for item in self.of("nodes").values() if isinstance(item, Node))

    def pods(self) -> Iterator[Pod]:
        yield from (item for item in self.of("pods").values() if isinstance(item, Pod))

    def copy(self) -> FollowedCluster:
        """Return an independent cluster with the same objects."""
        return FollowedCluster({kind: dict(items) for kind, items in self._kinds.items()})


def relisted(cluster: FollowedCluster, found: Listed) -> Iterator[Change]:
    """Yield what became of a kind while nobody watched, from a new list of it.

    What happened in between, and how often an object changed, is not known.
    """
    before = cluster.of(found.resource)
    keys = {identity(item) for item in found.items}
    for key, item in list(before.items()):
        if key not in keys:
            yield Change(found.resource, "DELETED", found.version, 0, item)
    for item in found.items:
        known = before.get(identity(item))
        if known == item:
            continue
        if known is not None and _uid(known) != _uid(item):
            yield Change(found.resource, "DELETED", found.version, 0, known)
            known = None
        what: What = "ADDED" if known is None else "MODIFIED"
        yield Change(found.resource, what, found.version, found.at_ns, item)


def _uid(item: Item) -> str:
    return item.metadata.uid if isinstance(item, KubeObject) else item.uid
