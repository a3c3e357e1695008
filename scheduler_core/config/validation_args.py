"""Validation of the arguments of the plugins in the tree.

Upstream: v1.36 pkg/scheduler/apis/config/validation/validation_pluginargs.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from scheduler_core.api.labels import label_key_problems
from scheduler_core.api.selectors import node_term_errors, node_term_is_empty
from scheduler_core.api.types import NodeAffinity, NodeSelectorTerm, TopologySpreadConstraint
from scheduler_core.config.defaults import binding_conditions
from scheduler_core.config.duration import format_duration
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.problems import (
    Path,
    Problem,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from scheduler_core.config.types import (
    MAX_CUSTOM_SCORE,
    Args,
    DefaultingType,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    ScoringStrategy,
    ScoringStrategyType,
    UtilizationShapePoint,
    VolumeBindingArgs,
)

_SECOND_NS: Final = 1_000_000_000
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
_STEP: Final = re.compile(r"\[(\d+)\]|\[[^\]]*\]|([^.\[\]]+)")


def args_problems(path: Path, args: Args, gates: FeatureGates) -> Iterator[Problem]:
    """What is wrong with a plugin's arguments; `path` is where these stand."""
    match args:
        case DefaultPreemptionArgs():
            yield from _default_preemption(path, args)
        case DynamicResourcesArgs():
            yield from _dynamic_resources(path, args, gates)
        case InterPodAffinityArgs():
            yield from _inter_pod_affinity(path, args)
        case NodeAffinityArgs(added_affinity=NodeAffinity() as affinity):
            yield from _added_affinity((*path, "addedAffinity"), affinity)
        case NodeResourcesBalancedAllocationArgs():
            yield from _balanced_allocation((*path, "resources"), args)
        case NodeResourcesFitArgs():
            yield from _node_resources_fit(path, args)
        case PodTopologySpreadArgs():
            yield from _pod_topology_spread(path, args)
        case VolumeBindingArgs():
            yield from _volume_binding(path, args, gates)


def _default_preemption(path: Path, args: DefaultPreemptionArgs) -> Iterator[Problem]:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    percentage_path = (*path, "minCandidateNodesPercentage")
    absolute_path = (*path, "minCandidateNodesAbsolute")
    if not 0 <= percentage <= 100:
        yield invalid(percentage_path, percentage, "not in valid range [0, 100]")
    if absolute < 0:
        yield invalid(absolute_path, absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        detail = "cannot be zero at the same time as"
        yield invalid(percentage_path, percentage, f"{detail} minCandidateNodesAbsolute")
        yield invalid(absolute_path, absolute, f"{detail} minCandidateNodesPercentage")


def _dynamic_resources(
    path: Path, args: DynamicResourcesArgs, gates: FeatureGates
) -> Iterator[Problem]:
    filter_path, binding_path = (*path, "filterTimeout"), (*path, "bindingTimeout")
    filter_ns, binding_ns = args.filter_timeout_ns, args.binding_timeout_ns
    if filter_ns is not None:
        if not gates.enabled("DRASchedulerFilterTimeout"):
            detail = "DRASchedulingFilterTimeout feature gate is disabled"
            yield forbidden(filter_path, detail)
        elif filter_ns < 0:
            yield invalid(filter_path, format_duration(filter_ns), "must be zero or positive")
    if binding_ns is not None:
        if not binding_conditions(gates):
            gate = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate"
            yield forbidden(binding_path, f"{gate} is disabled")
        elif binding_ns < _SECOND_NS:
            yield invalid(binding_path, format_duration(binding_ns), "must be at least 1 second")


def _inter_pod_affinity(path: Path, args: InterPodAffinityArgs) -> Iterator[Problem]:
    weight = args.hard_pod_affinity_weight
    if not 0 <= weight <= 100:
        yield invalid((*path, "hardPodAffinityWeight"), weight, "not in valid range [0, 100]")


def _added_affinity(path: Path, affinity: NodeAffinity) -> Iterator[Problem]:
    selector = affinity.required_during_scheduling_ignored_during_execution
    terms = selector.node_selector_terms if selector else ()
    here = (*path, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    for index, term in enumerate(terms):
        yield from _node_term((*here, index), term)
    here = (*path, "preferredDuringSchedulingIgnoredDuringExecution")
    for index, preferred in enumerate(
        affinity.preferred_during_scheduling_ignored_during_execution
    ):
        # Upstream never looks into a term that weighs nothing.
        if preferred.weight != 0:
            yield from _node_term((*here, index, "preference"), preferred.preference)


def _node_term(path: Path, term: NodeSelectorTerm) -> Iterator[Problem]:
    if node_term_is_empty(term):
        return
    for error in node_term_errors(term):
        where, _, message = error.partition(": ")
        found = _STEP.findall(where)
        steps = (int(index) if index else name for index, name in found if index or name)
        yield Problem((*path, *steps), message)


def _balanced_allocation(
    path: Path, args: NodeResourcesBalancedAllocationArgs
) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, resource in enumerate(args.resources):
        if resource.name in seen:
            yield duplicate((*path, index, "name"), resource.name)
        seen.add(resource.name)
        if resource.weight != 1:
            yield invalid((*path, index, "weight"), resource.weight, "must be 1")


def _node_resources_fit(path: Path, args: NodeResourcesFitArgs) -> Iterator[Problem]:
    for index, resource in enumerate(args.ignored_resources):
        yield from _label_name((*path, "ignoredResources", index), resource)
    for index, group in enumerate(args.ignored_resource_groups):
        here = (*path, "ignoredResourceGroups", index)
        if "/" in group:
            yield invalid(here, group, "resource group name can't contain '/'")
        yield from _label_name(here, group)
    yield from _scoring_strategy((*path, "scoringStrategy"), args.scoring_strategy)


def _scoring_strategy(path: Path, strategy: ScoringStrategy) -> Iterator[Problem]:
    supported = sorted(ScoringStrategyType)
    if strategy.type not in supported:
        yield not_supported((*path, "type"), strategy.type, supported)
    for index, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            detail = f"resource weight of {resource.name} not in valid range (0, 100]"
            yield invalid((*path, "resources", index, "weight"), resource.weight, detail)
    ratio = strategy.requested_to_capacity_ratio
    here = (*path, "requestedToCapacityRatio")
    if strategy.type != ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO:
        if ratio is not None:
            yield forbidden(here, "must be nil when type is not RequestedToCapacityRatio")
    elif ratio is None:
        yield required(here, "must be specified when type is RequestedToCapacityRatio")
    else:
        yield from _shape((*here, "shape"), ratio.shape)


def _shape(path: Path, shape: Sequence[UtilizationShapePoint]) -> Iterator[Problem]:
    if not shape:
        yield required(path, "at least one point must be specified")
    for index in range(1, len(shape)):
        if shape[index - 1].utilization >= shape[index].utilization:
            detail = "values must be sorted in increasing order"
            yield invalid((*path, index, "utilization"), shape[index].utilization, detail)
            break
    for index, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            here = (*path, index, "utilization")
            yield invalid(here, point.utilization, "not in valid range [0, 100]")
        if not 0 <= point.score <= MAX_CUSTOM_SCORE:
            detail = f"not in valid range [0, {MAX_CUSTOM_SCORE}]"
            yield invalid((*path, index, "score"), point.score, detail)


def _pod_topology_spread(path: Path, args: PodTopologySpreadArgs) -> Iterator[Problem]:
    here = (*path, "defaultingType")
    supported = (DefaultingType.SYSTEM, DefaultingType.LIST)
    if args.defaulting_type not in supported:
        yield not_supported(here, args.defaulting_type, supported)
    elif args.defaulting_type == DefaultingType.SYSTEM and args.default_constraints:
        yield invalid(here, args.defaulting_type, "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(args.default_constraints):
        here = (*path, "defaultConstraints", index)
        yield from _constraint(here, constraint)
        same = (constraint.topology_key, constraint.when_unsatisfiable)
        if same in seen:
            yield duplicate(here, f"{{{same[0]}, {same[1]}}}")
        seen.add(same)


def _constraint(path: Path, constraint: TopologySpreadConstraint) -> Iterator[Problem]:
    if constraint.max_skew <= 0:
        yield invalid((*path, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)")
    if constraint.topology_key:
        yield from _label_name((*path, "topologyKey"), constraint.topology_key)
    else:
        yield required((*path, "topologyKey"), "can not be empty")
    action = constraint.when_unsatisfiable
    if not action:
        yield required((*path, "whenUnsatisfiable"), "can not be empty")
    elif action not in _ACTIONS:
        yield not_supported((*path, "whenUnsatisfiable"), action, _ACTIONS)
    if constraint.label_selector is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        yield forbidden((*path, "labelSelector"), detail)


def _volume_binding(path: Path, args: VolumeBindingArgs, gates: FeatureGates) -> Iterator[Problem]:
    if args.bind_timeout_seconds < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid((*path, "bindTimeoutSeconds"), args.bind_timeout_seconds, detail)
    if gates.enabled("StorageCapacityScoring"):
        yield from _shape((*path, "shape"), args.shape or ())
    elif args.shape is not None:
        detail = (
            "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        )
        yield invalid((*path, "shape"), args.shape, detail)


def _label_name(path: Path, name: str) -> Iterator[Problem]:
    for message in label_key_problems(name):
        yield invalid(path, name, message)
