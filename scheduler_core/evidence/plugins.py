"""Which function explains which plugin: the closed set of what there is evidence of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.evidence import (
    device_claims,
    image_scores,
    node_labels,
    pod_affinity,
    pod_level,
    ports,
    resource_scores,
    resources,
    spread,
    taints,
    volume_limits,
    volume_scores,
    volumes,
)
from scheduler_core.evidence.raw_score import NormalizeRule, RawScore, StatedScore
from scheduler_core.evidence.requirement import AtNode, Requirement, Stated
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.status import Status
from scheduler_core.plugins.default_preemption import DefaultPreemption
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.image_locality import ImageLocality
from scheduler_core.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.plugins.node_name import NodeName
from scheduler_core.plugins.node_ports import NodePorts
from scheduler_core.plugins.node_resources import BalancedAllocation, Fit
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from scheduler_core.plugins.scheduling_gates import SchedulingGates
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.plugins.volume_binding import VolumeBinding
from scheduler_core.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.plugins.volume_zone import VolumeZone


def node_requirements(
    plugin: Plugin, state: object, at: AtNode, status: Status
) -> tuple[Requirement, ...]:
    """Return what a plugin asks of a node; `state` is what it prepared, `status` what Filter said.

    Some requirement is not met exactly if the plugin rejects the node.
    """
    found = tuple(_node_requirements(plugin, state, at, status))
    return found if _agrees(found, status) else (*found, _stated(status))


def _node_requirements(
    plugin: Plugin, state: object, at: AtNode, status: Status
) -> Iterable[Requirement]:
    match plugin:
        case NodeUnschedulable():
            return taints.not_cordoned(at)
        case NodeName():
            return node_labels.node_named(at)
        case TaintToleration():
            return taints.taints_tolerated(plugin, at)
        case NodeAffinity():
            return node_labels.node_affinity(plugin, at)
        case NodePorts():
            return ports.ports_free(at)
        case Fit():
            return resources.resource_room(plugin, state, at)
        case PodTopologySpread():
            return spread.spread_kept(plugin, state, at)
        case InterPodAffinity():
            return pod_affinity.pod_affinity(plugin, state, at)
        case DynamicResources():
            return device_claims.devices_available(state, at, status)
        case NodeDeclaredFeatures():
            return node_labels.declared_features(state, at)
        case _:
            return _volume_requirements(plugin, state, at)


def _volume_requirements(plugin: Plugin, state: object, at: AtNode) -> Iterable[Requirement]:
    match plugin:
        case VolumeRestrictions():
            return volume_limits.volumes_for_one(state, at)
        case NodeVolumeLimits():
            return volume_limits.volumes_attachable(plugin, state, at)
        case VolumeBinding():
            return volumes.volumes_usable(plugin, state, at)
        case VolumeZone():
            return volumes.volume_zones(state, at)
        case _:
            return ()


def pod_requirements(
    plugin: Plugin, pod: PodInfo, objects: ObjectStore, status: Status
) -> tuple[Requirement, ...]:
    """Return why a plugin rejects the pod before any node is looked at.

    `status` is what PreEnqueue or PreFilter said.
    """
    found = tuple(each for each in _pod_requirements(plugin, pod, objects) if not each.met)
    return found or (_stated(status),)


def _pod_requirements(plugin: Plugin, pod: PodInfo, objects: ObjectStore) -> Iterator[Requirement]:
    match plugin:
        case SchedulingGates():
            yield from pod_level.gates_lifted(pod)
        case DefaultPreemption():
            yield pod_level.VictimsGone(met=False, victim=plugin.last_victim(pod))
        case NodeAffinity():
            yield from pod_level.names_agree(pod)
        case VolumeBinding() | VolumeRestrictions() | VolumeZone():
            yield from pod_level.claims_ready(pod, objects)


def raw_score(plugin: Plugin, state: object, at: AtNode, raw: int) -> RawScore:
    """Return how a raw score comes about; `state` is what the plugin prepared for Score."""
    match plugin:
        case TaintToleration():
            return taints.soft_taints(plugin, at)
        case NodeAffinity():
            return node_labels.preferred_node_terms(plugin, at)
        case Fit():
            return resource_scores.fit_score(plugin, at)
        case BalancedAllocation():
            return resource_scores.balanced_score(plugin, at)
        case ImageLocality():
            return image_scores.image_score(plugin, at)
        case PodTopologySpread():
            return spread.spread_score(plugin, state, at)
        case InterPodAffinity():
            return pod_affinity.pod_affinity_score(plugin, at)
        case VolumeBinding():
            return volume_scores.volume_score(plugin, state, at)
        case DynamicResources():
            return device_claims.device_score(plugin, state, at)
        case _:
            return StatedScore(raw=raw)


def normalize_rule(plugin: Plugin) -> NormalizeRule:
    """Return how a plugin's raw scores become 0 to 100."""
    match plugin:
        case TaintToleration():
            return "reversed"
        case NodeAffinity() | DynamicResources():
            return "byHighest"
        case InterPodAffinity():
            return "betweenLowestAndHighest"
        case PodTopologySpread():
            return "spread"
        case _:
            return "none"


def _agrees(found: tuple[Requirement, ...], status: Status) -> bool:
    return status.is_success or any(not each.met for each in found)


def _stated(status: Status) -> Stated:
    return Stated(met=False, reasons=status.reasons)
