"""What a waiting pod may do by itself: the plugins' own answers about it and every node.

Pods only come, and none leaves, so what has no room now has none later. Two rules can loosen when
pods come: required affinity, and a spread over domains. Of these only what concerns the node alone
is asked here; the rest is among the rules between pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.api import CSINode, PersistentVolumeClaim
from scheduler_core.api.claims import claims_of, is_fully_bound
from scheduler_core.cluster.arrays import ABSENT, BoolArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.individual import Preparation
from scheduler_core.framework.status import Verdict
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_core.plugins.inter_pod_affinity import filtering as affinity
from scheduler_core.plugins.node_ports import NodePorts
from scheduler_core.plugins.node_resources import Fit
from scheduler_core.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from scheduler_core.plugins.pod_topology_spread import filtering as spread
from scheduler_core.plugins.volume_binding import VolumeBinding
from scheduler_core.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.registry import in_tree_registry

BETWEEN_PODS: Final = (Fit.name, NodePorts.name, InterPodAffinity.name, PodTopologySpread.name)
"""The plugins whose rules hold between pods, and are written down as such."""

READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"


@dataclass(frozen=True, eq=False)
class Alone:
    """One waiting pod, for all of its template: what plugins prepared, and where it may go.

    `eligible` bool (N,). `filters` are the profile's Filter plugins.
    """

    pod: PodInfo
    filters: frozenset[str]
    prepared: Preparation
    eligible: BoolArray

    def state(self, plugin: str) -> object:
        """Return what a plugin prepared, None if it takes no part."""
        prepared = self.prepared.state
        takes_part = plugin in self.filters and plugin not in prepared.skip_filter
        return prepared.pre_filter.get(plugin) if takes_part else None

    @property
    def near(self) -> affinity.FilterState | None:
        state = self.state(InterPodAffinity.name)
        return state if isinstance(state, affinity.FilterState) else None

    @property
    def spread(self) -> spread.FilterState | None:
        state = self.state(PodTopologySpread.name)
        return state if isinstance(state, spread.FilterState) else None

    @property
    def requests(self) -> Mapping[str, int]:
        state = self.state(Fit.name)
        return state if isinstance(state, Mapping) else {}


def alone(world: RestingWorld, pod: PodInfo, nodes: Nodes) -> Alone:
    """Ask every plugin about a pod and all nodes, as if no other pod were waiting."""
    framework = world.framework(pod)
    prepared = world.prepare(pod, nodes)
    filters = frozenset(each.name for each, _ in framework.points.get(ExtensionPoint.FILTER, ()))
    eligible = np.full(nodes.n, not prepared.rejections)
    for names in prepared.narrowed.values():
        eligible &= np.array([name in names for name in nodes.names], np.bool_)
    found = Alone(pod, filters, prepared, eligible)
    for plugin, verdict in framework.run_filter_individually(prepared.state, pod, nodes).items():
        eligible &= ~_ruled_out(plugin, verdict, found, nodes)
    return found


def _ruled_out(plugin: str, verdict: Verdict, found: Alone, nodes: Nodes) -> BoolArray:
    """Return the nodes that a plugin rejects whatever the other waiting pods do, bool (N,)."""
    rejected: BoolArray = verdict.code != 0
    if plugin == InterPodAffinity.name and (near := found.near) is not None:
        kept_apart = affinity.filter_nodes(replace(near, affinity={}), nodes)
        rejected = kept_apart.code != 0
        for key in near.affinity:
            rejected |= nodes.label(key).ids == ABSENT
    elif plugin == PodTopologySpread.name and (over := found.spread) is not None:
        rejected = np.zeros(nodes.n, np.bool_)
        for constraint in over.constraints:
            rejected |= nodes.label(constraint.topology_key).ids == ABSENT
    return rejected


# ---------------------------------------------------------------- what cannot be expressed


def not_comparable(world: RestingWorld, pods: Mapping[int, Alone]) -> Iterator[str]:
    """Name what the waiting pods ask for and the arrays do not hold; `pods` by template."""
    yield from _plugins(world)
    yield from _profiles(pods)
    for found in pods.values():
        yield from _claims(world, found)
    yield from _shared_claims(world)


def _plugins(world: RestingWorld) -> Iterator[str]:
    in_tree = set(in_tree_registry())
    names = {
        plugin.name: None
        for framework in world.frameworks
        for plugins in framework.points.values()
        for plugin, _ in plugins
    }
    for name in names:
        if name not in in_tree:
            yield f"plugin {name}: not one of kube-scheduler's own, so its rules are not known"


def _profiles(pods: Mapping[int, Alone]) -> Iterator[str]:
    for name in BETWEEN_PODS:
        if len({name in found.filters for found in pods.values()}) > 1:
            yield f"plugin {name}: filters in some of the profiles only"


def _claims(world: RestingWorld, found: Alone) -> Iterator[str]:
    pod = found.pod
    if found.state(DynamicResources.name) is not None:
        yield f"device claims: pod {pod.key}"
    if found.state(VolumeBinding.name) is not None and not all(
        is_fully_bound(claim) for claim in _claims_of(world, pod)
    ):
        yield f"claims that are bound when a node is chosen: pod {pod.key}"
    if found.state(NodeVolumeLimits.name) is not None and any(
        driver.allocatable is not None
        for node in world.objects.all(CSINode)
        for driver in node.spec.drivers
    ):
        yield f"limits of attached volumes: pod {pod.key}"
    if found.state(VolumeRestrictions.name) is not None:
        yield f"volumes that only one pod may use: pod {pod.key}"


def _claims_of(world: RestingWorld, pod: PodInfo) -> Iterator[PersistentVolumeClaim]:
    for name, _ in claims_of(pod.pod):
        claim = world.objects.get(PersistentVolumeClaim, f"{pod.pod.namespace}/{name}")
        if claim is not None:
            yield claim


def _shared_claims(world: RestingWorld) -> Iterator[str]:
    users: dict[str, list[str]] = {}
    for pod in world.waiting:
        for claim in _claims_of(world, pod):
            if READ_WRITE_ONCE_POD in claim.spec.access_modes:
                users.setdefault(claim.key, []).append(pod.key)
    for claim_key, keys in users.items():
        if len(keys) > 1:
            yield f"claim {claim_key}: only one pod may use it, and {len(keys)} wait for it"
