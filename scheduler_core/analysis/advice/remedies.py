"""What might meet a requirement that is not met: the actions, by the evidence of the plugin.

Each function takes one unmet requirement of one node and gives the actions that are worth a try
against it. A requirement without an entry here has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import product

from scheduler_core.analysis.advice.actions import (
    AGAINST_THE_NODE,
    Action,
    action,
    in_map,
    set_on,
    together,
)
from scheduler_core.analysis.advice.devices import devices_had, one_elsewhere, one_more
from scheduler_core.analysis.advice.harm import (
    CONTROL_PLANE,
    in_good_health,
    is_off_when_ready,
)
from scheduler_core.analysis.advice.leaving import OUT_OF_REACH, Leaving, back
from scheduler_core.analysis.advice.pools import looks_of, zone_of
from scheduler_core.analysis.advice.requests import shrunk
from scheduler_core.analysis.advice.volumes import (
    attachable,
    claim_bindable,
    claim_provided,
    driver_installed,
    volume_there,
    volume_usable,
)
from scheduler_core.api import Node, Pod, PodAffinityTerm, Taint
from scheduler_core.api.reach import is_out_of_reach
from scheduler_core.changes import object_document
from scheduler_core.changes.node_changes import HOSTNAME
from scheduler_core.changes.owners import DAEMON_SET
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import Cordon, RemoveTaint, SetLabel
from scheduler_core.cluster.pods import controller_of
from scheduler_core.evidence.device_claims import DevicesAvailable
from scheduler_core.evidence.domain_pods import DomainPods
from scheduler_core.evidence.node_labels import AffinityTerms, SelectorLabel, Term
from scheduler_core.evidence.pod_affinity import KeptOut, PodsApart, PodsNear
from scheduler_core.evidence.pod_level import ClaimReady, GatesLifted
from scheduler_core.evidence.ports import PortFree
from scheduler_core.evidence.requirement import Requirement
from scheduler_core.evidence.resources import ResourceRoom
from scheduler_core.evidence.spread import SpreadKept
from scheduler_core.evidence.taints import Cordoned, TaintTolerated
from scheduler_core.evidence.volume_limits import (
    ClaimsUnused,
    DiskFree,
    DriverInstalled,
    VolumesAttachable,
)
from scheduler_core.evidence.volumes import ClaimBindable, VolumeUsable, VolumeZoneMatched

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
OF_CONDITIONS = "node.kubernetes.io/"
"""Taints that the node lifecycle controller puts on, and would put on again."""
CORDON_TAINT = "node.kubernetes.io/unschedulable"
CORDON_TOLERATION = {"key": CORDON_TAINT, "operator": "Exists", "effect": "NoSchedule"}
NEW_TOLERATION = "spec.tolerations[+]"
REVISIONS = ("pod-template-hash", "rollouts-pod-template-hash", "controller-revision-hash")
"""Labels in which controllers write of which revision of its template a pod is."""
MOST_WEIGHT = 100
HONOR = "Honor"
MAX_LEAVING = 2
"""So many pods at most leave a domain, or give up a claim."""
MAX_TOGETHER = 8
"""So many ways at most are tried to meet several requirements of one plugin."""


class Remedies:
    """What might help a pod: actions against what keeps it from a node.

    `objects` are those of the cluster at rest, `leaving` says who may make room.
    """

    def __init__(self, pod: Pod, objects: Objects, leaving: Leaving) -> None:
        self._pod = pod
        self._objects = objects
        self._leaving = leaving
        self._models: dict[object, str] = {}
        """By what a new node looks like, the first that it is like."""

    def against(self, unmet: Sequence[Requirement], node: str) -> list[Action]:
        """Return actions each of which may meet all that one plugin asks of a node."""
        rooms = [each for each in unmet if isinstance(each, ResourceRoom)]
        if rooms:
            return list(self._room(rooms, node))
        if len(unmet) == 1:
            return list(self._one(unmet[0], node))
        taints = [each.taint for each in unmet if isinstance(each, TaintTolerated)]
        if len(taints) == len(unmet):
            return list(self._taints(taints, node))
        # From the last to the first: what takes an element off a list moves those behind it.
        choices = [list(self._one(requirement, node)) for requirement in reversed(unmet)]
        ways = [together(each) for each in product(*choices)]
        return sorted(ways, key=lambda each: len(each.parts))[:MAX_TOGETHER]

    def against_pod(self, unmet: Sequence[Requirement]) -> list[Action]:
        """Return the actions against what rejects the pod before any node is looked at."""
        return [each for requirement in unmet for each in self._one(requirement, "")]

    def _one(self, requirement: Requirement, node: str) -> Iterator[Action]:
        match requirement:
            case Cordoned() | TaintTolerated() | SelectorLabel() | AffinityTerms():
                yield from self._about_node(requirement, node)
            case PodsNear(n_anywhere=n):
                index = self._index(requirement)
                yield from self._soften("podAffinity", index)
                there = self._objects.get(Node, node)
                if n == 1 and there is not None:
                    term = self._terms(requirement)[index]
                    yield from self._leaving.brought(term, self._pod.namespace, there)
            case PodsApart() | KeptOut():
                yield from self._taken(requirement)
                yield self._one_apart(node, requirement.topology_key)
            case PortFree() | DiskFree():
                yield from self._taken(requirement)
                yield self.one_more(node)
            case ClaimsUnused(users=users):
                if 0 < len(users) <= MAX_LEAVING:
                    yield from self._leaving.of(users)
            case SpreadKept():
                yield from self._spread(requirement, node)
            case DevicesAvailable():
                wanted, leaving = requirement, self._leaving
                yield from devices_had(wanted, self._pod, self._objects, node, leaving)
            case GatesLifted():
                yield action("gate", set_on(self._pod, "spec.schedulingGates", None))
            case _:
                yield from self._stored(requirement, node)

    def _stored(self, requirement: Requirement, node: str) -> Iterator[Action]:
        """Yield what helps where claims and volumes are in the way."""
        objects = self._objects
        match requirement:
            case ClaimReady():
                yield from claim_provided(requirement, objects)
            case ClaimBindable():
                yield from claim_bindable(requirement, objects)
            case VolumeUsable():
                yield from volume_usable(requirement, objects, node)
            case VolumeZoneMatched(volume=volume):
                yield from volume_there(volume, objects, node)
            case VolumesAttachable():
                yield from attachable(requirement, objects, node, self._leaving)
                yield self.one_more(node)
            case DriverInstalled():
                yield from driver_installed(requirement, objects, node)

    def one_more(self, node: str) -> Action:
        """Return one more node like one, or like an earlier one that it would be the same as."""
        known = self._objects.get(Node, node)
        looks = (zone_of(known), looks_of(in_good_health(known))) if known is not None else node
        return one_more(self._models.setdefault(looks, node), self._objects)

    def is_of_control_plane(self, node: str) -> bool:
        """Return whether a node is kept for the control plane: workers are thought of first."""
        known = self._objects.get(Node, node)
        return known is not None and any(each.key in CONTROL_PLANE for each in known.spec.taints)

    def _one_apart(self, node: str, topology_key: str) -> Action:
        """Return one more node like one, in another domain than any."""
        if topology_key == HOSTNAME:
            return self.one_more(node)
        return self._one_elsewhere(node, topology_key)

    def _one_elsewhere(self, node: str, topology_key: str) -> Action:
        known = self._objects.get(Node, node)
        looks = (topology_key, looks_of(in_good_health(known))) if known is not None else node
        model = self._models.setdefault(looks, node)
        return one_elsewhere(model, topology_key, self._objects)

    def _about_node(self, requirement: Requirement, node: str) -> Iterator[Action]:
        match requirement:
            case Cordoned():
                yield self._uncordon(node)
                tolerate = action("tolerate", set_on(self._pod, NEW_TOLERATION, CORDON_TOLERATION))
                yield tolerate.dearer(AGAINST_THE_NODE)
            case TaintTolerated():
                yield from self._taints([requirement.taint], node)
            case SelectorLabel(key=key, value=value):
                yield action("selector", set_on(self._pod, f"spec.nodeSelector{in_map(key)}", None))
                if key != HOSTNAME:
                    yield action("label", SetLabel(node, key, value))
            case AffinityTerms(source="pod", terms=terms):
                yield from self._node_affinity(terms, node)

    def _uncordon(self, name: str) -> Action:
        """Return the end of a cordon, with the taint that the node controller takes off then."""
        node = self._objects.get(Node, name)
        taints = node.spec.taints if node is not None else ()
        also = (RemoveTaint(name, each.key) for each in taints if each.key == CORDON_TAINT)
        return action("uncordon", Cordon(name, False), *also)

    def _taken(self, requirement: Requirement) -> Iterator[Action]:
        """Yield what helps where other pods are in the way."""
        match requirement:
            case PodsApart(pods=pods):
                yield from self._soften("podAntiAffinity", self._index(requirement))
                yield from self._leaving_domain(pods)
            case KeptOut(pods=pods):
                yield from self._leaving_domain(pods)
            case PortFree(holder=holder):
                yield from self._port(requirement)
                yield from self._leaving.of([holder])
            case DiskFree(holder=holder):
                yield from self._leaving.of([holder])

    # ------------------------------------------------------------ taints and labels

    def _taints(self, taints: Sequence[Taint], node: str) -> Iterator[Action]:
        tolerations = (set_on(self._pod, NEW_TOLERATION, _toleration(each)) for each in taints)
        tolerate = action("tolerate", *tolerations).dearer(len(taints) - 1)
        ill = any(each.key.startswith(OF_CONDITIONS) for each in taints)
        apart = ill or any(each.key in CONTROL_PLANE for each in taints)
        more = AGAINST_THE_NODE if apart else 0
        removals = [RemoveTaint(node, each.key, each.effect) for each in taints]
        known = self._objects.get(Node, node)
        away = known is not None and is_out_of_reach(known)
        if known is not None and away and all(each.key in OUT_OF_REACH for each in taints):
            yield back(known)
        elif all(is_off_when_ready(each.key) for each in taints):
            yield action("ready", *removals)
        yield tolerate.dearer(more)
        if not ill:
            yield action("untaint", *removals).dearer(len(taints) - 1 + more)

    def _node_affinity(self, terms: Sequence[Term], node: str) -> Iterator[Action]:
        place = f"spec.affinity.nodeAffinity.{REQUIRED}"
        document = _at(object_document(self._pod), "spec", "affinity", "nodeAffinity", REQUIRED)
        wanted = document.get("nodeSelectorTerms") if isinstance(document, dict) else None
        owner = controller_of(self._pod)
        if owner is not None and owner.kind == DAEMON_SET:
            pass  # its controller pins the next one there again
        elif isinstance(wanted, list) and all("matchFields" not in each for each in wanted):
            softer = [
                set_on(
                    self._pod,
                    f"spec.affinity.nodeAffinity.{PREFERRED}[+]",
                    {"weight": MOST_WEIGHT, "preference": each},
                )
                for each in wanted
            ]
            yield action("soften", *softer, set_on(self._pod, place, None))
        else:
            yield action("soften", set_on(self._pod, place, None)).dearer(1)
        for term in terms:
            labels = dict(_labels_for(term))
            if labels and len(labels) == len(term.missed) and not term.errors:
                set_labels = (SetLabel(node, key, value) for key, value in labels.items())
                yield action("label", *set_labels).dearer(len(labels) - 1)

    # ------------------------------------------------------------ other pods

    def _index(self, requirement: PodsNear | PodsApart) -> int:
        """Return the place of a term among the required ones, by what it says."""
        keys = [each.topology_key for each in self._terms(requirement)]
        return keys.index(requirement.topology_key)

    def _terms(self, requirement: PodsNear | PodsApart) -> Sequence[PodAffinityTerm]:
        affinity = self._pod.spec.affinity
        assert affinity is not None
        near = isinstance(requirement, PodsNear)
        group = affinity.pod_affinity if near else affinity.pod_anti_affinity
        return group.required_during_scheduling_ignored_during_execution if group else ()

    def _soften(self, group: str, index: int) -> Iterator[Action]:
        terms = _at(object_document(self._pod), "spec", "affinity", group, REQUIRED)
        assert isinstance(terms, list)
        term = {"weight": MOST_WEIGHT, "podAffinityTerm": terms[index]}
        yield action(
            "soften",
            set_on(self._pod, f"spec.affinity.{group}.{PREFERRED}[+]", term),
            set_on(self._pod, f"spec.affinity.{group}.{REQUIRED}[{index}]", None),
        )

    def _leaving_domain(self, pods: DomainPods) -> Iterator[Action]:
        names = list(dict.fromkeys(name for name, _ in pods.some))
        if len(names) == pods.n <= MAX_LEAVING:
            yield from self._leaving.of(names)

    def _spread(self, kept: SpreadKept, node: str) -> Iterator[Action]:
        constraints = self._pod.spec.topology_spread_constraints
        index = next(
            i
            for i, each in enumerate(constraints)
            if each.topology_key == kept.topology_key and each.max_skew == kept.max_skew
        )
        place = f"spec.topologySpreadConstraints[{index}]"
        if constraints[index].node_taints_policy != HONOR:
            yield action("nodeTaints", set_on(self._pod, f"{place}.nodeTaintsPolicy", HONOR))
        yield from self._own_revision(place, constraints[index].match_label_keys)
        if kept.n_domains < kept.min_domains:
            yield action("minDomains", set_on(self._pod, f"{place}.minDomains", kept.n_domains))
        yield action("soften", set_on(self._pod, f"{place}.whenUnsatisfiable", "ScheduleAnyway"))
        if kept.topology_key != HOSTNAME:
            yield self._one_elsewhere(node, kept.topology_key)
        if kept.domain is not None:
            yield action("maxSkew", set_on(self._pod, f"{place}.maxSkew", kept.skew))
            yield from self._leaving_domain(kept.pods)
        elif kept.topology_key != HOSTNAME:
            names = [each.domain for each in kept.domains]
            value = names[0] if names else "a"
            yield action("label", SetLabel(node, kept.topology_key, value))

    def _own_revision(self, place: str, keys: Sequence[str]) -> Iterator[Action]:
        """Yield a constraint that counts only the pods of the pod's own rollout."""
        for key in REVISIONS:
            value = self._pod.metadata.labels.get(key)
            if value and key not in keys:
                named = set_on(self._pod, f"{place}.matchLabelKeys[+]", key)
                yield action("labelKeys", named)
                return

    # ------------------------------------------------------------ room

    def _port(self, wanted: PortFree) -> Iterator[Action]:
        for i, container in enumerate(self._pod.spec.containers):
            # With hostNetwork the pod has its ports on the node, whatever it says of them.
            for j, port in enumerate(() if self._pod.spec.host_network else container.ports):
                if port.host_port == wanted.port.port:
                    path = f"spec.containers[{i}].ports[{j}].hostPort"
                    yield action("hostPort", set_on(self._pod, path, None))
                    return

    def _room(self, rooms: Sequence[ResourceRoom], node: str) -> Iterator[Action]:
        shrink = shrunk(self._pod, {each.resource: each.free for each in rooms})
        if shrink is not None:
            yield shrink
        yield from self._sidecars({each.resource for each in rooms})
        if all(each.requested <= each.allocatable for each in rooms):
            short = {each.resource: each.short for each in rooms}
            yield from self._leaving.making_room(node, short)
            yield self.one_more(node)

    def _sidecars(self, resources: Set[str]) -> Iterator[Action]:
        """Yield a sidecar that asks for what is short, made an init container that ends."""
        for i, container in enumerate(self._pod.spec.init_containers):
            if container.restart_policy and resources & container.resources.requests.keys():
                path = f"spec.initContainers[{i}].restartPolicy"
                yield action("sidecar", set_on(self._pod, path, None))


def _toleration(taint: Taint) -> dict[str, object]:
    if taint.value:
        values = {"key": taint.key, "operator": "Equal", "value": taint.value}
        return {**values, "effect": taint.effect}
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect}


def _labels_for(term: Term) -> Iterator[tuple[str, str]]:
    """Yield labels that would meet the expressions of a term that are not met, if any do."""
    for each in term.missed:
        if each.field or each.key == HOSTNAME:
            continue
        if each.operator == "In" and each.values:
            yield each.key, each.values[0]
        elif each.operator == "Exists":
            yield each.key, ""


def _at(document: object, *path: str) -> object:
    for name in path:
        if not isinstance(document, dict):
            return None
        document = document.get(name)
    return document
