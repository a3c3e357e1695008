"""What a plan harms: nothing, other pods, or a user who does not know its risks.

What harms nobody is advised first, then what other pods pay for, last what is a risk. A risk is
never without its warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from scheduler_core.api import (
    CSINode,
    KubeObject,
    Node,
    PersistentVolumeClaim,
    Pod,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
)
from scheduler_core.changes import Change
from scheduler_core.changes.owners import is_terminating, pods_of, surplus
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import (
    Cordon,
    Create,
    Delete,
    Put,
    RemoveTaint,
    Scale,
    SetField,
    SetLabel,
)
from scheduler_core.cluster.requests import pod_requests
from scheduler_core.evidence.node_labels import OS, USUAL_OS, required_values
from scheduler_core.framework.resource_names import is_extended_resource_name
from scheduler_core.wording import say, series

Harm = Literal["none", "others", "risk"]

ORDER: Final[tuple[Harm, ...]] = ("none", "others", "risk")
"""From what is advised first to what is advised last."""

_CORDON: Final = "node.kubernetes.io/unschedulable"
_LIFE_CYCLE: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "karpenter.sh/disrupt",
    "karpenter.sh/unregistered",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
"""How keys of taints begin that controllers put on nodes that are ill, leaving or not there yet."""
_NOT_YET: Final = ("not-ready", "notready", "uninitialized", "unregistered", "initializing")
"""How keys end that agents have on a node until they run there."""
CONTROL_PLANE: Final = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
)
_PLACES: Final = (
    *("topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/"),
    "node.kubernetes.io/instance-type",
)
"""How keys of labels begin that say where a machine is, and which it is."""
_MACHINE: Final = (
    *("kubernetes.io/os", "kubernetes.io/arch"),
    *("beta.kubernetes.io/os", "beta.kubernetes.io/arch"),
)
_WITHOUT_MACHINE: Final = ("virtual-kubelet.io/provider", "eks.amazonaws.com/compute-type")
"""Taints of nodes that are no machine: each pod there is run somewhere else."""
_LEAVES: Final = (
    _CORDON,
    "node.kubernetes.io/out-of-service",
    *("karpenter.sh/disrupt", "ToBeDeleted", "DeletionCandidate"),
)
"""How keys of taints begin that nothing takes off because a node has become ready."""
_ALL_OF: Final = "Exists"


def is_of_life_cycle(key: str) -> bool:
    """Return whether a taint marks a node that is starting, ill or leaving."""
    return key.startswith(_LIFE_CYCLE) or is_not_yet(key)


def is_not_yet(key: str) -> bool:
    """Return whether a taint stays until something on its node, or about it, runs."""
    return key.lower().endswith(_NOT_YET)


def in_good_health(node: Node) -> Node:
    """Return a node as a new worker would be: without a cordon and taints that it alone has."""
    taints = tuple(each for each in node.spec.taints if not is_of_one_node(each.key))
    return replace(node, spec=replace(node.spec, unschedulable=False, taints=taints))


def is_of_one_node(key: str) -> bool:
    """Return whether a new worker like a node would not have its taint."""
    return is_of_life_cycle(key) or key in CONTROL_PLANE


def is_off_when_ready(key: str) -> bool:
    """Return whether a controller or an agent takes a taint off when the node is ready."""
    return is_of_life_cycle(key) and not key.startswith(_LEAVES)


def warnings_of(changes: Sequence[Change], cluster: Objects) -> tuple[str, ...]:
    """Return what a user must know before making these changes; `cluster` is that before them."""
    uncordoned = {each.node for each in changes if isinstance(each, Cordon)}
    found = (text for each in changes for text in _warnings(each, cluster, uncordoned))
    return tuple(dict.fromkeys(found))


def warnings_of_place(
    pod: Pod | None, nodes: Sequence[Node], changes: Sequence[Change]
) -> Iterator[str]:
    """Yield where a pod, as it was before some changes, is put onto machines of another kind."""
    labelled = {each.key for each in changes if isinstance(each, SetLabel)}
    for key, usual in ((OS, {USUAL_OS}), ("kubernetes.io/arch", set[str]())):
        keys = (key, f"beta.{key}")
        wanted = required_values(pod.spec, keys) if pod is not None else set()
        for node in nodes if labelled.isdisjoint(keys) else ():
            has = next(
                (node.metadata.labels[each] for each in keys if each in node.metadata.labels), ""
            )
            made_for = wanted or usual
            if has and made_for and has not in made_for:
                yield say(
                    "harm.other_machine",
                    "{node} runs {has}: an image for {wanted} does not start there",
                    node=node.name,
                    has=has,
                    wanted=series(sorted(made_for)),
                )


def leaving_of(changes: Sequence[Change], cluster: Objects) -> Iterator[str]:
    """Yield the pods that changes delete and that are on nodes."""
    for each in changes:
        if isinstance(each, Delete) and each.target.kind is Pod:
            pod = cluster.get(Pod, each.target.key)
            if pod is not None and pod.spec.node_name:
                yield pod.key
        elif isinstance(each, Scale):
            pods = pods_of(cluster, each.kind, each.namespace, each.name)
            gone = surplus(pods, max(len(pods) - each.replicas, 0))
            yield from (pod.key for pod in gone if pod.spec.node_name)


def harm_of(warnings: Sequence[str], losing: Sequence[str]) -> Harm:
    """Return the harm, by its warnings and the other pods that lose something."""
    if warnings:
        return "risk"
    return "others" if losing else "none"


def _warnings(change: Change, cluster: Objects, uncordoned: set[str]) -> Iterator[str]:
    match change:
        case SetField(target, "spec.tolerations[+]", dict(toleration)):
            yield from _of_toleration(toleration)
            yield from _of_device_nodes(toleration, cluster.get(Pod, target.key), cluster)
        case RemoveTaint() | SetLabel():
            yield from _of_node(change, cluster, uncordoned)
        case Delete(target, grace_seconds=0) if target.kind is Pod:
            yield from _of_force(cluster.get(Pod, target.key))
        case Put((CSINode() as made,)):
            yield from _of_limit(made, cluster.get(CSINode, made.name))
        case Put(objects):
            yield from _of_devices(objects, cluster)
        case Delete(target) if target.kind is PersistentVolumeClaim:
            yield from _of_claim(cluster.get(PersistentVolumeClaim, target.key))
        case Create(objects) if any(isinstance(each, PriorityClass) for each in objects):
            yield _evicts()
        case SetField(target) if target.kind is Pod:
            yield from _of_field(change)
        case _:
            pass


def _of_node(
    change: RemoveTaint | SetLabel, cluster: Objects, uncordoned: set[str]
) -> Iterator[str]:
    match change:
        case RemoveTaint(node, _) if cluster.get(Node, node) is None:
            pass  # a new node does not have it
        case RemoveTaint(node, key) if is_of_life_cycle(key):
            if key != _CORDON or node not in uncordoned:
                yield _marks(key)
        case RemoveTaint(_, key) if key in CONTROL_PLANE:
            yield _serves_control_plane(key)
        case RemoveTaint(_, key) if key in _WITHOUT_MACHINE:
            yield _without_machine(key)
        case RemoveTaint(node, _) if _os_of(cluster.get(Node, node)) not in ("", USUAL_OS):
            yield say(
                "harm.other_os",
                "without its taint pods for {usual} may be placed on {node}, which runs {has}",
                usual=USUAL_OS,
                node=node,
                has=_os_of(cluster.get(Node, node)),
            )
        case RemoveTaint(node, key) if _has_devices(cluster.get(Node, node), key):
            yield say(
                "harm.open_to_all",
                "without taint {key} every pod may take room from those that ask for {key}",
                key=key,
            )
        case RemoveTaint(node, key):
            yield say(
                "harm.not_reserved",
                "without taint {key} pods of others may be placed on {node}, too",
                key=key,
                node=node,
            )
        case SetLabel(node, key, value) if key.startswith(_PLACES):
            yield from _of_place(cluster.get(Node, node), key, value)
        case SetLabel(_, key, value) if key in _MACHINE:
            yield say(
                "harm.machine",
                "{key} says what the machine is: an image that needs {value} may not run there",
                key=key,
                value=value,
            )
        case _:
            pass


def _os_of(node: Node | None) -> str:
    return node.metadata.labels.get("kubernetes.io/os", "") if node is not None else ""


def _of_toleration(toleration: Mapping[str, object]) -> Iterator[str]:
    key = str(toleration.get("key") or "")
    if not key and toleration.get("operator") == _ALL_OF:
        yield say("harm.every_taint", "it tolerates every taint, those of nodes in bad health, too")
    elif is_of_life_cycle(key):
        yield _marks(key)
    elif key in CONTROL_PLANE:
        yield _serves_control_plane(key)
    elif key in _WITHOUT_MACHINE:
        yield _without_machine(key)


def _of_device_nodes(
    toleration: Mapping[str, object], pod: Pod | None, cluster: Objects
) -> Iterator[str]:
    """Warn of a pod on nodes that a taint keeps for pods that ask for their devices."""
    key = str(toleration.get("key") or "")
    if pod is None or pod_requests(pod).placed.get(key):
        return
    if any(_has_devices(each, key) for each in cluster.all(Node)):
        yield say(
            "harm.device_nodes",
            "taint {key} keeps nodes for pods that ask for {key}, and this one does not: it takes "
            "room from those",
            key=key,
        )


def _has_devices(node: Node | None, key: str) -> bool:
    """Return whether a key of taints names devices of the node."""
    return node is not None and is_extended_resource_name(key) and key in node.status.allocatable


def _of_place(node: Node | None, key: str, value: str) -> Iterator[str]:
    """Warn of a label that says of a machine what it is not: one that is only missing is no lie."""
    known = node.metadata.labels.get(key) if node is not None else None
    if known is not None and known != value:
        yield say(
            "harm.place",
            "{key} says where the machine is, or what it is: that stays {known}",
            key=key,
            known=known,
        )


def _of_limit(made: CSINode, known: CSINode | None) -> Iterator[str]:
    """Warn of a limit of volumes above what the driver reports."""
    before = {each.name: each.allocatable for each in known.spec.drivers} if known else {}
    for driver in made.spec.drivers:
        old = before.get(driver.name)
        if old is not None and driver.allocatable is not None and driver.allocatable != old:
            yield say(
                "harm.volume_limit",
                "{driver} reports {n} as what the machine of {node} can attach: raise it only in "
                "the driver's own settings, and only if the machine takes more",
                driver=driver.name,
                n=old.count,
                node=made.name,
            )


def _of_field(change: SetField) -> Iterator[str]:
    if change.path in ("spec.priorityClassName", "spec.preemptionPolicy"):
        yield _evicts()
    elif change.path.endswith(".hostPort"):
        yield say("harm.host_port", "nobody reaches the pod at a port of its node any more")
    elif change.path.startswith("spec.resourceClaims") and change.value is None:
        yield say("harm.no_devices", "the pod starts without these devices: does it work then?")
    elif ".requests" in change.path and change.value in (None, 0, "0", "0m"):
        resource = change.path.partition(".requests")[2].strip(".[]")
        if is_extended_resource_name(resource):
            yield say(
                "harm.no_device",
                "with a request of 0 the container gets no {resource}",
                resource=resource,
            )
            return
        yield say(
            "harm.no_request",
            "with a request of 0 nothing is kept for the pod: it may starve, and is evicted early",
        )


def _of_force(pod: Pod | None) -> Iterator[str]:
    if pod is not None and is_terminating(pod):
        yield say(
            "harm.force",
            "force-deleting {pod} says that it has stopped: make sure that {node} is off, or wait "
            "until it is back",
            pod=pod.key,
            node=pod.spec.node_name,
        )


def _of_claim(claim: PersistentVolumeClaim | None) -> Iterator[str]:
    if claim is not None and claim.spec.volume_name:
        yield say(
            "harm.empty_claim",
            "claim {claim} begins empty: first save what is in volume {volume}",
            claim=claim.key,
            volume=claim.spec.volume_name,
        )


def _of_devices(objects: Sequence[KubeObject], cluster: Objects) -> Iterator[str]:
    for each in objects:
        if isinstance(each, ResourceClaim | ResourceClaimTemplate):
            known = cluster.get(type(each), each.key)
            new = _tolerated(each) - (_tolerated(known) if known is not None else set())
            for key in sorted(new):
                yield say(
                    "harm.device_taint",
                    "the pod may get a device with the taint {key}: first find out why it has it",
                    key=key,
                )


def _tolerated(asking: ResourceClaim | ResourceClaimTemplate) -> set[str]:
    spec = asking.spec if isinstance(asking, ResourceClaim) else asking.spec.spec
    exact = (each.exactly for each in spec.devices.requests if each.exactly is not None)
    return {each.key for one in exact for each in one.tolerations}


def _marks(key: str) -> str:
    if key == _CORDON:
        return say(
            "harm.cordon",
            "{key} marks a cordoned node: find out why it is, then uncordon it",
            key=key,
        )
    if key.startswith(_LEAVES):
        return say(
            "harm.leaves",
            "{key} marks a node that is leaving: a pod there soon loses its node again",
            key=key,
        )
    return say(
        "harm.life_cycle",
        "{key} marks a node that is starting or in bad health: wait until it is taken off, or "
        "mend the node",
        key=key,
    )


def _serves_control_plane(key: str) -> str:
    return say(
        "harm.control_plane",
        "{key} keeps nodes for the control plane: a pod there takes room from the API server and "
        "etcd",
        key=key,
    )


def _without_machine(key: str) -> str:
    return say(
        "harm.without_machine",
        "{key} marks a node that is no machine: a pod there runs elsewhere, often without the "
        "volumes and DaemonSets of the cluster, and on Fargate only if it was made for it",
        key=key,
    )


def _evicts() -> str:
    return say("harm.priority", "with a higher priority it may evict others, later, too")
