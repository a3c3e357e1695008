"""Which of the scheduler's own bugs decide what became of a pod (`releases/bugs.py`).

A bug is looked for where the pod or what it meets is of the kind it concerns. One that a switch
fixes is mentioned only if the pod's outcome differs with the switch: it is attempted both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeVar

from msgspec import structs

from scheduler_core.analysis.advice.single_attempt import SingleAttempt, attempt_once
from scheduler_core.api import (
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    KubeObject,
    LabelSelector,
    Node,
    Pod,
    PodAffinityTerm,
    PodDisruptionBudget,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from scheduler_core.api.selectors import label_selector_is_empty, label_selector_matches
from scheduler_core.cluster.pods import controller_of
from scheduler_core.evidence.domain_pods import selector_text
from scheduler_core.releases import first_with
from scheduler_core.releases.bugs import BUGS, BugName, bug_met
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.sim.run import admitted
from scheduler_core.wording import say, series, some_of

T = TypeVar("T", bound=KubeObject)

DAEMON_SET: Final = "DaemonSet"


@dataclass(frozen=True, slots=True)
class FoundBug:
    """A bug that decides, and one sentence or more about it: where, what happens, what to write.

    `upstream` is a number as in `#141339`, empty where none is known.
    """

    name: str
    upstream: str
    sentence: str


def bugs_about(
    objects: Sequence[KubeObject],
    pod: str,
    options: SchedulerOptions,
    node: str = "",
    message: str = "",
) -> tuple[FoundBug, ...]:
    """Return the bugs that decide about a pending pod (`namespace/name`) among `objects`.

    `node` is the one it goes to, empty if it finds none; then there is a `message`. Extenders are
    not called. Raises ConfigError and PluginFailure.
    """
    items, _ = admitted(objects)
    found = next((item for item in items if isinstance(item, Pod) and item.key == pod), None)
    if found is None or found.spec.node_name:
        return ()
    plain = SchedulerOptions(
        configuration=options.configuration,
        features=options.features,
        registry=options.registry,
        tie_break=options.tie_break,
    )
    case = _Case(found, items, plain, node, message)
    return tuple(case.bugs())


def bugs_in(cycle: ReenactedCycle, message: str) -> tuple[FoundBug, ...]:
    """Return the same of a cycle that has decided; `message` is what it ended with."""
    objects = cycle.objects.objects()
    return bugs_about(objects, cycle.pod, cycle.scheduling, cycle.node, message)


def bugs_documents(found: Iterable[FoundBug]) -> list[dict[str, object]]:
    """Return the one shape in which REST and commands give them out."""
    return [
        {"name": each.name, "upstream": each.upstream, "sentence": each.sentence} for each in found
    ]


class _Case:
    """A pod, what it meets, and how it fares."""

    def __init__(
        self,
        pod: Pod,
        objects: Sequence[KubeObject],
        options: SchedulerOptions,
        node: str,
        message: str,
    ) -> None:
        self.pod = pod
        self.objects = objects
        self.options = options
        self.node = node
        self.message = message

    def bugs(self) -> Iterator[FoundBug]:
        features = self.options.features
        for name, look in _LOOKING.items():
            if name not in features.release.bugs:
                continue
            where = next(look(self), "")
            if not where:
                continue
            sentence, bug = bug_met(name, where, str(features.release)), BUGS[name]
            if bug.mended_by:
                otherwise = self._otherwise(bug.mended_by)
                if not otherwise:
                    continue
                sentence = say(
                    "bug.and_mended",
                    "{bug} {release} has mended it: {outcome}.",
                    bug=sentence,
                    release=str(first_with(bug.mended_by)),
                    outcome=otherwise,
                )
            yield FoundBug(name, bug.upstream, sentence)

    # ------------------------------------------------------------ how the pod fares

    @cached_property
    def attempt(self) -> SingleAttempt:
        return attempt_once(self.objects, self.pod.key, self.options)

    def _otherwise(self, switch: str) -> str:
        """Return how the pod fares with a switch on, empty if no otherwise."""
        features, before = self.options.features, self.attempt
        if before.node != self.node:
            return ""
        switches = structs.replace(features.release.switches, **{switch: True})
        release = structs.replace(features.release, switches=switches)
        options = replace(self.options, features=structs.replace(features, release=release))
        after = attempt_once(self.objects, self.pod.key, options)
        return "" if _fares(after) == _fares(before) else _outcome(after)

    # ------------------------------------------------------------ what it meets

    def of(self, kind: type[T]) -> Iterator[T]:
        return (each for each in self.objects if isinstance(each, kind))

    @cached_property
    def pods(self) -> Mapping[str, Pod]:
        return {each.key: each for each in self.of(Pod)}

    @cached_property
    def victims(self) -> tuple[Pod, ...]:
        keys = () if self.node else self.attempt.victims
        return tuple(self.pods[key] for key in keys if key in self.pods)

    @cached_property
    def claims(self) -> tuple[ResourceClaim | ResourceClaimTemplate, ...]:
        """The claims that the pod names, and the templates of those made for it."""
        if not self.pod.spec.resource_claims:
            return ()
        namespace = f"{self.pod.namespace}/"
        named = {namespace + each.resource_claim_name for each in self.pod.spec.resource_claims}
        made = {
            namespace + each.resource_claim_template_name for each in self.pod.spec.resource_claims
        }
        return (
            *(each for each in self.of(ResourceClaim) if each.key in named),
            *(each for each in self.of(ResourceClaimTemplate) if each.key in made),
        )

    @cached_property
    def requests(self) -> tuple[ExactDeviceRequest | DeviceSubRequest | DeviceRequest, ...]:
        """What its claims ask for, alternatives among it."""
        asked = [each for claim in self.claims for each in _devices(claim).requests]
        exact = (each.exactly or each for each in asked if not each.first_available)
        return (*exact, *(sub for each in asked for sub in each.first_available))

    @property
    def slices_with_counters(self) -> Iterator[ResourceSlice]:
        for each in self.of(ResourceSlice):
            if any(device.consumes_counters for device in each.spec.devices):
                yield each


def _devices(claim: ResourceClaim | ResourceClaimTemplate) -> DeviceClaim:
    return claim.spec.devices if isinstance(claim, ResourceClaim) else claim.spec.spec.devices


def _fares(attempt: SingleAttempt) -> tuple[object, ...]:
    return attempt.node, attempt.nominated, attempt.victims, attempt.devices, attempt.feasible


def _outcome(attempt: SingleAttempt) -> str:
    if attempt.node and attempt.devices:
        devices = series(device for devices in attempt.devices.values() for device in devices)
        return say(
            "bug.takes_devices",
            "it takes {devices} on {node}",
            devices=devices,
            node=attempt.node,
        )
    if attempt.node:
        return say("bug.takes_node", "it is bound to {node}", node=attempt.node)
    if attempt.victims:
        return say(
            "bug.evicts",
            "it evicts {pods} on {node}",
            pods=some_of(attempt.victims),
            node=attempt.nominated,
        )
    return say("bug.takes_none", "no node takes it")


# ---------------------------------------------------------------- where each bug is met

Look = Callable[[_Case], Iterator[str]]


def _spread(case: _Case, is_met: Callable[[LabelSelector | None], bool]) -> Iterator[str]:
    for i, each in enumerate(case.pod.spec.topology_spread_constraints):
        if is_met(each.label_selector) and not each.match_label_keys:
            yield f"topologySpreadConstraints[{i}]"


def _empty_spread_selector(case: _Case) -> Iterator[str]:
    yield from _spread(case, lambda each: each is not None and label_selector_is_empty(each))


def _no_spread_selector(case: _Case) -> Iterator[str]:
    yield from _spread(case, lambda each: each is None)


def _empty_budget_selector(case: _Case) -> Iterator[str]:
    """Yield the budgets that cover victims and that preemption passes over."""
    budgets = list(case.of(PodDisruptionBudget))
    if not budgets or case.node:
        return
    passed_over = (
        budget.key
        for budget in budgets
        for pod in case.victims
        if budget.namespace == pod.namespace
        and budget.spec.selector is not None
        and label_selector_matches(budget.spec.selector, pod.metadata.labels)
        and (label_selector_is_empty(budget.spec.selector) or not pod.metadata.labels)
    )
    for key in passed_over:
        yield f"PodDisruptionBudget {key}"


def _budgets_used_up(case: _Case) -> Iterator[str]:
    budgets = list(case.of(PodDisruptionBudget))
    if len(budgets) > 1 and not case.node and case.attempt.nominated:
        yield case.attempt.nominated


def _namespaces_without_labels(case: _Case) -> Iterator[str]:
    """Yield the selectors that are read so; terms of pods that are there already are read right."""
    for term in _terms(case.pod):
        selector = term.namespace_selector
        if (
            selector is not None
            and not label_selector_is_empty(selector)
            and label_selector_matches(selector, {})
        ):
            yield f"namespaceSelector {selector_text(selector)}"


def _terms(pod: Pod) -> Iterator[PodAffinityTerm]:
    affinity = pod.spec.affinity
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ():
        if each is not None:
            yield from each.required_during_scheduling_ignored_during_execution
            preferred = each.preferred_during_scheduling_ignored_during_execution
            yield from (weighted.pod_affinity_term for weighted in preferred)


def _refused_devices(case: _Case) -> Iterator[str]:
    if case.claims:
        yield from (f"ResourceSlice {each.name}" for each in case.slices_with_counters)


def _neighbours_distinct(case: _Case) -> Iterator[str]:
    for claim in case.claims:
        if any(each.distinct_attribute for each in _devices(claim).constraints):
            yield f"{claim.kind} {claim.key}"


def _admin_counters(case: _Case) -> Iterator[str]:
    asks = any(
        not isinstance(each, DeviceSubRequest) and each.admin_access for each in case.requests
    )
    if asks and "cannot allocate" in case.message:
        yield from (f"ResourceSlice {each.name}" for each in case.slices_with_counters)


def _shares_charged_again(case: _Case) -> Iterator[str]:
    if "cannot allocate" not in case.message or not case.requests:
        return
    for each in case.slices_with_counters:
        if any(device.allow_multiple_allocations for device in each.spec.devices):
            yield f"ResourceSlice {each.name}"


def _all_of_incomplete_pool(case: _Case) -> Iterator[str]:
    if "is currently being updated" not in case.message or not case.requests:
        return
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for each in case.of(ResourceSlice):
        pools.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
    for (_driver, name), slices in pools.items():
        newest = max(each.spec.pool.generation for each in slices)
        current = [each.spec.pool for each in slices if each.spec.pool.generation == newest]
        if len(current) < current[0].resource_slice_count:
            yield say("bug.pool", "pool {name}", name=name)


def _classes_of_one_resource(case: _Case) -> Iterator[str]:
    spec = case.pod.spec
    asked = {
        name
        for container in (*spec.init_containers, *spec.containers)
        if container.resources is not None
        for name in (*container.resources.requests, *container.resources.limits)
    }
    classes: dict[str, list[str]] = {}
    for each in case.of(DeviceClass):
        classes.setdefault(each.spec.extended_resource_name, []).append(each.name)
    for resource in sorted(asked):
        if len(classes.get(resource, ())) > 1:
            yield f"{resource}, DeviceClass {some_of(sorted(classes[resource]))}"


def _equals_keep_daemon(case: _Case) -> Iterator[str]:
    pod = case.pod
    if case.node or not _is_daemons(pod) or case.attempt.nominated:
        return
    node = _only_node(pod)
    if all(each.name != node for each in case.of(Node)):
        return
    priority = pod.spec.priority or 0
    there = [each for each in case.of(Pod) if each.spec.node_name == node and not _is_daemons(each)]
    keeping = [each.key for each in there if (each.spec.priority or 0) >= priority]
    equal = any((each.spec.priority or 0) == priority for each in there)
    if equal and case.attempt.ending == "pending":
        yield say("bug.daemon_node", "{node}, with {pods}", node=node, pods=some_of(keeping))


def _only_node(pod: Pod) -> str:
    """Return the node that the DaemonSet's controller has written into a pod."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    names = {
        value
        for term in (required.node_selector_terms if required else ())
        for each in term.match_fields
        if each.key == "metadata.name" and each.operator == "In"
        for value in each.values
    }
    return names.pop() if len(names) == 1 else ""


def _daemon_evicted(case: _Case) -> Iterator[str]:
    evicted = [each.key for each in _may_evict(case) if _is_daemons(each)]
    if evicted:
        yield some_of(evicted)


def _may_evict(case: _Case) -> Sequence[Pod]:
    """Return the victims, if a pod of a DaemonSet may be among them at all."""
    pods = (each for each in case.of(Pod) if each.spec.node_name)
    return case.victims if any(map(_is_daemons, pods)) else ()


def _is_daemons(pod: Pod) -> bool:
    owner = controller_of(pod)
    return owner is not None and owner.kind == DAEMON_SET


def _extender_empties_nodes(case: _Case) -> Iterator[str]:
    if case.node:
        for each in case.options.configuration.extenders:
            if each.filter_verb and not each.node_cache_capable:
                yield say("bug.extender", "extender {url}", url=each.url_prefix)


def _extender_without_victims(case: _Case) -> Iterator[str]:
    extenders = case.options.configuration.extenders
    named = [each for each in extenders if each.preempt_verb and not each.ignorable]
    if named and "expected at least one victim pod" in case.message:
        yield say("bug.extender", "extender {url}", url=named[0].url_prefix)


_LOOKING: Final[Mapping[BugName, Look]] = {
    "refused_devices": _refused_devices,
    "neighbours_distinct": _neighbours_distinct,
    "namespaces_without_labels": _namespaces_without_labels,
    "budgets_used_up": _budgets_used_up,
    "empty_spread_selector": _empty_spread_selector,
    "no_spread_selector": _no_spread_selector,
    "empty_budget_selector": _empty_budget_selector,
    "equals_keep_daemon": _equals_keep_daemon,
    "daemon_evicted": _daemon_evicted,
    "extender_empties_nodes": _extender_empties_nodes,
    "extender_without_victims": _extender_without_victims,
    "admin_counters": _admin_counters,
    "all_of_incomplete_pool": _all_of_incomplete_pool,
    "classes_of_one_resource": _classes_of_one_resource,
    "shares_charged_again": _shares_charged_again,
}
