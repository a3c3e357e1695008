"""A plan in a few words: what stands on its button and at the head of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scheduler_core.analysis.advice.actions import Action, Kind, Plan
from scheduler_core.api import KubeObject, Pod, StorageClass
from scheduler_core.api.coerce import Plain
from scheduler_core.changes.names import name_of
from scheduler_core.changes.node_changes import HOSTNAME
from scheduler_core.changes.vocabulary import (
    Change,
    CopyNode,
    Cordon,
    Create,
    Delete,
    Put,
    RemoveTaint,
    Scale,
    SetField,
    SetLabel,
)
from scheduler_core.wording import PLUS, Text, capitalised, say, series, some_of

OF_CLOUD: Final = "node.cloudprovider.kubernetes.io/"
"""Taints that the cloud controller manager takes off."""
MAX_NAMED: Final = 2
"""So many pods, taints or labels are named in a title."""

_PLAIN: Final[dict[Kind, Text]] = {
    "gate": say("title.gate", "Lift the scheduling gates"),
    "nodeTaints": say("title.node_taints", "Spread with nodeTaintsPolicy: Honor"),
    "schedule": say("title.schedule", "Use a scheduler of this cluster"),
    "labelKeys": say("title.label_keys", "Count only pods of its own revision"),
    "sidecar": say("title.sidecar", "Let its init container end before the others start"),
    "rollout": say("title.rollout", "Roll out with maxSurge: 0"),
    "hostPort": say("title.host_port", "Drop the host port"),
}


def title_of(plan: Plan, pending: Sequence[str] = ()) -> str:
    """Return a plan in a few words; `pending` are the pods that have no node with it any more."""
    return series([_title(each, pending) for each in plan.parts], PLUS)


def _title(action: Action, pending: Sequence[str]) -> str:
    new = [each.key for each in action.changes if isinstance(each, SetLabel)]
    if action.kind == "node" and new:
        return say("title.node_in_new", "Add a node in a new {key}", key=new[0].rpartition("/")[2])
    if action.kind == "wait":
        return say("title.wait", "Wait until {node} is back", node=waited_for(action))
    if action.kind == "ready" and taints_of(action)[0].startswith(OF_CLOUD):
        return say("title.initialized", "Wait until {node} is initialized", node=waited_for(action))
    if action.kind == "ready":
        return say("title.ready", "Wait until {node} is ready", node=waited_for(action))
    if action.kind == "bring":
        return _of_bringing(action)
    if (plain := _PLAIN.get(action.kind)) is not None:
        return plain
    if action.kind == "storageClass" and isinstance(action.changes[0], Delete):
        key = action.changes[0].target.key
        return say("title.claim_again", "Make claim {key} again, empty", key=key)
    if action.kind in ("move", "delete", "force"):
        return _of_leaving(action, pending)
    texts = dict.fromkeys(_of_change(action.kind, each) for each in action.changes)
    said = [text for text in texts if text]
    return series(said[:1] if action.kind in _ONE_SAYS_IT else said[:MAX_NAMED])


_ONE_SAYS_IT: Final = (
    "soften",
    "class",
    "deviceClass",
    "node",
    "claim",
    "defaultClass",
    "driver",
    "storageClass",
    "priority",
)
"""Kinds whose other changes only accompany the first one."""


_LAST_SAYS_IT: Final = ("claim", "storageClass")
"""Kinds of which the last object is what it is about, those before it go with that."""


def taints_of(action: Action) -> list[str]:
    """Return the keys of the taints that an action takes off, or waits for."""
    taken = (each.key for each in action.changes if isinstance(each, RemoveTaint))
    return list(dict.fromkeys(taken))


def waited_for(action: Action) -> str:
    """Return the node of an action that is waited for."""
    first = action.changes[0]
    assert isinstance(first, RemoveTaint | SetField)
    return first.node if isinstance(first, RemoveTaint) else first.target.name


def _of_bringing(action: Action) -> str:
    left, made = action.changes
    assert isinstance(left, Delete)
    assert isinstance(made, Create)
    return say(
        "title.bring", "Start {pod} again on {node}", pod=left.target.key, node=brought_to(made)
    )


def brought_to(made: Create) -> str:
    """Return the node that a pod is made for again."""
    pod = made.objects[0]
    assert isinstance(pod, Pod)
    return pod.spec.node_selector[HOSTNAME]


def _of_leaving(action: Action, pending: Sequence[str]) -> str:
    pods = [
        each.target.key
        for each in action.changes
        if isinstance(each, Delete) and each.target.kind is Pod
    ]
    names = some_of(pods, most=MAX_NAMED)
    if action.kind == "move" and not set(pods).isdisjoint(pending):
        return say("title.give_up", "Give it the place of {pods}", pods=names)
    if action.kind == "move":
        return say("title.move", "Move {pods} elsewhere", pods=names)
    if action.kind == "force":
        return say("title.force", "Force-delete {pods}", pods=names)
    return say("title.delete", "Delete {pods}", pods=names)


def _of_change(kind: Kind, change: Change) -> str:
    match change:
        case SetField(_, _, _) if kind == "tolerate":
            return capitalised(name_of(change))
        case SetField(_, path, value):
            return _of_field(kind, path, value)
        case RemoveTaint() if kind != "untaint":
            return ""
        case Cordon(_, False) | RemoveTaint() | SetLabel() | Scale() | CopyNode():
            return capitalised(name_of(change))
        case Create(objects) | Put(objects):
            return _of_object(kind, objects[-1] if kind in _LAST_SAYS_IT else objects[0])
        case _:
            return ""


def _of_field(kind: Kind, path: str, value: Plain) -> str:
    where = path.split(".")
    match kind:
        case "maxSkew":
            return say("title.max_skew", "Raise maxSkew to {n}", n=value)
        case "minDomains":
            return say("title.min_domains", "Lower minDomains to {n}", n=value or 1)
        case "shrink":
            name = path.partition(".requests")[2] or path.partition(".limits")[2]
            resource = name.strip(".[]")
            return say(
                "title.shrink", "Request {amount} {resource}", amount=value, resource=resource
            )
        case "soften" if where[-1] == "whenUnsatisfiable":
            return say("title.spread", "Spread only where it can")
        case "soften" if path.endswith("[+]"):
            return say("title.soften", "Prefer what its {kind} requires", kind=where[2])
        case "soften":
            return say("title.drop", "Drop what its {kind} requires", kind=where[2])
        case "selector":
            key = path.removeprefix("spec.nodeSelector").strip(".[]")
            return say("title.selector", "Drop node selector {key}", key=key)
        case "priority" | "class" if where[-1] == "priorityClassName":
            return say("title.priority", "Raise its priority to {name}", name=value)
        case "priority" | "class":
            return say("title.preempt", "Let it preempt")
        case _:
            return say("title.field", "Change {field}", field=where[-1])


def _of_object(kind: Kind, item: KubeObject) -> str:
    key = item.key
    match kind:
        case "claim":
            return say("title.claim", "Provide claim {key}", key=key)
        case "defaultClass":
            return say("title.default_class", "Make {key} the default storage class", key=key)
        case "volume":
            return say("title.volume", "Copy volume {key} to where the node is", key=key)
        case "sharedVolume":
            return say("title.shared_volume", "Put volume {key} on shared storage", key=key)
        case "driver":
            return say("title.driver", "Install its CSI driver on {node}", node=key)
        case "volumeLimit":
            return say("title.volume_limit", "Raise the volume limit of {node}", node=key)
        case "devices":
            return say("title.devices", "Ask for other devices in {key}", key=key)
        case "storageClass" if not isinstance(item, StorageClass):
            return say("title.storage_class", "Use another storage class for {key}", key=key)
        case _:
            return say("title.create", "Create {kind} {key}", kind=item.kind, key=key)
