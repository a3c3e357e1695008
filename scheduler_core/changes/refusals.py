"""Why a change cannot be carried out in a cluster, and what an object must not become.

Upstream: v1.36 pkg/apis/core/validation, and the storage object in use protection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol, TypeVar

from scheduler_core.api import KubeObject, PersistentVolume, PersistentVolumeClaim, Pod
from scheduler_core.wording import say, some_of

K = TypeVar("K", bound=KubeObject)


class Refused(Exception):
    """A change cannot be carried out in the cluster as it is; the message says why."""


NO_POD_TO_COPY: Final = say("refused.no_pod_to_copy", "it has no pod to copy")


def already_there(item: KubeObject) -> Refused:
    """Return why an object cannot be created of whose name there is one."""
    return Refused(say("refused.exists", 'refused, "{name}" already exists', name=item.name))


class Objects(Protocol):
    """The objects of a cluster, at rest or in a simulation."""

    def get(self, kind: type[K], key: str) -> K | None: ...
    def all(self, kind: type[K]) -> Iterator[K]: ...


def why_immutable(old: KubeObject, new: KubeObject) -> str:
    """Return which field of the object a change must not touch, empty if it does not."""
    was, now = old.metadata, new.metadata
    if (was.name, was.namespace, was.uid) != (now.name, now.namespace, now.uid):
        return say("refused.identity_fixed", "metadata.name, namespace and uid cannot change")
    if was.deletion_timestamp != now.deletion_timestamp:
        return say(
            "refused.deletion_timestamp", "metadata.deletionTimestamp cannot be set: use delete"
        )
    match old, new:
        case Pod(), Pod():
            return _why_pod_immutable(old, new)
        case PersistentVolumeClaim(), PersistentVolumeClaim():
            volume = old.spec.volume_name
            if volume and new.spec.volume_name != volume:
                return say("refused.claim_bound", "the claim is bound to {volume}", volume=volume)
        case _:
            pass
    return ""


def _why_pod_immutable(old: Pod, new: Pod) -> str:
    bound = old.spec.node_name
    if bound and new.spec.node_name != bound:
        return say("refused.pod_bound", "the pod is bound to {node}", node=bound)
    if new.spec.scheduler_name != old.spec.scheduler_name:
        return say("refused.scheduler_name_fixed", "spec.schedulerName cannot change")
    return ""


def why_in_use(item: KubeObject, objects: Objects) -> str:
    """Return what keeps an object at rest from being deleted at once, empty if nothing does.

    A claim is kept by the pods on nodes that mount it, a volume by the claim that is bound to it.

    Upstream: v1.36 pkg/controller/volume/pvcprotection (podUsesPVC).
    """
    match item:
        case PersistentVolumeClaim():
            users = [
                pod.key for pod in objects.all(Pod) if pod.spec.node_name and _mounts(pod, item)
            ]
            if not users:
                return ""
            return say(
                "refused.claim_mounted",
                "mounted by {pods}; delete the pods first",
                pods=some_of(users),
            )
        case PersistentVolume():
            claims = [
                claim.key
                for claim in objects.all(PersistentVolumeClaim)
                if claim.spec.volume_name == item.name
            ]
            if not claims:
                return ""
            return say(
                "refused.volume_bound",
                "bound to {claims}; delete the claim first",
                claims=some_of(claims),
            )
        case _:
            return ""


def _mounts(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    return pod.namespace == claim.namespace and any(
        volume.persistent_volume_claim is not None
        and volume.persistent_volume_claim.claim_name == claim.name
        for volume in pod.spec.volumes
    )
