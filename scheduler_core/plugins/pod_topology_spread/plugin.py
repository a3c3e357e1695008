"""The plugin: which constraints a pod has, and when an event may help it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scheduler_core.api import (
    LabelSelector,
    Node,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    TopologySpreadConstraint,
)
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.row_sums import RowSums
from scheduler_core.config.types import DefaultingType, PodTopologySpreadArgs
from scheduler_core.framework.dependence import DependsOn
from scheduler_core.framework.event_objects import queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.signatures import Signed
from scheduler_core.framework.status import SKIP, Code, Status, Verdict
from scheduler_core.plugins.pod_topology_spread import filtering, scoring
from scheduler_core.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    HONOR,
    SCHEDULE_ANYWAY,
    SYSTEM_DEFAULT_CONSTRAINTS,
    InvalidSelectorError,
    SpreadConstraint,
    default_selector,
    selecting,
    spread_constraints,
)

# Whether a change of a pod or a node may make room under spread constraints.
#
# Upstream: v1.36 plugins/podtopologyspread/plugin.go (isSchedulableAfter...).


def after_pod_change(
    pod: PodInfo,
    constraints: Sequence[SpreadConstraint],
    old: PodInfo | None,
    new: PodInfo | None,
) -> QueueingHint:
    if any(each is not None and not _takes_part(each, pod) for each in (new, old)):
        return QueueingHint.SKIP
    if old is not None and new is not None:
        return queue_if(
            _newly_tolerates(pod, constraints, old, new)
            or any(
                each.matches(old.template.labels) != each.matches(new.template.labels)
                for each in constraints
            )
        )
    changed = new or old
    return queue_if(
        changed is not None and any(each.matches(changed.template.labels) for each in constraints)
    )


def _takes_part(changed: PodInfo, pod: PodInfo) -> bool:
    """Whether a changed pod can matter: the pod itself, or one of its namespace with a node."""
    if changed.uid == pod.uid:
        return True
    if not changed.node_name and not changed.nominated_node_name:
        return False
    return changed.template.namespace == pod.template.namespace


def _newly_tolerates(
    pod: PodInfo, constraints: Sequence[SpreadConstraint], old: PodInfo, new: PodInfo
) -> bool:
    return (
        pod.uid == new.uid
        and new.pod.spec.tolerations != old.pod.spec.tolerations
        and any(each.node_taints_policy == HONOR for each in constraints)
    )


def after_node_change(
    constraints: Sequence[SpreadConstraint], old: Node | None, new: Node | None
) -> QueueingHint:
    matched = old is not None and _has_all(old.metadata.labels, constraints)
    matches = new is not None and _has_all(new.metadata.labels, constraints)
    if old is None or new is None:
        return queue_if(matched or matches)
    moved = any(
        old.metadata.labels.get(each.topology_key, "")
        != new.metadata.labels.get(each.topology_key, "")
        for each in constraints
    )
    return queue_if(
        matched != matches or (matches and (moved or old.spec.taints != new.spec.taints))
    )


def _has_all(labels: Mapping[str, str], constraints: Sequence[SpreadConstraint]) -> bool:
    return all(each.topology_key in labels for each in constraints)


NO_STATE = 'reading "PreFilterPodTopologySpread" from cycleState: not found'

_OWNERS = (Service, ReplicationController, ReplicaSet, StatefulSet)
_STRENGTH = {DO_NOT_SCHEDULE: "hard", SCHEDULE_ANYWAY: "soft"}


class PodTopologySpread:
    """Reject nodes of domains that are too full; prefer nodes of emptier ones.

    A node is rejected when `pods of its domain + 1 - pods of the emptiest domain` exceeds the
    skew a constraint allows. Pods without constraints get the configured default ones.

    Upstream: v1.36 plugins/podtopologyspread.
    """

    name = "PodTopologySpread"
    no_pre_score = 'error reading "PreScorePodTopologySpread" from cycleState: not found'
    depends_on = DependsOn()

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        self._handle = handle
        self._system_defaulted = args.defaulting_type == DefaultingType.SYSTEM
        self._default_constraints: tuple[TopologySpreadConstraint, ...] = (
            SYSTEM_DEFAULT_CONSTRAINTS if self._system_defaulted else args.default_constraints
        )
        features = handle.features
        self._merge_label_keys = features.enabled("MatchLabelKeysInPodTopologySpread")
        self.comparison_operators = features.enabled("TaintTolerationComparisonOperators")
        self._sums: RowSums | None = None
        self._own: dict[tuple[int, str], tuple[SpreadConstraint, ...]] = {}
        self._default_selectors: dict[int, tuple[tuple[int, ...], LabelSelector]] = {}

    def sign_pod(self, pod: PodInfo) -> Signed:
        """Refuse pods that are spread: where they may go depends on other pods."""
        spread = pod.pod.spec.topology_spread_constraints or self._default_constraints
        return None if spread else ()

    # ------------------------------------------------------------ filtering

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[filtering.FilterState] | Status:
        try:
            constraints = self.constraints(pod, DO_NOT_SCHEDULE)
        except InvalidSelectorError as error:
            return _error(f"get constraints from pod: {error}")
        if not constraints:
            return SKIP
        return Prepared(
            filtering.count_domains(
                constraints,
                pod.pod,
                nodes,
                self.row_sums(),
                comparison_operators=self.comparison_operators,
            )
        )

    def filter(self, state: filtering.FilterState | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        return filtering.filter_nodes(
            state, pod.pod, nodes, comparison_operators=self.comparison_operators
        )

    # ------------------------------------------------------------ scoring

    def pre_score(
        self, state: object, pod: PodInfo, nodes: Nodes
    ) -> Prepared[scoring.ScoreState] | Status:
        try:
            constraints = self.constraints(pod, SCHEDULE_ANYWAY)
        except InvalidSelectorError as error:
            return _error(f"calculating preScoreState: {error}")
        if not constraints:
            return SKIP
        # Under the system's own defaults a node without a zone can still be spread by hostname.
        require_all = bool(pod.pod.spec.topology_spread_constraints) or not self._system_defaulted
        return Prepared(
            scoring.prepare(
                constraints,
                pod.pod,
                nodes,
                self._handle.all_nodes(),
                self.row_sums(),
                require_all_topologies=require_all,
                comparison_operators=self.comparison_operators,
            )
        )

    def score(self, state: scoring.ScoreState, pod: PodInfo, nodes: Nodes) -> Scores:
        return scoring.score(state, nodes, self.row_sums())

    def normalize_score(
        self, state: scoring.ScoreState, pod: PodInfo, nodes: Nodes, scores: Scores
    ) -> Scores:
        return scoring.normalize(state, nodes, scores)

    def row_sums(self) -> RowSums:
        """Return the sums of matching pods by row, cached from cycle to cycle."""
        if self._sums is None:
            self._sums = RowSums(self._handle.cluster, terminating=False)
        return self._sums

    # ------------------------------------------------------------ the pod's constraints

    def constraints(self, pod: PodInfo, action: str) -> tuple[SpreadConstraint, ...]:
        """Return the pod's own constraints with that `whenUnsatisfiable`, or the default ones.

        Raises InvalidSelectorError.
        """
        own = pod.pod.spec.topology_spread_constraints
        what = f"obtaining pod's {_STRENGTH[action]} topology spread constraints"
        if not own:
            what = f"setting default {_STRENGTH[action]} topology spread constraints"
        key = pod.template.index, action
        known = self._own.get(key)
        if known is None:
            try:
                known = self._own[key] = spread_constraints(
                    own or self._default_constraints,
                    pod.pod,
                    action,
                    merge_label_keys=self._merge_label_keys,
                )
            except InvalidSelectorError as error:
                raise InvalidSelectorError(f"{what}: {error}") from error
        if own or not known:
            return known
        return selecting(known, pod.pod, self._default_selector(pod))

    def _default_selector(self, pod: PodInfo) -> LabelSelector:
        objects = self._handle.objects
        revisions = tuple(objects.revision(kind) for kind in _OWNERS)
        known = self._default_selectors.get(pod.template.index)
        if known is not None and known[0] == revisions:
            return known[1]
        selector = default_selector(pod.pod, pod.template.owner, objects)
        self._default_selectors[pod.template.index] = revisions, selector
        return selector

    # ------------------------------------------------------------ events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        pod_actions = (
            ActionType.ADD
            | ActionType.UPDATE_POD_LABEL
            | ActionType.UPDATE_POD_TOLERATION
            | ActionType.DELETE
        )
        node_actions = (
            ActionType.ADD
            | ActionType.DELETE
            | ActionType.UPDATE_NODE_LABEL
            | ActionType.UPDATE_NODE_TAINT
        )
        return [
            ClusterEventWithHint(
                ClusterEvent(EventResource.POD, pod_actions), self.is_schedulable_after_pod_change
            ),
            ClusterEventWithHint(
                ClusterEvent(EventResource.NODE, node_actions),
                self.is_schedulable_after_node_change,
            ),
        ]

    def is_schedulable_after_pod_change(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if the change alters which pods the constraints count, or what is tolerated."""
        before = old if isinstance(old, PodInfo) else None
        after = new if isinstance(new, PodInfo) else None
        return self._hint(pod, lambda own: after_pod_change(pod, own, before, after))

    def is_schedulable_after_node_change(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if a node joins or leaves the domains of the constraints, or moves among them."""
        before = old if isinstance(old, Node) else None
        after = new if isinstance(new, Node) else None
        return self._hint(pod, lambda own: after_node_change(own, before, after))

    def _hint(
        self, pod: PodInfo, weigh: Callable[[tuple[SpreadConstraint, ...]], QueueingHint]
    ) -> QueueingHint:
        try:
            return weigh(self.constraints(pod, DO_NOT_SCHEDULE))
        except InvalidSelectorError:
            return QueueingHint.QUEUE


def _error(text: str) -> Status:
    return Status(Code.ERROR, (text,))
