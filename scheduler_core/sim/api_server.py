"""The API server of the simulated cluster: holds the objects, sends watchers every write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from msgspec.structs import replace

from scheduler_core.api import KubeObject, ObjectMeta, Pod, PodCondition

K = TypeVar("K", bound=KubeObject)

DEFAULT_NAMESPACE = "default"
DEFAULT_SCHEDULER = "default-scheduler"


class Watcher(Protocol):
    """Hears of every write, at once and in order."""

    def added(self, item: KubeObject) -> None: ...
    def updated(self, old: KubeObject, new: KubeObject) -> None: ...
    def deleted(self, item: KubeObject) -> None: ...


class ConflictError(ValueError):
    """An object with that kind and key exists already."""


class NotFoundError(LookupError):
    """There is no object with that kind and key."""


def bound_to(pod: Pod, node_name: str) -> Pod:
    """Return what the API server makes of a pod that anybody binds to a node.

    The nomination goes: it has served, or is stale.

    Upstream: v1.36 pkg/registry/core/pod/storage/storage.go (setPodNodeAndMetadata).
    """
    scheduled = PodCondition(type="PodScheduled", status="True")
    status = replace(pod.status, nominated_node_name="", conditions=with_condition(pod, scheduled))
    return replace(pod, spec=replace(pod.spec, node_name=node_name), status=status)


def with_condition(pod: Pod, condition: PodCondition) -> tuple[PodCondition, ...]:
    """Return the pod's conditions with one set or replaced."""
    others = [known for known in pod.status.conditions if known.type != condition.type]
    return (*others, condition)


class ApiServer:
    """Objects by kind and key, in order of creation; each write gets a resource version."""

    def __init__(self) -> None:
        self._objects: dict[type[KubeObject], dict[str, KubeObject]] = {}
        self._watchers: list[Watcher] = []
        self._version = 0

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def get(self, kind: type[K], key: str) -> K | None:
        found = self._objects.get(kind, {}).get(key)
        return found if isinstance(found, kind) else None

    def all(self, kind: type[K]) -> Iterator[K]:
        items = list(self._objects.get(kind, {}).values())
        return (item for item in items if isinstance(item, kind))

    def objects(self) -> list[KubeObject]:
        """Return all objects, kind by kind, those of a kind in order of creation."""
        return [item for items in self._objects.values() for item in items.values()]

    def create(self, item: K, now_ns: int) -> K:
        """Store a new object with the fields the server fills in. Raises ConflictError."""
        item = completed(item, now_ns, self._next_version())
        objects = self._objects.setdefault(type(item), {})
        if item.key in objects:
            raise ConflictError(f'{item.kind} "{item.key}" already exists')
        objects[item.key] = item
        for watcher in self._watchers:
            watcher.added(item)
        return item

    def update(self, item: K) -> K:
        """Replace an object. Raises NotFoundError."""
        old = self._objects.get(type(item), {}).get(item.key)
        if old is None:
            raise NotFoundError(f'{item.kind} "{item.key}" not found')
        metadata = replace(item.metadata, resource_version=self._next_version())
        item = replace(item, metadata=metadata)
        self._objects[type(item)][item.key] = item
        for watcher in self._watchers:
            watcher.updated(old, item)
        return item

    def write(self, item: KubeObject, now_ns: int) -> None:
        """Create an object, or replace the one with its kind and key."""
        if item.key in self._objects.get(type(item), {}):
            self.update(item)
        else:
            self.create(item, now_ns)

    def delete(self, item: KubeObject) -> None:
        """Remove an object at once. Raises NotFoundError."""
        old = self._objects.get(type(item), {}).pop(item.key, None)
        if old is None:
            raise NotFoundError(f'{item.kind} "{item.key}" not found')
        for watcher in self._watchers:
            watcher.deleted(old)

    def _next_version(self) -> str:
        self._version += 1
        return str(self._version)


def completed(item: K, now_ns: int, version: str) -> K:
    """Fill in namespace, uid, creation time, version and, for a pod, the scheduler's name."""
    metadata = item.metadata
    namespace = metadata.namespace or (DEFAULT_NAMESPACE if item.namespaced else "")
    created_ns = metadata.creation_timestamp
    completed: ObjectMeta = replace(
        metadata,
        namespace=namespace,
        uid=metadata.uid or (f"{namespace}/{metadata.name}" if namespace else metadata.name),
        creation_timestamp=now_ns if created_ns is None else created_ns,
        resource_version=version,
    )
    item = replace(item, metadata=completed)
    if isinstance(item, Pod) and not item.spec.scheduler_name:
        item = replace(item, spec=replace(item.spec, scheduler_name=DEFAULT_SCHEDULER))
    return item
