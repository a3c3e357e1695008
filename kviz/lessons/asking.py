"""What a pod asks of a node, in words and as the kinds of values that its node is chosen by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from kviz.common.wording import translated
from kviz.lessons.needs import DEVICES, LABELS, NEAR, NOTHING, ROOM, TAINTS, VOLUMES, Kinds
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.api import PersistentVolumeClaim, Pod, ResourceClaim, ResourceClaimTemplate
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.device import DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from scheduler_core.api.meta import LabelSelector, NodeSelectorTerm
from scheduler_core.api.pod import PodAffinityTerm
from scheduler_core.evidence.domain_pods import selector_text
from scheduler_core.evidence.node_labels import expression_text
from scheduler_core.evidence.requirement import domain_word
from scheduler_core.evidence.taints import toleration_text


@dataclass(frozen=True)
class Objects:
    """What pictures read of a snapshot; the trace has the rest."""

    pods: dict[str, Pod]
    all: ClusterObjects


def objects_of(snapshot: Snapshot) -> Objects:
    found = snapshot_objects(snapshot=snapshot)
    return Objects({pod.key: pod for pod in found.of(Pod)}, found)


@dataclass(frozen=True)
class Ask:
    """One thing that a pod asks for; the keys are of the labels that it is compared with."""

    kinds: Kinds
    text: str
    node_keys: frozenset[str] = frozenset()
    pod_keys: frozenset[str] = frozenset()


def asks_of(pod: Pod | None, objects: Objects) -> list[Ask]:
    """What a pod asks for beside room, in the reader's language; None: nothing is known of it."""
    if pod is None:
        return []
    return [
        *_tolerations(pod),
        *_node_labels(pod),
        *_pods_near(pod),
        *_spread(pod),
        *_volumes(pod, objects),
        *_devices(pod, objects),
    ]


def kinds_asked(asks: list[Ask], *, has_taints: bool) -> Kinds:
    """The kinds of values that a node is chosen by for a pod that asks so."""
    found = ROOM | (TAINTS if has_taints else NOTHING)
    return found.union(*(ask.kinds for ask in asks if ask.kinds != TAINTS))


def _tolerations(pod: Pod) -> Iterator[Ask]:
    for each in pod.spec.tolerations:
        yield Ask(TAINTS, translated(toleration_text(each)))


def _node_labels(pod: Pod) -> Iterator[Ask]:
    for key, value in pod.spec.node_selector.items():
        yield Ask(LABELS, f"{key}={value}", frozenset({key}))
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if affinity is None:
        return
    required = affinity.required_during_scheduling_ignored_during_execution
    for term in required.node_selector_terms if required else ():
        yield Ask(LABELS, _term(term), _keys(term))
    for preferred in affinity.preferred_during_scheduling_ignored_during_execution:
        wish = {"term": _term(preferred.preference), "weight": preferred.weight}
        text = gettext("prefers %(term)s (weight %(weight)s)") % wish
        yield Ask(LABELS, text, _keys(preferred.preference))


def _term(term: NodeSelectorTerm) -> str:
    found = (*term.match_expressions, *term.match_fields)
    parts = (translated(expression_text(each.key, each.operator, each.values)) for each in found)
    return ", ".join(parts)


def _keys(term: NodeSelectorTerm) -> frozenset[str]:
    return frozenset(each.key for each in term.match_expressions)


def _pods_near(pod: Pod) -> Iterator[Ask]:
    if pod.spec.affinity is None:
        return
    near, far = pod.spec.affinity.pod_affinity, pod.spec.affinity.pod_anti_affinity
    for term in near.required_during_scheduling_ignored_during_execution if near else ():
        yield _near(gettext("only in a %(domain)s with pods %(pods)s"), term)
    for term in far.required_during_scheduling_ignored_during_execution if far else ():
        yield _near(gettext("in no %(domain)s with pods %(pods)s"), term)
    for wish in near.preferred_during_scheduling_ignored_during_execution if near else ():
        text = gettext("prefers a %(domain)s with pods %(pods)s (weight %(weight)s)")
        yield _near(text, wish.pod_affinity_term, wish.weight)
    for wish in far.preferred_during_scheduling_ignored_during_execution if far else ():
        text = gettext("avoids a %(domain)s with pods %(pods)s (weight %(weight)s)")
        yield _near(text, wish.pod_affinity_term, wish.weight)


def _near(text: str, term: PodAffinityTerm, weight: int = 0) -> Ask:
    domain, pods = domain_word(term.topology_key), selector_text(term.label_selector)
    said = {"domain": translated(domain), "pods": translated(pods), "weight": weight}
    keys = _selector_keys(term.label_selector) | frozenset(term.match_label_keys)
    return Ask(NEAR, text % said, frozenset({term.topology_key}), keys)


def _selector_keys(selector: LabelSelector | None) -> frozenset[str]:
    if selector is None:
        return frozenset()
    return frozenset((*selector.match_labels, *(each.key for each in selector.match_expressions)))


def _spread(pod: Pod) -> Iterator[Ask]:
    for each in pod.spec.topology_spread_constraints:
        hard = each.when_unsatisfiable != "ScheduleAnyway"
        text = gettext("must spread %(pods)s over every %(domain)s, maxSkew %(skew)s")
        if not hard:
            text = gettext("prefers to spread %(pods)s over every %(domain)s, maxSkew %(skew)s")
        pods, domain = selector_text(each.label_selector), domain_word(each.topology_key)
        said = {"pods": translated(pods), "domain": translated(domain), "skew": each.max_skew}
        keys = _selector_keys(each.label_selector) | frozenset(each.match_label_keys)
        yield Ask(NEAR, text % said, frozenset({each.topology_key}), keys)


def _volumes(pod: Pod, objects: Objects) -> Iterator[Ask]:
    wanted = [each.persistent_volume_claim for each in pod.spec.volumes]
    claims = {each.key: each for each in objects.all.of(PersistentVolumeClaim)}
    for source in wanted:
        if source is None:
            continue
        claim = claims.get(f"{pod.metadata.namespace}/{source.claim_name}")
        said = {"claim": source.claim_name, "of": ""}
        if claim is not None:
            size = claim.spec.resources.requests.get("storage", "")
            bound = claim.spec.volume_name or claim.spec.storage_class_name or ""
            said["of"] = ", ".join(filter(None, (bound, size)))
        text = gettext("claim %(claim)s (%(of)s)") if said["of"] else gettext("claim %(claim)s")
        yield Ask(VOLUMES, text % said)


def _devices(pod: Pod, objects: Objects) -> Iterator[Ask]:
    claims = {each.key: each for each in objects.all.of(ResourceClaim)}
    templates = {each.key: each for each in objects.all.of(ResourceClaimTemplate)}
    for use in pod.spec.resource_claims:
        space = pod.metadata.namespace
        claim = claims.get(f"{space}/{use.resource_claim_name}")
        template = templates.get(f"{space}/{use.resource_claim_template_name}")
        spec = claim.spec if claim else template.spec.spec if template else None
        for request in spec.devices.requests if spec else ():
            said = {"claim": use.name, "devices": _devices_wanted(request)}
            yield Ask(DEVICES, gettext("claim %(claim)s: %(devices)s") % said)


def _devices_wanted(request: DeviceRequest) -> str:
    each: ExactDeviceRequest | DeviceSubRequest
    found = []
    for each in (request.exactly,) if request.exactly else request.first_available:
        count = gettext("all") if each.allocation_mode == "All" else str(each.count or 1)
        where = "".join(f" [{one.cel.expression}]" for one in each.selectors if one.cel)
        found.append(f"{count} {each.device_class_name}{where}")
    return gettext(" or ").join(found)
