"""Pods and their owners, by a pod's controller reference.

The owners themselves (Jobs, DaemonSets, ...) need not be there.

Upstream: v1.36 pkg/controller/{replicaset,statefulset}, the part that affects names and numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from scheduler_core.api import (
    Affinity,
    KubeObject,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    OwnerReference,
    Pod,
    PodStatus,
    ReplicaSet,
)
from scheduler_core.changes.refusals import Objects
from scheduler_core.cluster.pods import controller_of
from scheduler_core.trace.tables import TERMINAL_PHASES
from scheduler_core.wording import say, some_of

STATEFUL_SET = "StatefulSet"
DEPLOYMENT = "Deployment"
DAEMON_SET = "DaemonSet"
PINNED_KINDS = (DAEMON_SET, "Node")
"""Owners whose pods belong to one node: nobody makes them again for another."""
HARD_EFFECTS = ("NoSchedule", "NoExecute")
"""Effects of the taints that keep a DaemonSet from having a pod on a node."""
MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a static pod's likeness in the API."""

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SPREAD = 11_239_423
"""An odd step through the names, prime to their number: neighbours look unlike."""
_N_SUFFIXES = len(_LETTERS) ** 5


def pods_of(objects: Objects, kind: str, namespace: str, name: str) -> list[Pod]:
    """Return the pods of an owner that are not on their way out, in order of creation.

    A Deployment's pods are those of its ReplicaSets.
    """
    owners = {(kind, name)}
    if kind == DEPLOYMENT:
        owners = {
            ("ReplicaSet", each.name)
            for each in objects.all(ReplicaSet)
            if each.namespace == namespace and _belongs_to(each, kind, name)
        }
    found = []
    for pod in objects.all(Pod):
        owner = controller_of(pod)
        if owner is None or pod.namespace != namespace or is_terminating(pod):
            continue
        if (owner.kind, owner.name) in owners and pod.status.phase not in TERMINAL_PHASES:
            found.append(pod)
    return found


def surplus(pods: Sequence[Pod], n: int) -> list[Pod]:
    """Choose `n` pods of one owner to go.

    A StatefulSet gives up its highest numbers. Others give up pods without a node, then
    pods that do not run yet, then the newest.
    """
    owner = controller_of(pods[0]) if pods else None
    if owner is not None and owner.kind == STATEFUL_SET:
        return sorted(pods, key=lambda pod: -ordinal(pod))[:n]
    return sorted(reversed(pods), key=_worth)[:n]


def like(pod: Pod, name: str, uid: str = "") -> Pod:
    """Return a pod of the same template, unbound, as its owner would create it."""
    metadata = replace(
        pod.metadata,
        name=name,
        uid=uid,
        creation_timestamp=None,
        deletion_timestamp=None,
        deletion_grace_period_seconds=None,
        generation=None,
        resource_version="",
    )
    spec = replace(pod.spec, node_name="")
    return Pod(metadata=metadata, spec=spec, status=PodStatus(phase="Pending"))


def like_on_node(pod: Pod, name: str, node: str, uid: str) -> Pod:
    """Return a pod of a DaemonSet as its controller creates it for a node.

    Upstream: v1.36 pkg/controller/daemon/util (ReplaceDaemonSetPodNodeNameNodeAffinity).
    """
    copy = like(pod, name, uid)
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node,))
    pin = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
    affinity = copy.spec.affinity or Affinity()
    near = affinity.node_affinity or NodeAffinity()
    near = replace(near, required_during_scheduling_ignored_during_execution=pin)
    return replace(copy, spec=replace(copy.spec, affinity=replace(affinity, node_affinity=near)))


def next_name(template: Pod, owner: OwnerReference | None, there: Sequence[Pod], n: int) -> str:
    """Return the name of an owner's next pod beside those that are `there`; `n` counts names."""
    if owner is not None and owner.kind == STATEFUL_SET:
        taken = {ordinal(each) for each in there}
        number = next(i for i in range(len(there) + 1) if i not in taken)
        return f"{owner.name}-{number}"
    base = owner.name if owner is not None else template.name
    return f"{base}-{name_suffix(n)}"


def is_pinned(pod: Pod, objects: Objects) -> bool:
    """Return whether the pod belongs to its node, so that a drain leaves it there."""
    owner = controller_of(pod)
    belongs = is_static(pod) or (owner is not None and owner.kind in PINNED_KINDS)
    return belongs and objects.get(Node, pod.spec.node_name) is not None


def is_static(pod: Pod) -> bool:
    """Return whether a kubelet runs the pod by itself; it may have no owner in a dump."""
    owner = controller_of(pod)
    return MIRROR in pod.metadata.annotations or (owner is not None and owner.kind == "Node")


BARE = say("pod.bare_short", "bare pod")


def kind_told(pod: Pod) -> str:
    """Return what a pod is called by who makes it, empty where its owner is an ordinary one."""
    owner = controller_of(pod)
    kind = owner.kind if owner is not None else ""
    return kind_of_owner("Node" if is_static(pod) else kind)


def kind_of_owner(kind: str) -> str:
    """Return what a pod with such a controller is called; the kind is empty for none."""
    if not kind:
        return BARE
    if kind == "Node":
        return say("pod.static", "static pod")
    return say("pod.of_daemon_set", "DaemonSet pod") if kind == DAEMON_SET else ""


def daemon_in_vain(daemon_set: str, pods: Sequence[str]) -> str:
    """Say that a DaemonSet, `namespace/name`, recreates pods where there is no place for them."""
    return say(
        "again.daemon",
        "{who} will recreate {pods} on its node, and it will not fit",
        who=f"{DAEMON_SET} {daemon_set}",
        pods=some_of(pods),
    )


def daemons_in_vain(victims: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Say so of pods that lost their node to another, each with its owner (`DaemonSet/agent`)."""
    of_owner: dict[str, list[str]] = {}
    for pod, owner in victims:
        kind, _, name = owner.partition("/")
        if kind == DAEMON_SET:
            of_owner.setdefault(f"{pod.partition('/')[0]}/{name}", []).append(pod)
    yield from (daemon_in_vain(*each) for each in of_owner.items())


def comes_back(pod: Pod) -> bool:
    """Return whether the pod's owner makes it again, on whatever node, when it is lost."""
    owner = controller_of(pod)
    is_over = is_terminating(pod) or pod.status.phase in TERMINAL_PHASES
    is_made = owner is not None and owner.kind not in PINNED_KINDS and not is_static(pod)
    return is_made and not is_over


def is_terminating(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def ordinal(pod: Pod) -> int:
    """Return the number of a StatefulSet's pod, 0 for another."""
    _, _, number = pod.name.rpartition("-")
    return int(number) if number.isdecimal() else 0


def _belongs_to(item: KubeObject, kind: str, name: str) -> bool:
    return any(
        owner.controller and (owner.kind, owner.name) == (kind, name)
        for owner in item.metadata.owner_references
    )


def _worth(pod: Pod) -> tuple[bool, bool]:
    return bool(pod.spec.node_name), pod.status.phase == "Running"


def name_suffix(n: int) -> str:
    """Return five letters for the `n`-th name, each `n` below 14 million its own."""
    rest, letters = n * _SPREAD % _N_SUFFIXES, ""
    for _ in range(5):
        rest, digit = divmod(rest, len(_LETTERS))
        letters += _LETTERS[digit]
    return letters
