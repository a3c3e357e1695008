"""What no node can ever meet: a pod and its volumes, or two volumes, that want other places.

A node has one value of a label. What a pod requires of it and where its volumes can be used may
leave none: that holds whatever room there is, and for each node that is added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from scheduler_core.api import (
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeClaim,
    PodSpec,
)
from scheduler_core.api.claims import mounted_claims
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.topology_keys import BETA_REGION, BETA_ZONE, REGION, ZONE
from scheduler_core.evidence.node_labels import expression_text
from scheduler_core.evidence.requirement import short_key
from scheduler_core.plugins.node_affinity import required_terms
from scheduler_core.plugins.volume_binding import VolumeBinding
from scheduler_core.plugins.volume_zone import VolumeZone, volume_topologies
from scheduler_core.wording import say

_NOW_CALLED: Final = {BETA_ZONE: ZONE, BETA_REGION: REGION}
"""A node's zone and region, which both of its labels name."""

Allowed = Mapping[str, frozenset[str]]
"""The values that are left of each label."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Two demands that no node meets, in a sentence about the pod; `plugin` is the volume's."""

    plugin: str
    sentence: str


@dataclass(frozen=True, slots=True)
class _Demand:
    """What the pod itself requires, or where one of its volumes can be used."""

    volume: str
    plugin: str
    allowed: Allowed


def wants_apart(pod: PodInfo, objects: ObjectStore, plugins: Sequence[str]) -> Apart | None:
    """Return the first two demands that no node meets; `plugins` are those that filter."""
    demands = [each for each in _demands(pod, objects) if not each.plugin or each.plugin in plugins]
    for one, other in combinations(demands, 2):
        for key in one.allowed:
            if key in other.allowed and one.allowed[key].isdisjoint(other.allowed[key]):
                return Apart(other.plugin, _sentence(one, other, key))
    return None


def _demands(pod: PodInfo, objects: ObjectStore) -> Iterator[_Demand]:
    """Yield the pod's own demand first, then those of the volumes that its claims are bound to."""
    yield _Demand("", "", _of_pod(pod.pod.spec))
    for name in mounted_claims(pod.pod):
        claim = objects.get(PersistentVolumeClaim, f"{pod.pod.namespace}/{name}")
        volume = objects.get(PersistentVolume, claim.spec.volume_name) if claim else None
        if volume is None:
            continue
        affinity = volume.spec.node_affinity
        if affinity is not None and affinity.required is not None:
            terms = _of_terms(affinity.required.node_selector_terms)
            yield _Demand(volume.name, VolumeBinding.name, terms)
        zones = {_key(each.key): each.values for each in volume_topologies(volume)}
        yield _Demand(volume.name, VolumeZone.name, zones)


def _of_pod(spec: PodSpec) -> Allowed:
    required = required_terms(spec)
    found = dict(_of_terms(required.node_selector_terms)) if required is not None else {}
    for key, value in spec.node_selector.items():
        found[_key(key)] = frozenset((value,))
    return found


def _of_terms(terms: Sequence[NodeSelectorTerm]) -> Allowed:
    """Return what the terms, of which one must hold, leave of the labels that each restricts."""
    each_leaves = [_of_term(term) for term in terms]
    if not each_leaves:
        return {}
    shared = set(each_leaves[0]).intersection(*each_leaves)
    return {key: frozenset().union(*(one[key] for one in each_leaves)) for key in sorted(shared)}


def _of_term(term: NodeSelectorTerm) -> Allowed:
    found: dict[str, frozenset[str]] = {}
    for each in term.match_expressions:
        if each.operator == "In":
            key, values = _key(each.key), frozenset(each.values)
            found[key] = found.get(key, values) & values
    return found


def _key(key: str) -> str:
    return _NOW_CALLED.get(key, key)


def _sentence(one: _Demand, other: _Demand, key: str) -> str:
    where, elsewhere = (
        expression_text(short_key(key), "In", sorted(each.allowed[key])) for each in (one, other)
    )
    if not one.volume:
        return say(
            "apart.pod_and_volume",
            "requires {where}, and its volume {volume} is usable only where {elsewhere}: no node "
            "can ever take it",
            where=where,
            volume=other.volume,
            elsewhere=elsewhere,
        )
    return say(
        "apart.two_volumes",
        "needs volume {one}, usable only where {where}, and volume {other}, usable only where "
        "{elsewhere}: no node can ever take it",
        one=one.volume,
        where=where,
        other=other.volume,
        elsewhere=elsewhere,
    )
