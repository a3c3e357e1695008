"""Volumes and claims as they will be once decisions not yet written have been.

An assumed object stands in for the stored one it was derived from, until that one changes.

Upstream: v1.36 plugins/volumebinding/{passive_assume_cache,assume_cache}.go.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from scheduler_core.api import KubeObject, PersistentVolume
from scheduler_core.cluster.claims import volume_class
from scheduler_core.cluster.objects import ObjectStore

K = TypeVar("K", bound=KubeObject)


class AssumeCache(Generic[K]):
    """Objects of one kind, assumed ones in place of those they were derived from."""

    def __init__(self, objects: ObjectStore, kind: type[K]) -> None:
        self._objects = objects
        self._kind = kind
        self._assumed: dict[str, tuple[K, K]] = {}

    def get(self, key: str) -> K | None:
        stored = self._objects.get(self._kind, key)
        return None if stored is None else self.current(stored)

    def current(self, stored: K) -> K:
        """Return what is assumed of a stored object, or the object itself."""
        if not self._assumed:
            return stored
        base, assumed = self._assumed.get(stored.key, (None, stored))
        return assumed if base is stored else stored

    def assume(self, item: K) -> bool:
        """Let `item` stand in for the stored object; tell whether there is one."""
        stored = self._objects.get(self._kind, item.key)
        if stored is not None:
            self._assumed[item.key] = stored, item
        return stored is not None

    def is_up_to_date(self, item: K) -> bool:
        """Whether the stored object is still the one that `item` was assumed over."""
        base, assumed = self._assumed.get(item.key, (None, None))
        return assumed is item and base is self._objects.get(self._kind, item.key)

    def restore(self, item: K) -> None:
        """Take back an assumed object."""
        if self._assumed.get(item.key, (None, None))[1] is item:
            del self._assumed[item.key]


class VolumeIndex:
    """Persistent volumes by storage class: those of nobody, and those of each claim."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._revision = 0
        self._n_seen = 0
        self._place: dict[str, tuple[str, str]] = {}
        self._order: dict[str, int] = {}
        self._members: dict[tuple[str, str], dict[str, PersistentVolume]] = {}

    def candidates(self, storage_class: str, claim: str) -> list[PersistentVolume]:
        """Return what a claim may be given: its own and free volumes, in order of creation."""
        self._refresh()
        free = self._members.get((storage_class, ""), {})
        own = self._members.get((storage_class, claim), {})
        return sorted((*free.values(), *own.values()), key=lambda each: self._order[each.name])

    def _refresh(self) -> None:
        names = self._objects.changed_since(PersistentVolume, self._revision)
        self._revision += len(names)
        for name in dict.fromkeys(names):
            volume = self._objects.get(PersistentVolume, name)
            self._take_out(name)
            if volume is None:
                self._order.pop(name, None)
                continue
            claim = volume.spec.claim_ref
            place = volume_class(volume), f"{claim.namespace}/{claim.name}" if claim else ""
            self._members.setdefault(place, {})[name] = volume
            self._place[name] = place
            if name not in self._order:
                self._n_seen += 1
                self._order[name] = self._n_seen

    def _take_out(self, name: str) -> None:
        place = self._place.pop(name, None)
        if place is not None:
            del self._members[place][name]
