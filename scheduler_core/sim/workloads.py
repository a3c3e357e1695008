"""What owners do about their pods: make them again when they go, make more, make fewer.

The owners themselves (Jobs, DaemonSets, ...) need not be there: a pod's controller reference
says enough, and a pod of the same owner serves as the template.

Upstream: v1.36 pkg/controller/{replicaset,statefulset}, as far as it shows in names and numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from scheduler_core.api import KubeObject, Node, OwnerReference, Pod, PodStatus, ReplicaSet
from scheduler_core.cluster.pods import controller_of
from scheduler_core.sim.api_server import ApiServer
from scheduler_core.sim.clock import VirtualClock
from scheduler_core.sim.kubelet import FINISHED

STATEFUL_SET = "StatefulSet"
DEPLOYMENT = "Deployment"
PINNED_KINDS = ("DaemonSet", "Node")
"""Owners whose pods belong to one node: nobody makes them again for another."""

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SPREAD = 11_239_423
"""An odd step through the names, prime to their number: neighbours look unlike."""
_N_SUFFIXES = len(_LETTERS) ** 5

CreatePod = Callable[[Pod], str]
"""Create a pod; return why it was refused, empty if it was not."""


class Workloads:
    """The controllers of pods. With `recreate` a watcher that makes lost pods again."""

    def __init__(self, server: ApiServer, clock: VirtualClock, create: CreatePod) -> None:
        self._server = server
        self._clock = clock
        self._create = create
        self._n_names = 0
        self._retired: set[str] = set()

    # ------------------------------------------------------------ recreating

    def added(self, item: KubeObject) -> None:
        return None

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        """Replace a pod as soon as its deletion begins; a StatefulSet waits until it is gone."""
        if isinstance(old, Pod) and isinstance(new, Pod):
            owner = controller_of(new)
            leaves = _is_terminating(new) and not _is_terminating(old)
            if owner is not None and leaves and owner.kind != STATEFUL_SET:
                self._replace(new)

    def deleted(self, item: KubeObject) -> None:
        if isinstance(item, Pod):
            owner = controller_of(item)
            waits = owner is not None and owner.kind == STATEFUL_SET
            if waits or not _is_terminating(item):
                self._replace(item)

    def _replace(self, pod: Pod) -> None:
        owner = controller_of(pod)
        if owner is None or owner.kind in PINNED_KINDS:
            return
        if pod.uid not in self._retired and pod.status.phase not in FINISHED:
            fresh = self._copy(pod, owner)
            self._clock.call_at(self._clock.now_ns(), lambda: self._create_unless_there(fresh))

    def _create_unless_there(self, pod: Pod) -> None:
        if self._server.get(Pod, pod.key) is None:
            self._create(pod)

    # ------------------------------------------------------------ scaling

    def pods_of(self, kind: str, namespace: str, name: str) -> list[Pod]:
        """Return the pods of an owner that are not on their way out, in order of creation.

        A Deployment's pods are those of its ReplicaSets.
        """
        owners = {(kind, name)}
        if kind == DEPLOYMENT:
            owners = {
                ("ReplicaSet", each.name)
                for each in self._server.all(ReplicaSet)
                if each.namespace == namespace and _belongs_to(each, kind, name)
            }
        found = []
        for pod in self._server.all(Pod):
            owner = controller_of(pod)
            if owner is None or pod.namespace != namespace or _is_terminating(pod):
                continue
            if (owner.kind, owner.name) in owners and pod.status.phase not in FINISHED:
                found.append(pod)
        return found

    def add_pods(self, template: Pod, n: int) -> str:
        """Create `n` more pods like `template`; return why the first was refused, if it was."""
        owner = controller_of(template)
        for _ in range(n):
            refusal = self._create(self._copy(template, owner, another=True))
            if refusal:
                return refusal
        return ""

    def surplus(self, pods: list[Pod], n: int) -> list[Pod]:
        """Choose `n` pods to go, and see to it that nobody recreates them.

        A StatefulSet gives up its highest numbers. Others give up pods without a node, then
        pods that do not run yet, then the newest.
        """
        owner = controller_of(pods[0]) if pods else None
        if owner is not None and owner.kind == STATEFUL_SET:
            ranked = sorted(pods, key=lambda pod: -_ordinal(pod))
        else:
            ranked = sorted(reversed(pods), key=_worth)
        chosen = ranked[:n]
        self._retired.update(pod.uid for pod in chosen)
        return chosen

    # ------------------------------------------------------------ copies

    def _copy(self, pod: Pod, owner: OwnerReference | None, *, another: bool = False) -> Pod:
        """Return a pod of the same template, unbound, under a name of its own."""
        self._n_names += 1
        if owner is not None and owner.kind == STATEFUL_SET:
            name = self._next_ordinal_name(pod, owner) if another else pod.name
        else:
            base = owner.name if owner is not None else pod.name
            name = f"{base}-{name_suffix(self._n_names)}"
        metadata = replace(
            pod.metadata,
            name=name,
            uid=f"{pod.namespace}/{name}#{self._n_names}",
            creation_timestamp=None,
            deletion_timestamp=None,
            deletion_grace_period_seconds=None,
            generation=None,
            resource_version="",
        )
        spec = replace(pod.spec, node_name="")
        return Pod(metadata=metadata, spec=spec, status=PodStatus(phase="Pending"))

    def _next_ordinal_name(self, pod: Pod, owner: OwnerReference) -> str:
        there = self.pods_of(owner.kind, pod.namespace, owner.name)
        taken = {_ordinal(each) for each in there}
        ordinal = next(i for i in range(len(there) + 1) if i not in taken)
        return f"{owner.name}-{ordinal}"


def is_pinned(pod: Pod, server: ApiServer) -> bool:
    """Return whether the pod belongs to its node, so that a drain leaves it there."""
    owner = controller_of(pod)
    return (
        owner is not None
        and owner.kind in PINNED_KINDS
        and bool(server.get(Node, pod.spec.node_name))
    )


def _is_terminating(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def _belongs_to(item: KubeObject, kind: str, name: str) -> bool:
    return any(
        owner.controller and (owner.kind, owner.name) == (kind, name)
        for owner in item.metadata.owner_references
    )


def _ordinal(pod: Pod) -> int:
    _, _, number = pod.name.rpartition("-")
    return int(number) if number.isdecimal() else 0


def _worth(pod: Pod) -> tuple[bool, bool]:
    return bool(pod.spec.node_name), pod.status.phase == "Running"


def name_suffix(n: int) -> str:
    """Return five letters for the `n`-th name, each `n` below 14 million its own."""
    rest, letters = n * _SPREAD % _N_SUFFIXES, ""
    for _ in range(5):
        rest, digit = divmod(rest, len(_LETTERS))
        letters += _LETTERS[digit]
    return letters
