"""A plan in one sentence, as one says it to who would carry it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from scheduler_core.analysis.advice.actions import Action, Kind, Plan
from scheduler_core.analysis.advice.devices import told as devices_told
from scheduler_core.analysis.advice.missing_claims import told as made_told
from scheduler_core.analysis.advice.titles import OF_CLOUD, brought_to, taints_of, waited_for
from scheduler_core.analysis.advice.volumes import IS_DEFAULT
from scheduler_core.api import (
    CSINode,
    KubeObject,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    StorageClass,
)
from scheduler_core.changes import Change, Rules, sentence
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.node_changes import HOSTNAME
from scheduler_core.changes.owners import is_terminating
from scheduler_core.changes.vocabulary import (
    CopyNode,
    Cordon,
    Create,
    Delete,
    Put,
    RemoveTaint,
    Scale,
    SetField,
    SetLabel,
    Target,
)
from scheduler_core.wording import SEMICOLON, THEN, say, series

OF_NODES: Final = "node.kubernetes.io/"
"""Taints that the node controller, or the kubelet, takes off."""


def sentence_of(plan: Plan, cluster: RestingCluster) -> str:
    """Return what to do, with the values before it; `cluster` is that before the plan."""
    said = []
    for n_said, each in enumerate(plan.parts):
        before = cluster.after(plan.parts[n_said - 1].changes) if n_said else cluster
        parts = _waiting(each, before) if each.kind in ("wait", "ready") else _parts(each, before)
        said.append(series(parts, SEMICOLON))
        cluster = before
    return series(said, THEN)


def _parts(action: Action, cluster: RestingCluster) -> Iterator[str]:
    for n_said, change in enumerate(action.changes):
        match change:
            case Delete() if action.kind == "storageClass":
                continue
            case Delete(target):
                yield _deleted(target, action, cluster)
            case CopyNode() | SetLabel() | Create() | RemoveTaint() | Cordon() if (
                action.kind == "node"
            ):
                yield from _node_told(change, action, cluster)
            case Scale() if action.kind == "rollout":
                yield say(
                    "advice.rollout",
                    "let its Deployment end an old pod before it makes a new one (maxSurge: 0 and "
                    "maxUnavailable: 1, or strategy Recreate); meanwhile it has one pod fewer: "
                    "{scaled}",
                    scaled=sentence(change, cluster, Rules()),
                )
            case Create() | Put() if action.kind in ("move", "bring", "delete", "schedule"):
                continue
            case Create(items) if action.kind == "class" and isinstance(items[0], Pod):
                continue
            case Put(items) | Create(items) if action.kind in TOLD and _is_told(items):
                yield TOLD[action.kind](items, cluster)
            case SetLabel(_, key, value) if action.kind == "driver":
                yield say(
                    "advice.driver_labels",
                    "it then labels the node {key}={value}",
                    key=key,
                    value=value,
                )
            case SetField(_, _, None) if action.kind == "soften" and n_said:
                continue
            case SetField():
                yield from _field_told(change, action, cluster)
            case _:
                yield sentence(change, cluster, Rules())


def _field_told(change: SetField, action: Action, cluster: RestingCluster) -> Iterator[str]:
    target, path = change.target, change.path
    match change.value:
        case _ if action.kind in ("claim", "devices"):
            yield from _claim_dropped(target, path, cluster)
        case value if path == "spec.tolerations[+]":
            yield say(
                "advice.tolerate",
                "let {target} tolerate {taint}",
                target=target,
                taint=_taint(value),
            )
        case _ if action.kind == "soften" and path.endswith("[+]"):
            yield say(
                "advice.prefer",
                "let {target} prefer what its {kind} requires",
                target=target,
                kind=path.split(".")[2],
            )
        case None if action.kind == "soften":
            yield say(
                "advice.drop",
                "drop what the {kind} of {target} requires",
                kind=path.split(".")[2],
                target=target,
            )
        case _:
            yield sentence(change, cluster, Rules())


def _waiting(action: Action, cluster: RestingCluster) -> Iterator[str]:
    node = waited_for(action)
    if action.kind == "ready":
        yield from (_readiness(key, node) for key in taints_of(action))
    elif any(each.spec.node_name == node and is_terminating(each) for each in cluster.all(Pod)):
        yield say(
            "advice.wait",
            "wait until node {node} is back: its kubelet then ends the pods that are terminating "
            "there",
            node=node,
        )
    else:
        yield say(
            "advice.wait_for_node",
            "wait until node {node} is back; if it stays away, look for the fault there",
            node=node,
        )


def _readiness(key: str, node: str) -> str:
    if key.startswith(OF_CLOUD):
        return say(
            "advice.initialized",
            "wait until the cloud controller manager takes {taint} off node {node}; if it stays, "
            "look whether the cloud controller manager runs, and what it logs",
            taint=key,
            node=node,
        )
    if key.startswith(OF_NODES):
        return say(
            "advice.ready",
            "wait until {taints} is taken off node {node}, as it is when the node is ready; if it "
            "stays, look for the fault there",
            taints=key,
            node=node,
        )
    return say(
        "advice.agent_ready",
        "wait until {taint} is taken off node {node} by the agent that it is of; if it stays, look "
        "whether that agent runs there",
        taint=key,
        node=node,
    )


def _deleted(target: Target, action: Action, cluster: RestingCluster) -> str:
    pod = cluster.get(Pod, target.key)
    if action.kind == "bring" and pod is not None:
        (made,) = (each for each in action.changes if isinstance(each, Create))
        return say(
            "advice.bring",
            "delete pod {key} on {node}, and make it again for {there} (node selector {label})",
            key=pod.key,
            node=pod.spec.node_name,
            there=brought_to(made),
            label=HOSTNAME,
        )
    if action.kind == "force":
        return say("advice.force_delete", "force-delete {target}", target=target)
    if action.kind == "schedule":
        return say(
            "advice.other_scheduler", "make pod {key} again for another scheduler", key=target.key
        )
    if action.kind == "class":
        return say(
            "advice.recreate_for_priority",
            "make pod {key} again, so that it has its priority",
            key=target.key,
        )
    if pod is None:
        return sentence(Delete(target), cluster, Rules())
    owned = any(isinstance(each, Create) for each in action.changes)
    what = (
        say("advice.owner_recreates", "let its owner recreate it")
        if owned
        else say("pod.bare", "bare pod, no controller")
    )
    return say(
        "advice.delete_pod",
        "delete pod {key} on {node} ({what})",
        key=pod.key,
        node=pod.spec.node_name,
        what=what,
    )


def _is_told(items: Sequence[KubeObject]) -> bool:
    """Return whether objects are told by what they are for: a storage class alone is created."""
    return not all(isinstance(each, StorageClass) for each in items)


def _node_told(change: Change, action: Action, cluster: RestingCluster) -> Iterator[str]:
    """Say that one node is added, with its new domain, and its devices."""
    new = [each.key for each in action.changes if isinstance(each, SetLabel)]
    match change:
        case CopyNode(node) if new:
            yield say(
                "advice.node_in_new",
                "add 1 node like {node} in a new {key}",
                node=node,
                key=new[0],
            )
        case CopyNode():
            yield sentence(change, cluster, Rules())
        case Create():
            yield say("advice.with_like_devices", "with devices like its own")
        case Cordon():
            yield say("advice.not_cordoned", "not cordoned")
        case RemoveTaint(_, key):
            yield say("advice.without_taint", "without taint {key}", key=key)
        case _:
            pass


def _claim_dropped(target: Target, path: str, cluster: RestingCluster) -> Iterator[str]:
    """Tell of a claim that a pod goes without; what its containers use of it goes with it."""
    pod = cluster.get(Pod, target.key)
    for i, use in enumerate(pod.spec.resource_claims if pod is not None else ()):
        if path == f"spec.resourceClaims[{i}]":
            yield say(
                "advice.drop_claim",
                "let {target} go without its claim {name}",
                target=target,
                name=use.name,
            )


def _claim_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    of_devices = [each for each in items if isinstance(each, ResourceClaim | ResourceClaimTemplate)]
    if of_devices:
        return series(map(made_told, of_devices), SEMICOLON)
    claim = next(each for each in items if isinstance(each, PersistentVolumeClaim))
    missing = cluster.get(PersistentVolumeClaim, claim.key) is None
    if missing:
        return say("advice.create_claim", "create claim {claim} with a new volume", claim=claim.key)
    return say("advice.bind_claim", "bind claim {claim} to a new volume", claim=claim.key)


def _devices_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    after = next(each for each in items if isinstance(each, ResourceClaim | ResourceClaimTemplate))
    before = cluster.get(type(after), after.key)
    assert before is not None
    return devices_told(before, after)


def _class_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    claim = next(each for each in items if isinstance(each, PersistentVolumeClaim))
    before = cluster.get(PersistentVolumeClaim, claim.key)
    old = before.spec.storage_class_name if before is not None else None
    text = say(
        "advice.recreate_claim",
        "make claim {claim} again with storage class {storage_class}",
        claim=claim.key,
        storage_class=claim.spec.storage_class_name,
    )
    if not old or old == claim.spec.storage_class_name:
        return text
    return say("advice.instead_of", "{what} instead of {old}", what=text, old=old)


def _limit_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    after = next(each for each in items if isinstance(each, CSINode))
    known = cluster.get(CSINode, after.name)
    before = known.spec.drivers if known is not None else ()
    driver = next(each for each in after.spec.drivers if each not in before)
    old = next((each for each in before if each.name == driver.name), None)
    if old is None or driver.allocatable is None:
        return say(
            "advice.install_driver",
            "install CSI driver {name} on node {node}",
            name=driver.name,
            node=after.name,
        )
    was = old.allocatable.count if old.allocatable is not None else None
    return say(
        "advice.volume_limit",
        "limit of volumes of {name} on node {node} {old} → {new}",
        name=driver.name,
        node=after.name,
        old=was,
        new=driver.allocatable.count,
    )


def _volume_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    return say(
        "advice.copy_volume", "copy volume {name} to where the node can use it", name=items[0].name
    )


def _default_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    made, claim = items
    text = (
        say("advice.default_class", "mark storage class {name} as the default", name=made.name)
        if cluster.get(StorageClass, made.name) is not None
        else say(
            "advice.new_default_class",
            "create storage class {name} with a provisioner of this cluster, and mark it as the "
            "default",
            name=made.name,
        )
    )
    return say(
        "advice.gets_default",
        "{what} ({annotation}): claim {claim} names none and then gets it",
        what=text,
        annotation=IS_DEFAULT,
        claim=claim.key,
    )


def _shared_told(items: Sequence[KubeObject], cluster: RestingCluster) -> str:
    return say(
        "advice.shared_volume",
        "put volume {name}, which another pod uses, on storage that every node can use "
        "(ReadWriteMany), or give each pod a claim of its own",
        name=items[0].name,
    )


TOLD: Final[dict[Kind, Callable[[Sequence[KubeObject], RestingCluster], str]]] = {
    "claim": _claim_told,
    "defaultClass": _default_told,
    "devices": _devices_told,
    "storageClass": _class_told,
    "volumeLimit": _limit_told,
    "driver": _limit_told,
    "volume": _volume_told,
    "sharedVolume": _shared_told,
}
"""How changes are told that put objects in place of others."""


def _taint(toleration: object) -> str:
    """Return what a toleration is for, as kubectl writes a taint."""
    assert isinstance(toleration, dict)
    value = f"={toleration['value']}" if "value" in toleration else ""
    return f"{toleration['key']}{value}:{toleration['effect']}"
