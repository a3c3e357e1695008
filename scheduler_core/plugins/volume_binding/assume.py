"""Volumes and claims as they will be once decisions not yet written have been.

An assumed object stands in for the stored one it was derived from, until that one changes.

Upstream: v1.36 plugins/volumebinding/{passive_assume_cache,assume_cache}.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from scheduler_core.api import KubeObject, PersistentVolume
from scheduler_core.api.claims import not_found, volume_class
from scheduler_core.cluster.objects import ObjectStore

K = TypeVar("K", bound=KubeObject)


@dataclass(frozen=True, eq=False)
class Assumption(Generic[K]):
    """An assumed object, and the stored one it was derived from."""

    item: K
    base: K


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

    def assume(self, item: K) -> Assumption[K]:
        """Let `item` stand in for the stored object. Raises LookupError if there is none."""
        stored = self._objects.get(self._kind, item.key)
        if stored is None:
            raise LookupError(f"no {item.kind} {item.key} to assume anything of")
        self._assumed[item.key] = stored, item
        return Assumption(item, stored)

    def refusal(self, assumption: Assumption[K]) -> str:
        """Return why the API server would not take the assumed object, empty if it would."""
        item = assumption.item
        resource = f"{item.kind.lower()}s"
        stored = self._objects.get(self._kind, item.key)
        if stored is None:
            return not_found(resource, item.name)
        if stored is not assumption.base:
            return (
                f'Operation cannot be fulfilled on {resource} "{item.name}": the object has been '
                "modified; please apply your changes to the latest version and try again"
            )
        return ""

    def restore(self, assumption: Assumption[K]) -> None:
        """Take back what is assumed over the same stored object, by any pod."""
        key = assumption.item.key
        if self._assumed.get(key, (None, None))[0] is assumption.base:
            del self._assumed[key]


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
