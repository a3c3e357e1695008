"""Which function explains which plugin: the closed set of what there is evidence of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scheduler_core.amounts import in_one_unit, scale_of
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.evidence import (
    device_claims,
    node_labels,
    pod_affinity,
    pod_level,
    ports,
    resource_scores,
    resources,
    spread,
    taints,
    volume_limits,
    volumes,
)
from scheduler_core.evidence.raw_score import NormalizeRule, RawScore, StatedScore, quotient
from scheduler_core.evidence.requirement import AtNode, Requirement, Stated, state_of
from scheduler_core.evidence.resource_scores import curve_value
from scheduler_core.framework.interface import MAX_NODE_SCORE, Plugin
from scheduler_core.framework.status import Status
from scheduler_core.plugins.default_preemption import DefaultPreemption
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.image_locality import (
    MIN_THRESHOLD_BYTES,
    ImageLocality,
    image_references,
    normalized_image_name,
)
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
from scheduler_core.plugins.volume_binding.binder import PodVolumes
from scheduler_core.plugins.volume_binding.scoring import storage_asked
from scheduler_core.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.plugins.volume_zone import VolumeZone
from scheduler_core.wording import PLUS, say, series

# How full the volumes would make the storage they come from (gate StorageCapacityScoring).
#
# Upstream: v1.36 plugins/volumebinding/scorer.go.


@dataclass(frozen=True, slots=True)
class StorageShare:
    """What the claims of one storage class ask and what there is, in bytes."""

    storage_class: str
    requested_bytes: int
    available_bytes: int

    @property
    def utilization(self) -> int:
        requested, available = self.requested_bytes, self.available_bytes
        if not available or requested > available:
            return 100
        return quotient(requested * 100, available)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeScore(RawScore):
    """The mean over storage classes of a curve over utilization."""

    kind = "storage"
    formula = say(
        "volume_score.formula",
        "mean over storage classes of shape(100 * requested / available), rounded",
    )
    shape: tuple[tuple[int, int], ...]
    classes: tuple[StorageShare, ...]

    @property
    def value(self) -> int:
        points = [self._points(share) for share in self.classes]
        return int(sum(points) / max(len(points), 1) + 0.5)

    @property
    def text(self) -> str:
        sizes = [
            in_one_unit("memory", share.requested_bytes, share.available_bytes)
            for share in self.classes
        ]
        parts = (
            say(
                "volume_score.shape",
                "shape({utilization}%) = {points} ({storage_class}: {requested} of {available})",
                utilization=share.utilization,
                points=self._points(share),
                storage_class=share.storage_class,
                requested=requested,
                available=available,
            )
            for share, (requested, available) in zip(self.classes, sizes, strict=True)
        )
        return (
            say(
                "volume_score.mean",
                "mean of {parts}: {value}",
                parts=series(parts),
                value=self.value,
            )
            if self.classes
            else "0"
        )

    def _points(self, share: StorageShare) -> int:
        return curve_value(self.shape, share.utilization)


def volume_score(plugin: VolumeBinding, state: object, at: AtNode) -> VolumeScore:
    shape = plugin.shape.points if plugin.shape is not None else ()
    if state is None:
        return VolumeScore(shape=shape, classes=())
    found = storage_asked(state_of(PodVolumes, state), at.node)
    return VolumeScore(
        shape=shape,
        classes=tuple(
            StorageShare(name, int(requested[0]), int(available[0]))
            for name, (asked, requested, available) in found
            if asked[0]
        ),
    )


# Images that a node has already, scaled by how many nodes have them.
#
# Upstream: v1.36 plugins/imagelocality.


@dataclass(frozen=True, slots=True)
class ImageShare:
    """An image of the pod: its size, on how many nodes it is, and whether on this one.

    The number of nodes is what this node knows of it.

    `size_bytes` is 0 for an image that no node has.
    """

    name: str
    size_bytes: int
    n_nodes: int
    n_all: int
    present: bool

    @property
    def scaled_bytes(self) -> int:
        """Return the size scaled down by the share of nodes that have it; 0 if absent here."""
        if not self.present:
            return 0
        return int(float(self.size_bytes) * (self.n_nodes / self.n_all))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageScore(RawScore):
    """Sizes of images the node has, on a scale from `lowest_bytes` to `highest_bytes`."""

    kind = "images"
    formula = say(
        "images.formula",
        "100 * (sum - lowest) / (highest - lowest), sum of size * nodes with the image / all nodes",
    )
    images: tuple[ImageShare, ...]
    lowest_bytes: int
    highest_bytes: int

    @property
    def sum_bytes(self) -> int:
        return sum(image.scaled_bytes for image in self.images)

    @property
    def value(self) -> int:
        low, high = self.lowest_bytes, self.highest_bytes
        held = low if self.sum_bytes < low else min(self.sum_bytes, high)
        return quotient(MAX_NODE_SCORE * (held - low), high - low)

    @property
    def text(self) -> str:
        sizes = [image.size_bytes for image in self.images]
        scale = scale_of("memory", (*sizes, self.lowest_bytes, self.highest_bytes))
        parts = (
            f"{scale.text(image.size_bytes)}*{image.n_nodes}/{image.n_all} ({image.name})"
            if image.present
            else say("images.absent", "0 ({name} is not there)", name=image.name)
            for image in self.images
        )
        return say(
            "images.sum",
            "sum {sum}, between {low} and {high}: {value}",
            sum=series(parts, PLUS) or 0,
            low=scale.text(self.lowest_bytes),
            high=scale.text(self.highest_bytes),
            value=self.value,
        )


def image_score(plugin: ImageLocality, at: AtNode) -> ImageScore:
    spec = at.pod.pod.spec
    return ImageScore(
        images=tuple(_share(normalized_image_name(name), at) for name in image_references(spec)),
        lowest_bytes=MIN_THRESHOLD_BYTES,
        highest_bytes=plugin.highest_bytes(spec),
    )


def _share(name: str, at: AtNode) -> ImageShare:
    n_all = at.nodes.n
    if not at.node.cluster.has_image(name):
        return ImageShare(name, 0, 0, n_all, present=False)
    image = at.node.image(name)
    n_nodes, present = int(image.n_nodes[0]), bool(image.present[0])
    return ImageShare(name, image.size_bytes, n_nodes, n_all, present)


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
            return image_score(plugin, at)
        case PodTopologySpread():
            return spread.spread_score(plugin, state, at)
        case InterPodAffinity():
            return pod_affinity.pod_affinity_score(plugin, at)
        case VolumeBinding():
            return volume_score(plugin, state, at)
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
