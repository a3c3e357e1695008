"""Spread constraints as the plugin works with them, and the defaults of pods without any.

Upstream: v1.36 plugins/podtopologyspread/common.go and plugins/helper/spread.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from msgspec.structs import replace

from scheduler_core.api import (
    LabelSelector,
    LabelSelectorRequirement,
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    TopologySpreadConstraint,
)
from scheduler_core.api.selectors import (
    find_untolerated_taint,
    label_selector_error,
    label_selector_is_empty,
    labels_match,
)
from scheduler_core.cluster.arrays import BoolArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pod_selection import PodSelection
from scheduler_core.cluster.topology_keys import HOSTNAME, ZONE
from scheduler_core.framework.node_selection import RequiredNodeAffinity

DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"
HONOR: Final = "Honor"
IGNORE: Final = "Ignore"
HARD_EFFECTS: Final = ("NoSchedule", "NoExecute")

SYSTEM_DEFAULT_CONSTRAINTS: Final = (
    TopologySpreadConstraint(topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY, max_skew=3),
    TopologySpreadConstraint(topology_key=ZONE, when_unsatisfiable=SCHEDULE_ANYWAY, max_skew=5),
)


class InvalidSelectorError(ValueError):
    """A constraint's label selector is malformed; the message is upstream's."""


@dataclass(frozen=True, eq=False)
class SpreadConstraint:
    """One constraint with its selector completed and every default filled in."""

    max_skew: int
    topology_key: str
    selection: PodSelection
    min_domains: int
    node_affinity_policy: str
    node_taints_policy: str

    @cached_property
    def selects_everything(self) -> bool:
        """Whether the selector is empty: such a constraint counts no pods that are there."""
        selector = self.selection.selector
        return selector is not None and label_selector_is_empty(selector)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the selector matches, whatever the namespace."""
        return PodSelection(self.selection.selector, None).matches("", labels)


def spread_constraints(
    constraints: Iterable[TopologySpreadConstraint],
    pod: Pod,
    action: str,
    *,
    merge_label_keys: bool = True,
) -> tuple[SpreadConstraint, ...]:
    """Return the constraints with that `whenUnsatisfiable`. Raises InvalidSelectorError.

    `merge_label_keys`: the gate MatchLabelKeysInPodTopologySpread.
    """
    result = []
    for constraint in constraints:
        if constraint.when_unsatisfiable != action:
            continue
        error = label_selector_error(constraint.label_selector)
        if error:
            raise InvalidSelectorError(error)
        selector = constraint.label_selector
        if merge_label_keys:
            selector = _with_label_keys(selector, constraint.match_label_keys, pod.metadata.labels)
        min_domains = constraint.min_domains
        result.append(
            SpreadConstraint(
                max_skew=constraint.max_skew,
                topology_key=constraint.topology_key,
                selection=PodSelection(selector, frozenset((pod.namespace,))),
                min_domains=1 if min_domains is None else min_domains,
                node_affinity_policy=constraint.node_affinity_policy or HONOR,
                node_taints_policy=constraint.node_taints_policy or IGNORE,
            )
        )
    return tuple(result)


def _with_label_keys(
    selector: LabelSelector | None, keys: Iterable[str], labels: Mapping[str, str]
) -> LabelSelector | None:
    """Ask for the pod's own values of `keys` too; a selector of nothing stays one."""
    own = [_equals(key, labels[key]) for key in keys if key in labels]
    if selector is None or not own:
        return selector
    return replace(selector, match_expressions=(*selector.match_expressions, *own))


def _equals(key: str, value: str) -> LabelSelectorRequirement:
    return LabelSelectorRequirement(key=key, operator="In", values=(value,))


# ---------------------------------------------------------------- default constraints


def default_selector(pod: Pod, owner: OwnerReference | None, objects: ObjectStore) -> LabelSelector:
    """Return the selector that the pod's services and its controller imply, empty if none do.

    Upstream: helper.DefaultSelector.
    """
    wanted: dict[str, str] = {}
    for service in objects.all(Service):
        selector = service.spec.selector
        if service.namespace == pod.namespace and labels_match(selector, pod.metadata.labels):
            wanted |= selector
    key = f"{pod.namespace}/{owner.name}" if owner else ""
    match (owner.api_version, owner.kind) if owner else ("", ""):
        case ("v1", "ReplicationController"):
            controller = objects.get(ReplicationController, key)
            return LabelSelector(
                match_labels=wanted | (controller.spec.selector if controller else {})
            )
        case ("apps/v1", "ReplicaSet"):
            replica_set = objects.get(ReplicaSet, key)
            return _narrowed(wanted, replica_set.spec.selector if replica_set else None)
        case ("apps/v1", "StatefulSet"):
            stateful_set = objects.get(StatefulSet, key)
            return _narrowed(wanted, stateful_set.spec.selector if stateful_set else None)
        case _:
            return LabelSelector(match_labels=wanted)


def _narrowed(wanted: Mapping[str, str], more: LabelSelector | None) -> LabelSelector:
    """Return a selector that asks for both; an invalid second one is left out."""
    if more is None or label_selector_error(more):
        return LabelSelector(match_labels=dict(wanted))
    also = [_equals(key, value) for key, value in more.match_labels.items()]
    return LabelSelector(
        match_labels=dict(wanted), match_expressions=(*also, *more.match_expressions)
    )


def selecting(
    constraints: Iterable[SpreadConstraint], pod: Pod, selector: LabelSelector
) -> tuple[SpreadConstraint, ...]:
    """Return default constraints completed by a selector; none if it is empty."""
    if label_selector_is_empty(selector):
        return ()
    selection = PodSelection(selector, frozenset((pod.namespace,)))
    return tuple(
        SpreadConstraint(
            max_skew=each.max_skew,
            topology_key=each.topology_key,
            selection=selection,
            min_domains=each.min_domains,
            node_affinity_policy=each.node_affinity_policy,
            node_taints_policy=each.node_taints_policy,
        )
        for each in constraints
    )


# ---------------------------------------------------------------- which nodes count


class NodeInclusion:
    """Which of `nodes` a constraint's policies let take part; evaluated once per policy."""

    def __init__(self, pod: Pod, nodes: Nodes, *, comparison_operators: bool) -> None:
        self._pod = pod
        self._nodes = nodes
        self._comparison_operators = comparison_operators

    def of(self, constraint: SpreadConstraint) -> BoolArray:
        """Return the nodes that count for the constraint, bool (n,)."""
        included = np.ones(self._nodes.n, np.bool_)
        if constraint.node_affinity_policy == HONOR:
            included &= self._in_affinity
        if constraint.node_taints_policy == HONOR:
            included &= self._tolerated
        return included

    @cached_property
    def _in_affinity(self) -> BoolArray:
        return RequiredNodeAffinity.of(self._pod.spec).matches(self._nodes)

    @cached_property
    def _tolerated(self) -> BoolArray:
        tolerations = self._pod.spec.tolerations
        return self._nodes.taints.map_bool(
            lambda taints: (
                find_untolerated_taint(
                    taints,
                    tolerations,
                    HARD_EFFECTS,
                    comparison_operators=self._comparison_operators,
                )
                is None
            ),
            absent=True,
        )


def has_all_topology_keys(constraints: Sequence[SpreadConstraint], nodes: Nodes) -> BoolArray:
    """Return which nodes have the label of every constraint, bool (n,)."""
    labelled = np.ones(nodes.n, np.bool_)
    for constraint in constraints:
        labelled &= nodes.label(constraint.topology_key).present
    return labelled
