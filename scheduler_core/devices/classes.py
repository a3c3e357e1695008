"""Which class of devices backs an extended resource.

Upstream: v1.36 dynamic-resource-allocation/deviceclass/extendedresourcecache.
"""

from __future__ import annotations

from typing import Final

from scheduler_core.api import DeviceClass
from scheduler_core.cluster.objects import ObjectStore

IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""Before a class's name: the extended resource that every class backs."""


class ExtendedResourceClasses:
    """Classes by the extended resources they name; of two with one name the newer counts."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._revision = 0
        self._known: dict[str, DeviceClass] = {}
        self._class_of: dict[str, DeviceClass] = {}

    def get(self, resource: str) -> DeviceClass | None:
        """Return the class that backs an extended resource."""
        changed = self._objects.changed_since(DeviceClass, self._revision)
        self._revision += len(changed)
        for name in changed:
            self._follow(name, self._objects.get(DeviceClass, name))
        return self._class_of.get(resource)

    def _follow(self, name: str, now: DeviceClass | None) -> None:
        before = self._known.pop(name, None)
        if now is not None:
            self._known[name] = now
            self._take_over(before, now)
        elif before is not None:
            self._forget(before)

    def _take_over(self, before: DeviceClass | None, now: DeviceClass) -> None:
        """Note a class. One that another of its resource takes precedence over changes nothing."""
        explicit = now.spec.extended_resource_name
        rival = self._class_of.get(explicit) if explicit else None
        if rival is not None and not _precedes(now, rival):
            return
        if before is not None:
            self._forget(before)
        if explicit:
            self._class_of[explicit] = now
        self._class_of[IMPLICIT_PREFIX + now.name] = now

    def _forget(self, known: DeviceClass) -> None:
        self._class_of.pop(IMPLICIT_PREFIX + known.name, None)
        if known.spec.extended_resource_name:
            self._class_of.pop(known.spec.extended_resource_name, None)


def _precedes(one: DeviceClass, other: DeviceClass) -> bool:
    """Tell whether a class is the newer one, or the first by name of two of one time."""
    mine = one.metadata.creation_timestamp or 0
    theirs = other.metadata.creation_timestamp or 0
    return mine > theirs or (mine == theirs and one.name < other.name)
