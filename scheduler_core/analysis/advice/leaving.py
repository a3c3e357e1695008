"""Which running pods might leave a node, so that another finds room there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from scheduler_core.analysis.advice.actions import BROKEN_BUDGET, Action, action
from scheduler_core.analysis.advice.budgets import Disruptions, against, disruptions
from scheduler_core.api import Node, Pod, PodAffinityTerm, PodDisruptionBudget, ReplicaSet
from scheduler_core.api.reach import UNREACHABLE, is_out_of_reach
from scheduler_core.api.selectors import label_selector_matches
from scheduler_core.changes.node_changes import HOSTNAME
from scheduler_core.changes.owners import (
    DEPLOYMENT,
    comes_back,
    is_pinned,
    is_terminating,
    like,
    pods_of,
    surplus,
)
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import (
    Create,
    Delete,
    RemoveTaint,
    Scale,
    SetField,
    StepChange,
    target_of,
)
from scheduler_core.cluster.columns import PODS
from scheduler_core.cluster.pods import controller_of
from scheduler_core.cluster.requests import pod_requests

MAX_LEAVING: Final = 3
"""So many pods at most leave one node."""

MAX_CHOICES: Final = 2
"""So many pods that are enough by themselves are tried to leave a node: one may be needed there."""
OUT_OF_REACH: Final = (UNREACHABLE, "node.kubernetes.io/not-ready")
"""Taints that the node controller takes off when a kubelet is back."""
REPLICA_SET: Final = "ReplicaSet"
POD_TEMPLATE_HASH: Final = "pod-template-hash"
"""In which a Deployment writes which ReplicaSet a pod is of."""
REPLICAS: Final = (REPLICA_SET, "ReplicationController")
"""Owners whose pods are all the same."""
SCALED: Final = (*REPLICAS, "StatefulSet")
"""Owners of pods that have a number of replicas."""


class Leaving:
    """The pods that are bound in a cluster at rest, and what becomes of them when they leave.

    A pod with an owner that makes it again is moved: deleted, and created anew after all others.
    One without is gone. Older pods of the `waiting` pod's own Deployment end before it comes.
    """

    def __init__(self, objects: Objects, waiting: Pod | None = None) -> None:
        self._objects = objects
        self._waiting = waiting

    def of(self, keys: Sequence[str]) -> Iterator[Action]:
        """Yield the action by which some pods leave, if all of them may."""
        pods = [self._objects.get(Pod, key) for key in keys]
        there = [pod for pod in pods if pod is not None]
        if len(there) < len(keys):
            return
        if all(map(is_terminating, there)):
            yield from self._waited_for(there)
            yield action("force", *(Delete(target_of(pod), 0) for pod in there))
        elif all(map(self._may_leave, there)):
            yield from self._ways(there)

    def making_room(self, node: str, short: Mapping[str, int]) -> Iterator[Action]:
        """Yield actions by which pods leave a node until nothing is short: one pod, or a few."""
        pods = [pod for pod in self._on.get(node, ()) if self._may_leave(pod)]
        frees = {pod.key: _frees(pod, short) for pod in pods}

        def is_enough(pod: Pod) -> bool:
            return all(frees[pod.key][name] >= amount for name, amount in short.items())

        def by_price(pod: Pod) -> tuple[int, int]:
            return self._leave([pod]).price, _size(frees[pod.key])

        alone = sorted(filter(is_enough, pods), key=by_price)
        if alone:
            for pod in _of_different_owners(alone)[:MAX_CHOICES]:
                yield from self._ways([pod])
            return
        chosen: list[Pod] = []
        left = dict(short)
        for pod in sorted(pods, key=lambda pod: _size(frees[pod.key]), reverse=True)[:MAX_LEAVING]:
            chosen.append(pod)
            left = {name: n - frees[pod.key][name] for name, n in left.items()}
            if all(n <= 0 for n in left.values()):
                yield self._rollout(chosen) or self._leave(chosen)
                return

    def brought(self, term: PodAffinityTerm, namespace: str, node: Node) -> Iterator[Action]:
        """Yield the one pod that a term of affinity is about, started again on a node.

        `namespace` is that of the pod with the term. A selector of namespaces is not looked into.
        """
        there = [
            pod
            for pod in self._pods
            if pod.spec.node_name
            and pod.namespace in (term.namespaces or (namespace,))
            and label_selector_matches(term.label_selector, pod.metadata.labels)
        ]
        if len(there) == 1 and self._may_leave(there[0]) and HOSTNAME in node.metadata.labels:
            again = like(there[0], there[0].name)
            at = {**again.spec.node_selector, HOSTNAME: node.metadata.labels[HOSTNAME]}
            again = replace(again, spec=replace(again.spec, node_selector=at))
            brought = action("bring", Delete(target_of(there[0])), Create((again,)))
            yield brought.dearer(BROKEN_BUDGET * len(against(self.disruptions(there))))

    def disruptions(self, pods: Sequence[Pod]) -> tuple[Disruptions, ...]:
        """Return what disruption budgets say to it that these pods leave together."""
        return disruptions(pods, self._budgets, self._pods)

    def _ways(self, pods: Sequence[Pod]) -> Iterator[Action]:
        """Yield the ways in which pods leave; for an older revision of the pod's own it is one."""
        rollout = self._rollout(pods)
        if rollout is not None:
            yield rollout
            return
        yield self._leave(pods)
        yield from self._scaled(pods)

    def _leave(self, pods: Sequence[Pod]) -> Action:
        changes: list[StepChange] = [Delete(target_of(pod)) for pod in pods]
        again = tuple(like(pod, pod.name) for pod in pods if comes_back(pod))
        if again:
            changes.append(Create(again))
        found = action("move" if len(again) == len(pods) else "delete", *changes)
        found = found.dearer(found.price * (len(pods) - 1))
        return found.dearer(BROKEN_BUDGET * len(against(self.disruptions(pods))))

    def _waited_for(self, pods: Sequence[Pod]) -> Iterator[Action]:
        """Yield the return of the node on which terminating pods stay: its kubelet ends them."""
        nodes = {pod.spec.node_name for pod in pods}
        node = self._objects.get(Node, next(iter(nodes)))
        if len(nodes) == 1 and node is not None and is_out_of_reach(node):
            yield back(node)

    def _rollout(self, pods: Sequence[Pod]) -> Action | None:
        """Return the end of pods that are of one older revision of what the waiting pod is of."""
        owner, waiting = controller_of(pods[0]), self._waiting
        deployment = self._deployment_of(pods[0])
        if owner is None or waiting is None or not deployment:
            return None
        owners = {_owner_of(pod) for pod in pods}
        if (
            waiting.namespace != pods[0].namespace
            or self._deployment_of(waiting) != deployment
            or len(owners) > 1
            or _owner_of(waiting) in owners
        ):
            return None
        namespace = pods[0].namespace
        left = len(pods_of(self._objects, owner.kind, namespace, owner.name)) - len(pods)
        return action("rollout", Scale(owner.kind, namespace, owner.name, left))

    def _scaled(self, pods: Sequence[Pod]) -> Iterator[Action]:
        """Yield their owner scaled down by so many; which pods it gives up, a run shows."""
        owner = controller_of(pods[0])
        if owner is None or owner.kind not in SCALED:
            return
        kind, name = owner.kind, owner.name
        if deployment := self._deployment_of(pods[0]):
            kind, name = DEPLOYMENT, deployment
        all_of_it = pods_of(self._objects, kind, pods[0].namespace, name)
        fewer = Scale(kind, pods[0].namespace, name, max(len(all_of_it) - len(pods), 0))
        gone = surplus(all_of_it, len(pods))
        found = action("scale", fewer)
        found = found.dearer(found.price * (len(pods) - 1))
        yield found.dearer(BROKEN_BUDGET * len(against(self.disruptions(gone))))

    def _deployment_of(self, pod: Pod) -> str:
        """Return the Deployment of a pod, by its ReplicaSet or by what that is called, or ''."""
        owner = controller_of(pod)
        if owner is None or owner.kind != REPLICA_SET:
            return ""
        held = self._objects.get(ReplicaSet, f"{pod.namespace}/{owner.name}")
        if held is not None:
            owners = held.metadata.owner_references
            above = (each for each in owners if each.controller and each.kind == DEPLOYMENT)
            return next((each.name for each in above), "")
        revision = pod.metadata.labels.get(POD_TEMPLATE_HASH, "")
        made_of = owner.name.removesuffix(f"-{revision}")
        return made_of if made_of != owner.name else ""

    def _may_leave(self, pod: Pod) -> bool:
        """Return whether it may; one of the waiting pod's own replicas would only wait instead."""
        pinned = is_pinned(pod, self._objects) or is_terminating(pod)
        return bool(pod.spec.node_name) and not pinned and not self._is_twin(pod)

    def _is_twin(self, pod: Pod) -> bool:
        owner, waiting = controller_of(pod), self._waiting
        return (
            owner is not None
            and owner.kind in REPLICAS
            and waiting is not None
            and waiting.namespace == pod.namespace
            and controller_of(waiting) == owner
        )

    @cached_property
    def _budgets(self) -> list[PodDisruptionBudget]:
        return list(self._objects.all(PodDisruptionBudget))

    @cached_property
    def _pods(self) -> list[Pod]:
        return list(self._objects.all(Pod))

    @cached_property
    def _on(self) -> dict[str, list[Pod]]:
        found: dict[str, list[Pod]] = {}
        for pod in self._pods:
            if pod.spec.node_name:
                found.setdefault(pod.spec.node_name, []).append(pod)
        return found


def back(node: Node) -> Action:
    """Return the return of a node that is out of reach, to be waited for."""
    ill = [each for each in node.spec.taints if each.key in OUT_OF_REACH]
    changes: list[StepChange] = [RemoveTaint(node.name, each.key, each.effect) for each in ill]
    for i, each in enumerate(node.status.conditions):
        if each.type == "Ready" and each.status == "Unknown":
            changes.append(SetField(target_of(node), f"status.conditions[{i}].status", "True"))
    return action("wait", *changes)


def _owner_of(pod: Pod) -> str:
    owner = controller_of(pod)
    return owner.name if owner is not None else ""


def _of_different_owners(pods: Sequence[Pod]) -> list[Pod]:
    """Return the first pod of each owner, and every pod that has none."""
    first: dict[tuple[str, str], Pod] = {}
    for pod in pods:
        owner = controller_of(pod)
        first.setdefault((pod.namespace, owner.uid if owner is not None else pod.key), pod)
    return list(first.values())


def _frees(pod: Pod, short: Mapping[str, int]) -> dict[str, int]:
    placed = pod_requests(pod).placed
    return {name: 1 if name == PODS else placed.get(name, 0) for name in short}


def _size(freed: Mapping[str, int]) -> int:
    return sum(freed.values())
