"""Builds the instance of a cluster by asking the scheduler's own plugins."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scheduler_core.analysis.model.instance import Instance, Viability
from scheduler_core.analysis.model.pairs import Alone, alone, not_comparable
from scheduler_core.analysis.model.rules import Rule, Spread, Wish
from scheduler_core.analysis.model.rules_of_pods import rules_of, wishes_of
from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.config.types import NodeAffinityArgs
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.plugins.node_resources import Fit
from scheduler_core.wording import say

# What a waiting pod is worth on a node, the part that does not depend on other waiting pods.


def classic_values(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> IntArray:
    """Return the weights of each pod's preferred node terms that match, int64 (C, N).

    They are the raw scores of NodeAffinity, whether or not the profile scores with it.
    """
    plugin = NodeAffinity(NodeAffinityArgs(), world.handle)
    return np.array([plugin.score(None, each.pod, nodes) for each in pods])


def snapshot_values(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> IntArray:
    """Return the totals of the score plugins in the cluster as it is, int64 (C, N).

    Scores are normalised over the nodes that the pod is not ruled out from by itself; others are 0.
    """
    values = np.zeros((len(pods), nodes.n), np.int64)
    for number, each in enumerate(pods):
        at = np.flatnonzero(each.eligible)
        if at.size:
            scoring = world.score(each.pod, each.prepared.state, nodes.take(at))
            if not scoring.error:
                values[number, at] = scoring.totals
    return values


PODS = "pods"


class InstanceError(ValueError):
    """The cluster makes no problem to solve; the text says why."""


@dataclass(frozen=True, eq=False)
class _Raw:
    """The arrays of an instance whose classes are the distinct templates and priorities."""

    class_of: IntArray
    priority: IntArray
    pods: tuple[Alone, ...]


def build(world: RestingWorld, mode: Viability) -> Instance:
    """Build the instance. Raises InstanceError where no pod waits, or there is no node."""
    if not world.waiting:
        raise InstanceError(say("optimum.no_pod", "no pod waits for a node"))
    nodes = world.nodes()
    if not nodes.n:
        raise InstanceError(say("optimum.no_node", "there is no node"))
    by_template: dict[int, Alone] = {}
    for pod in world.waiting:
        if pod.template.index not in by_template:
            by_template[pod.template.index] = alone(world, pod, nodes)
    raw = _raw(world, by_template)
    values, wishes = _values(world, raw, nodes, mode)
    resources = _resources(raw.pods)
    rules = tuple(rules_of(world, raw.pods, nodes))
    instance = Instance(
        pods=tuple(pod.key for pod in world.waiting),
        nodes=tuple(nodes.names),
        class_of=raw.class_of,
        priority=raw.priority,
        eligible=np.array([each.eligible for each in raw.pods]),
        resources=(PODS, *resources) if _limits_room(raw.pods) else (),
        requests=_requests(raw.pods, resources),
        free=_free(raw.pods, resources, nodes),
        rules=rules,
        values=values,
        wishes=wishes,
        not_comparable=tuple(dict.fromkeys(not_comparable(world, by_template))),
    )
    return merged(instance)


def _raw(world: RestingWorld, by_template: dict[int, Alone]) -> _Raw:
    classes: dict[tuple[int, int], int] = {}
    class_of = [
        classes.setdefault((pod.template.index, pod.priority), len(classes))
        for pod in world.waiting
    ]
    return _Raw(
        np.array(class_of, np.int64),
        np.array([priority for _, priority in classes], np.int64),
        tuple(by_template[template] for template, _ in classes),
    )


def _values(
    world: RestingWorld, raw: _Raw, nodes: Nodes, mode: Viability
) -> tuple[IntArray, tuple[Wish, ...]]:
    """Return what a pod of each class is worth on each node (C, N), and what hangs on others."""
    match mode:
        case "classic":
            return classic_values(world, raw.pods, nodes), tuple(wishes_of(world, raw.pods, nodes))
        case "snapshot":
            return snapshot_values(world, raw.pods, nodes), ()
        case "replayed":
            return np.zeros((len(raw.pods), nodes.n), np.int64), ()


# ---------------------------------------------------------------- room


def _limits_room(pods: Sequence[Alone]) -> bool:
    return any(Fit.name in each.filters for each in pods)


def _resources(pods: Sequence[Alone]) -> tuple[str, ...]:
    """Return the resources that some pod has to find room for."""
    names = {name: None for each in pods for name, amount in each.requests.items() if amount}
    return tuple(names)


def _requests(pods: Sequence[Alone], resources: Sequence[str]) -> IntArray:
    """Return what a pod of each class takes, int64 (C, R), the pod itself first."""
    if not _limits_room(pods):
        return np.zeros((len(pods), 0), np.int64)
    placed = [each.pod.template.requests.placed for each in pods]
    return np.array([[1, *(each.get(name, 0) for name in resources)] for each in placed], np.int64)


def _free(pods: Sequence[Alone], resources: Sequence[str], nodes: Nodes) -> IntArray:
    """Return what is left on each node, int64 (N, R); nothing where too much is taken."""
    if not _limits_room(pods):
        return np.zeros((nodes.n, 0), np.int64)
    columns = [nodes.allowed_pods - nodes.n_pods]
    columns += [nodes.allocatable(name) - nodes.requested(name) for name in resources]
    return np.maximum(np.stack(columns, axis=1), 0)


# ---------------------------------------------------------------- classes of equal pods


def merged(instance: Instance) -> Instance:
    """Make one class of those between which no array tells a difference."""
    first: dict[Hashable, int] = {}
    kept: list[int] = []
    number_of = np.zeros(instance.n_classes, np.int64)
    for number in range(instance.n_classes):
        key = _signature(instance, number)
        if key not in first:
            first[key] = len(kept)
            kept.append(number)
        number_of[number] = first[key]
    at = np.array(kept, np.int64)
    return Instance(
        pods=instance.pods,
        nodes=instance.nodes,
        class_of=number_of[instance.class_of],
        priority=instance.priority[at],
        eligible=instance.eligible[at],
        resources=instance.resources,
        requests=instance.requests[at],
        free=instance.free,
        rules=tuple(_rule_of(rule, at) for rule in instance.rules),
        values=instance.values[at],
        wishes=tuple(_wish_of(wish, at) for wish in instance.wishes),
        not_comparable=instance.not_comparable,
    )


def _signature(instance: Instance, number: int) -> Hashable:
    return (
        int(instance.priority[number]),
        instance.eligible[number].tobytes(),
        instance.requests[number].tobytes(),
        instance.values[number].tobytes(),
        tuple(_memberships(instance, number)),
    )


def _memberships(instance: Instance, number: int) -> Iterator[int]:
    for rule in instance.rules:
        yield from (int(mask[number]) for mask in _masks(rule))
    for wish in instance.wishes:
        yield from (int(wish.owners[number]), int(wish.meant[number]))


def _masks(rule: Rule) -> tuple[BoolArray, BoolArray]:
    return (rule.owners, rule.counted if isinstance(rule, Spread) else rule.meant)


def _rule_of(rule: Rule, at: IntArray) -> Rule:
    if isinstance(rule, Spread):
        return replace(rule, owners=rule.owners[at], counted=rule.counted[at])
    return replace(rule, owners=rule.owners[at], meant=rule.meant[at])


def _wish_of(wish: Wish, at: IntArray) -> Wish:
    return replace(wish, owners=wish.owners[at], meant=wish.meant[at])
