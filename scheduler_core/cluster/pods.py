"""Pods as the scheduler works with them: what equal pods share, computed once.

Upstream: v1.36 pkg/scheduler/framework/types.go (PodInfo, AffinityTerm).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from scheduler_core.api import (
    LabelSelector,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodAffinityTerm,
    PodSpec,
    WeightedPodAffinityTerm,
)
from scheduler_core.cluster.requests import (
    COUNT_ALL,
    Counted,
    PodRequests,
    container_requests,
    pod_requests,
)

Mask = npt.NDArray[np.bool_]
Amounts = npt.NDArray[np.int64]

G = TypeVar("G", bound=np.generic)


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """One (anti-)affinity term; `weight` is 0 for a required one.

    It looks at pods in `namespaces` and in namespaces whose labels match
    `namespace_selector` (None: no further ones).
    """

    topology_key: str
    selector: LabelSelector | None
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    weight: int = 0


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port a pod wants on its host; an unset address is `0.0.0.0`, an unset protocol TCP."""

    ip: str
    protocol: str
    port: int


@dataclass(frozen=True, eq=False)
class PodTemplate:
    """Everything the scheduler reads of a pod but its name, times and fate.

    Pods stamped from one template share one instance; `index` numbers them. `pod` is the
    first one seen: read only its namespace, labels, spec and owners through it.
    """

    index: int
    pod: Pod
    owner: OwnerReference | None
    requests: PodRequests

    @property
    def namespace(self) -> str:
        return self.pod.metadata.namespace

    @property
    def labels(self) -> dict[str, str]:
        return self.pod.metadata.labels

    @cached_property
    def container_requests(self) -> dict[str, int]:
        """Return the containers' requests with defaults for scoring, pod level left out."""
        return container_requests(self.pod)

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """Return host ports of all containers, sidecars among them, not of other init ones."""
        spec = self.pod.spec
        sidecars = [c for c in spec.init_containers if c.restart_policy == "Always"]
        return tuple(
            HostPort(port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
            for container in (*spec.containers, *sidecars)
            for port in container.ports
            if port.host_port > 0
        )

    @property
    def has_pod_terms(self) -> bool:
        """Whether there is any term about other pods, near or far."""
        affinity = self.pod.spec.affinity
        return affinity is not None and bool(affinity.pod_affinity or affinity.pod_anti_affinity)

    @cached_property
    def required_affinity(self) -> tuple[AffinityTerm, ...]:
        affinity = self.pod.spec.affinity
        terms = affinity.pod_affinity if affinity else None
        return _required(
            self.namespace,
            terms.required_during_scheduling_ignored_during_execution if terms else (),
        )

    @cached_property
    def required_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        affinity = self.pod.spec.affinity
        terms = affinity.pod_anti_affinity if affinity else None
        return _required(
            self.namespace,
            terms.required_during_scheduling_ignored_during_execution if terms else (),
        )

    @cached_property
    def preferred_affinity(self) -> tuple[AffinityTerm, ...]:
        affinity = self.pod.spec.affinity
        terms = affinity.pod_affinity if affinity else None
        return _preferred(
            self.namespace,
            terms.preferred_during_scheduling_ignored_during_execution if terms else (),
        )

    @cached_property
    def preferred_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        affinity = self.pod.spec.affinity
        terms = affinity.pod_anti_affinity if affinity else None
        return _preferred(
            self.namespace,
            terms.preferred_during_scheduling_ignored_during_execution if terms else (),
        )


def _required(namespace: str, terms: Sequence[PodAffinityTerm]) -> tuple[AffinityTerm, ...]:
    return tuple(_term(namespace, term, 0) for term in terms)


def _preferred(
    namespace: str, terms: Sequence[WeightedPodAffinityTerm]
) -> tuple[AffinityTerm, ...]:
    return tuple(_term(namespace, term.pod_affinity_term, term.weight) for term in terms)


def _term(namespace: str, term: PodAffinityTerm, weight: int) -> AffinityTerm:
    own = not term.namespaces and term.namespace_selector is None
    return AffinityTerm(
        topology_key=term.topology_key,
        selector=term.label_selector,
        namespaces=frozenset((namespace,) if own else term.namespaces),
        namespace_selector=term.namespace_selector,
        weight=weight,
    )


class PodInfo(msgspec.Struct, frozen=True, eq=False):
    """One pod together with its template; `uid` and `key` (`namespace/name`) are the pod's."""

    pod: Pod
    template: PodTemplate
    uid: str
    key: str

    @staticmethod
    def of(pod: Pod, template: PodTemplate) -> PodInfo:
        return PodInfo(pod, template, pod.metadata.uid, pod.key)

    @property
    def priority(self) -> int:
        return self.pod.spec.priority or 0

    @property
    def terminating(self) -> bool:
        return self.pod.metadata.deletion_timestamp is not None

    @property
    def node_name(self) -> str:
        return self.pod.spec.node_name

    @property
    def nominated_node_name(self) -> str:
        return self.pod.status.nominated_node_name


@dataclass
class TemplateTable:
    """The distinct templates of a cluster, numbered in order of appearance.

    `counted` says what of a pod counts as its requests.
    """

    counted: Counted = COUNT_ALL
    templates: list[PodTemplate] = field(default_factory=list)
    _index: dict[bytes, int] = field(default_factory=dict)
    _masks: dict[Hashable, Mask] = field(default_factory=dict)
    _amounts: dict[Hashable, Amounts] = field(default_factory=dict)
    _last: dict[str, PodInfo] = field(default_factory=dict)
    """The latest state seen of every pod by uid, until it is forgotten."""
    _replaced: PodInfo | None = None
    """The state that was replaced last: one after the other, all who hear of it ask for it."""

    def __len__(self) -> int:
        return len(self.templates)

    def fork(self) -> TemplateTable:
        """Return an independent copy with the same numbers."""
        return TemplateTable(
            self.counted,
            self.templates[:],
            self._index.copy(),
            self._masks.copy(),
            self._amounts.copy(),
            self._last.copy(),
            self._replaced,
        )

    def number(self, pods: Iterable[Pod]) -> None:
        """Number the templates of pods that are still to come."""
        for pod in pods:
            self._template(pod)

    def take_over(self, other: TemplateTable) -> None:
        """Take over the answers of another, which has gone on from this one's templates."""
        n = len(self.templates)
        self._masks |= {key: mask[:n] for key, mask in other._masks.items()}
        self._amounts |= {key: amounts[:n] for key, amounts in other._amounts.items()}

    def info(self, pod: Pod) -> PodInfo:
        """Return the pod with its template, which is made when it is new."""
        known = self._last.get(pod.uid)
        if known is not None:
            if known.pod is pod:
                return known
            if self._replaced is not None and self._replaced.pod is pod:
                return self._replaced
            self._replaced = known
            if _template_parts(known.pod) == _template_parts(pod):
                info = self._last[pod.uid] = PodInfo.of(pod, known.template)
                return info
        info = self._last[pod.uid] = PodInfo.of(pod, self._template(pod))
        return info

    def name_only(self, info: PodInfo) -> PodInfo:
        """Return a pod of which nothing is known but its name and uid."""
        metadata = info.pod.metadata
        pod = Pod(
            metadata=ObjectMeta(name=metadata.name, namespace=metadata.namespace, uid=metadata.uid)
        )
        return PodInfo.of(pod, self._template(pod))

    def forget(self, pod: Pod) -> None:
        """Let go of a pod that is gone."""
        self._last.pop(pod.uid, None)

    def _template(self, pod: Pod) -> PodTemplate:
        key = _template_key(pod)
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self.templates)
            requests = _requests_of(key, pod, self.counted)
            self.templates.append(PodTemplate(index, pod, controller_of(pod), requests))
        return self.templates[index]

    def matching(self, key: Hashable, predicate: Callable[[PodTemplate], bool]) -> Mask:
        """Return which templates satisfy `predicate`, bool (n_templates,).

        `key` stands for the predicate: the same key must always mean the same function, so
        that each template is asked only once.
        """
        known = self._masks.get(key)
        if known is None or known.size < len(self.templates):
            known = self._masks[key] = self._extended(known, predicate, np.dtype(np.bool_))
        return known

    def amounts(self, key: Hashable, measure: Callable[[PodTemplate], int]) -> Amounts:
        """Return what each template measures, int64 (n_templates,). For `key` see `matching`."""
        known = self._amounts.get(key)
        if known is None or known.size < len(self.templates):
            known = self._amounts[key] = self._extended(known, measure, np.dtype(np.int64))
        return known

    def _extended(
        self,
        known: npt.NDArray[G] | None,
        ask: Callable[[PodTemplate], bool] | Callable[[PodTemplate], int],
        dtype: np.dtype[G],
    ) -> npt.NDArray[G]:
        """Return the answers of all templates, asking only those not asked yet."""
        fresh = self.templates[0 if known is None else known.size :]
        tail = np.fromiter((ask(template) for template in fresh), dtype, len(fresh))
        return tail if known is None else np.concatenate([known, tail])


def controller_of(pod: Pod) -> OwnerReference | None:
    """Return the owner reference marked as controller, if any."""
    return next((owner for owner in pod.metadata.owner_references if owner.controller), None)


_SPEC_PARTS = attrgetter(*(name for name in PodSpec.__struct_fields__ if name != "node_name"))


def _template_parts(pod: Pod) -> tuple[object, ...]:
    """Return all that the template of a pod depends on, cheap to compare where it is shared."""
    metadata, status = pod.metadata, pod.status
    return (
        metadata.namespace,
        metadata.labels,
        metadata.owner_references,
        _SPEC_PARTS(pod.spec),
        status.container_statuses,
        status.init_container_statuses,
        status.resources,
        status.allocated_resources,
        [condition for condition in status.conditions if condition.type == _RESIZE_PENDING],
    )


_encode = msgspec.msgpack.Encoder(order="deterministic").encode


MAX_KNOWN_REQUESTS = 1 << 14
_known_requests: dict[tuple[bytes, Counted], PodRequests] = {}
"""Requests by template key, cached, as they serve the next run over the same cluster, too."""


def _requests_of(key: bytes, pod: Pod, counted: Counted) -> PodRequests:
    known = _known_requests.get((key, counted))
    if known is None:
        if len(_known_requests) >= MAX_KNOWN_REQUESTS:
            _known_requests.clear()
        known = _known_requests[key, counted] = pod_requests(pod, counted)
    return known


def _template_key(pod: Pod) -> bytes:
    spec, status = pod.spec, pod.status
    resized = [condition for condition in status.conditions if condition.type == _RESIZE_PENDING]
    owner = controller_of(pod)
    return _encode(
        (
            pod.metadata.namespace,
            pod.metadata.labels,
            owner and (owner.kind, owner.name, owner.uid),
            msgspec.structs.replace(spec, node_name="") if spec.node_name else spec,
            status.container_statuses,
            status.init_container_statuses,
            status.resources,
            status.allocated_resources,
            resized,
        )
    )


_RESIZE_PENDING = "PodResizePending"
