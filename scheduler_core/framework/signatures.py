"""What of a pod decides where it may go: pods that sign alike get alike verdicts and scores.

A plugin signs with the parts of the pod it looks at; all plugins' fragments together are the
pod's signature. It holds for nodes in the same state only, so it says nothing of pods whose
place depends on other pods.

Upstream: v1.36 kube-scheduler/framework/signers.go and framework/runtime (SignPod). Signatures
are compared, never shown, so values are tuples here and not JSON. Volumes that no plugin reads
(`emptyDir`, `hostPath` and the like) are gone after parsing and are not signed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from scheduler_core.api import (
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodSpec,
)

PodSignature = frozenset[tuple[str, Hashable]]


@dataclass(frozen=True, slots=True)
class SignFragment:
    """One part of a pod under the name of where it stands; equal names hold equal values."""

    key: str
    value: Hashable


Signed = Sequence[SignFragment] | None
"""A plugin's part of the signature; None: it cannot sign, and the pod has no signature at all."""


def scheduler_name(spec: PodSpec) -> SignFragment:
    return SignFragment("v1.Pod.Spec.SchedulerName", spec.scheduler_name)


def labels(values: Mapping[str, str]) -> SignFragment:
    return SignFragment("v1.Pod.Labels", frozenset(values.items()))


def resources(requests: Mapping[str, int]) -> SignFragment:
    return SignFragment("v1.Pod.Spec.ContainerRequestsAndOverheads()", frozenset(requests.items()))


def image_names(names: Sequence[str]) -> SignFragment:
    return SignFragment("v1.Pod.Spec.CanonicalImageNames()", frozenset(names))


def required_features(features: frozenset[str]) -> SignFragment:
    return SignFragment("v1.Pod.Spec.RequiredFeatures()", features)


def node_name(spec: PodSpec) -> SignFragment:
    return SignFragment("v1.Pod.Spec.NodeName", spec.node_name)


def host_ports(spec: PodSpec) -> SignFragment:
    """Sign with the port numbers alone, whatever their protocols and addresses."""
    containers = (*spec.containers, *spec.init_containers)
    ports = {port.host_port for container in containers for port in container.ports}
    return SignFragment("v1.Pod.Spec.HostPorts()", frozenset(ports - {0}))


def tolerations(spec: PodSpec) -> SignFragment:
    in_order = sorted(spec.tolerations, key=lambda each: (each.key, each.value))
    return SignFragment("v1.Pod.Spec.Tolerations", _encode(in_order))


def volumes(spec: PodSpec) -> SignFragment:
    """Sign with the sources of the volumes, whatever their names and order."""
    sources = sorted(_encode(replace(volume, name="")) for volume in spec.volumes)
    return SignFragment("v1.Pod.Spec.Volumes.NonSyntheticSources()", tuple(sources))


def node_selector(spec: PodSpec) -> SignFragment:
    key = "v1.Pod.Spec.Affinity.NodeSelector"
    return SignFragment(key, frozenset(spec.node_selector.items()))


def node_affinity(spec: PodSpec) -> SignFragment:
    """Sign with the terms in any order; no node affinity differs from one without terms."""
    key = "v1.Pod.Spec.Affinity.NodeAffinity"
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None:
        return SignFragment(key, None)
    required = affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return SignFragment(
        key,
        (
            tuple(sorted(_term(term) for term in required.node_selector_terms) if required else ()),
            tuple(sorted((each.weight, _term(each.preference)) for each in preferred)),
        ),
    )


_Requirements = tuple[tuple[str, str, tuple[str, ...]], ...]


def _term(term: NodeSelectorTerm) -> tuple[_Requirements, _Requirements]:
    return _requirements(term.match_expressions), _requirements(term.match_fields)


def _requirements(requirements: Sequence[NodeSelectorRequirement]) -> _Requirements:
    return tuple(
        sorted((each.key, each.operator, tuple(sorted(each.values))) for each in requirements)
    )


_encode = msgspec.msgpack.Encoder(order="deterministic").encode
