"""A plan in one sentence, as one says it to who would carry it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from scheduler_core.advice.actions import Action, Kind, Plan
from scheduler_core.advice.devices import told as devices_told
from scheduler_core.advice.missing_claims import told as made_told
from scheduler_core.api import (
    CSINode,
    KubeObject,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
)
from scheduler_core.changes import Rules, sentence
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.vocabulary import Create, Delete, Put, SetField, Target


def sentence_of(plan: Plan, cluster: RestingCluster) -> str:
    """Return what to do, with the values before it; `cluster` is that before the plan."""
    said = []
    for n_said, each in enumerate(plan.actions):
        before = cluster.after(plan.actions[n_said - 1].changes) if n_said else cluster
        said.append("; ".join(_parts(each, before)))
        cluster = before
    return ", and ".join(said)


def _parts(action: Action, cluster: RestingCluster) -> Iterator[str]:
    for n_said, change in enumerate(action.changes):
        match change:
            case Delete(target):
                yield _deleted(target, action, cluster)
            case Create() | Put() if action.kind in ("move", "delete", "schedule"):
                continue
            case Create(items) if action.kind == "class" and isinstance(items[0], Pod):
                continue
            case Create() if action.kind == "node":
                yield "with devices like its own"
            case Put(items) if action.kind in TOLD:
                yield TOLD[action.kind](items, cluster)
            case SetField(target, path) if action.kind in ("claim", "devices"):
                yield from _claim_dropped(target, path, cluster)
            case SetField(target, "spec.tolerations[+]", value):
                yield f"let {target} tolerate {_taint(value)}"
            case SetField(target, path) if action.kind == "soften" and path.endswith("[+]"):
                kind = path.split(".")[2]
                yield f"let {target} prefer what its {kind} requires"
            case SetField() if action.kind == "soften" and change.value is None and n_said:
                continue
            case _:
                yield sentence(change, cluster, Rules())


def _deleted(target: Target, action: Action, cluster: RestingCluster) -> str:
    pod = cluster.get(Pod, target.key)
    if action.kind == "schedule":
        return f"make pod {target.key} again for another scheduler"
    if action.kind == "class":
        return f"make pod {target.key} again, so that it has its priority"
    if pod is None:
        return sentence(Delete(target), cluster, Rules())
    owned = any(isinstance(each, Create) for each in action.changes)
    what = "let its owner make it again" if owned else "nobody makes it again"
    return f"delete pod {pod.key} on {pod.spec.node_name} ({what})"


def _claim_dropped(target: Target, path: str, cluster: RestingCluster) -> Iterator[str]:
    """Tell of a claim that a pod goes without; what its containers use of it goes with it."""
    pod = cluster.get(Pod, target.key)
    for i, use in enumerate(pod.spec.resource_claims if pod is not None else ()):
        if path == f"spec.resourceClaims[{i}]":
            yield f"let {target} go without its claim {use.name}"


def _claim_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    of_devices = [each for each in items if isinstance(each, ResourceClaim | ResourceClaimTemplate)]
    if of_devices:
        return "; ".join(map(made_told, of_devices))
    claim = next(each for each in items if isinstance(each, PersistentVolumeClaim))
    missing = cluster.get(PersistentVolumeClaim, claim.key) is None
    return f"{'create' if missing else 'bind'} claim {claim.key} with a volume of its own"


def _devices_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    after = next(each for each in items if isinstance(each, ResourceClaim | ResourceClaimTemplate))
    before = cluster.get(type(after), after.key)
    assert before is not None
    return devices_told(before, after)


def _class_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    claim = next(each for each in items if isinstance(each, PersistentVolumeClaim))
    before = cluster.get(PersistentVolumeClaim, claim.key)
    old = before.spec.storage_class_name if before is not None else None
    return f"make claim {claim.key} again with storage class {claim.spec.storage_class_name}" + (
        f" instead of {old}" if old else ""
    )


def _limit_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    after = next(each for each in items if isinstance(each, CSINode))
    known = cluster.get(CSINode, after.name)
    before = known.spec.drivers if known is not None else ()
    driver = next(each for each in after.spec.drivers if each not in before)
    old = next((each for each in before if each.name == driver.name), None)
    if old is None or driver.allocatable is None:
        return f"install CSI driver {driver.name} on node {after.name}"
    was = old.allocatable.count if old.allocatable is not None else None
    return (
        f"limit of volumes of {driver.name} on node {after.name} {was} → {driver.allocatable.count}"
    )


def _volume_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    return f"copy volume {items[0].name} to where the node can use it"


TOLD: Final[dict[Kind, Callable[[Sequence[KubeObject], RestingCluster], str]]] = {
    "claim": _claim_told,
    "devices": _devices_told,
    "storageClass": _class_told,
    "volumeLimit": _limit_told,
    "driver": _limit_told,
    "volume": _volume_told,
}
"""How changes are told that put objects in place of others."""


def _taint(toleration: object) -> str:
    """Return what a toleration is for, as kubectl writes a taint."""
    assert isinstance(toleration, dict)
    value = f"={toleration['value']}" if "value" in toleration else ""
    return f"{toleration['key']}{value}:{toleration['effect']}"
