"""Node selectors and node affinity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from scheduler_core.api import (
    Node,
    NodeSelector,
    NodeSelectorTerm,
    PodSpec,
    PreferredSchedulingTerm,
)
from scheduler_core.api.selectors import (
    METADATA_NAME,
    node_selector_matches,
    node_term_errors,
    node_term_is_empty,
    required_node_affinity_matches,
)
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import NodeAffinityArgs
from scheduler_core.framework.dependence import DependsOn, NodeFacts, PreparedFrom
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.node_selection import (
    RequiredNodeAffinity,
    any_term_matches,
    selecting_terms,
    term_matches,
)
from scheduler_core.framework.scoring import default_normalize_score
from scheduler_core.framework.signatures import Signed, node_affinity, node_selector
from scheduler_core.framework.status import SKIP, Code, Status, Verdict

REASON_POD = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"

PreferredTerms = tuple[PreferredSchedulingTerm, ...]


class NodeAffinity:
    """Reject nodes that the pod's selector or required affinity excludes; prefer its wishes.

    `addedAffinity` of the arguments applies to every pod in addition to its own. If each required
    term names nodes by `metadata.name`, PreFilter narrows the cycle to these.

    `raw = sum of the weights of the preferred terms that match`;
    `normalized = 100 * raw / highest raw`.

    Upstream: v1.36 plugins/nodeaffinity.
    """

    name = "NodeAffinity"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE, per_node=NodeFacts.OBJECT)

    def __init__(self, args: NodeAffinityArgs, _handle: Handle) -> None:
        added = args.added_affinity
        self.added = added.required_during_scheduling_ignored_during_execution if added else None
        self._added_terms = selecting_terms(self.added) if self.added else ()
        self.added_preferred = _scoring_terms(
            added.preferred_during_scheduling_ignored_during_execution if added else ()
        )
        self._prefers = bool(added and added.preferred_during_scheduling_ignored_during_execution)

    # ------------------------------------------------------------ filtering

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (node_affinity(pod.pod.spec), node_selector(pod.pod.spec))

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[RequiredNodeAffinity] | Status:
        spec = pod.pod.spec
        required = required_terms(spec)
        if required is None and self.added is None and not spec.node_selector:
            return SKIP
        names = None if required is None else named_nodes(required.node_selector_terms)
        if names is not None and not names:
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (REASON_CONFLICT,))
        return Prepared(RequiredNodeAffinity.of(spec), node_names=names)

    def filter(self, state: RequiredNodeAffinity | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        affinity = state or RequiredNodeAffinity.of(pod.pod.spec)
        unwanted = ~affinity.matches(nodes)
        if self.added is None:
            return Verdict.reject(unwanted, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON_POD)
        excluded = ~any_term_matches(self._added_terms, nodes)
        return Verdict.of(
            nodes.n,
            [
                (excluded, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON_ENFORCED),
                (unwanted & ~excluded, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, REASON_POD),
            ],
        )

    # ------------------------------------------------------------ scoring

    def pre_score(
        self, state: object, pod: PodInfo, nodes: Nodes
    ) -> Prepared[PreferredTerms] | Status:
        preferred = preferred_terms(pod.pod.spec)
        if error := _preferred_error(preferred):
            return Status(Code.ERROR, (error,))
        if not preferred and not self._prefers:
            return SKIP
        return Prepared(_scoring_terms(preferred))

    def score(self, state: PreferredTerms | None, pod: PodInfo, nodes: Nodes) -> Scores:
        own = _scoring_terms(preferred_terms(pod.pod.spec)) if state is None else state
        scores = np.zeros(nodes.n, np.int64)
        for term in (*self.added_preferred, *own):
            scores += term.weight * term_matches(term.preference, nodes)
        return scores

    def normalize_score(
        self, state: PreferredTerms | None, pod: PodInfo, nodes: Nodes, scores: Scores
    ) -> Scores:
        return default_normalize_score(scores)

    # ------------------------------------------------------------ queueing

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (ClusterEventWithHint(node, self._after_node_change),)

    def _after_node_change(self, pod: PodInfo, old: object, new: object) -> QueueingHint:
        """Queue when a node comes to match the pod and is not excluded by the arguments."""
        before, after = expect_or_none(Node, old), expect(Node, new)
        labels = after.metadata.labels
        if self.added is not None and not node_selector_matches(self.added, labels, after.name):
            return QueueingHint.SKIP
        matched_before = before is not None and _matches(pod, before)
        return queue_if(_matches(pod, after) and not matched_before)


def required_terms(spec: PodSpec) -> NodeSelector | None:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    return affinity.required_during_scheduling_ignored_during_execution if affinity else None


def preferred_terms(spec: PodSpec) -> PreferredTerms:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    return affinity.preferred_during_scheduling_ignored_during_execution if affinity else ()


def _matches(pod: PodInfo, node: Node) -> bool:
    return required_node_affinity_matches(pod.pod.spec, node.metadata.labels, node.name)


def named_nodes(terms: Iterable[NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the nodes that the terms name, None as soon as one term names none.

    The terms are alternatives; inside one, several lists of names must all hold.
    """
    names: frozenset[str] | None = None
    for term in terms:
        lists = [
            frozenset(requirement.values)
            for requirement in term.match_fields
            if requirement.key == METADATA_NAME and requirement.operator == "In"
        ]
        if not lists:
            return None
        names = (names or frozenset()) | lists[0].intersection(*lists[1:])
    return names


def _scoring_terms(terms: Iterable[PreferredSchedulingTerm]) -> PreferredTerms:
    """Return the terms that can score: valid, not empty, of a weight."""
    return tuple(term for term in terms if _counts(term) and not node_term_errors(term.preference))


def _counts(term: PreferredSchedulingTerm) -> bool:
    return term.weight != 0 and not node_term_is_empty(term.preference)


def _preferred_error(terms: PreferredTerms) -> str:
    """Return what is invalid in preferred terms, as upstream words it; empty if nothing is."""
    problems = [
        problem
        for i, term in enumerate(terms)
        if _counts(term)
        for problem in node_term_errors(term.preference, f"[{i}]")
    ]
    distinct = list(dict.fromkeys(problems))
    return "".join(distinct) if len(distinct) <= 1 else f"[{', '.join(distinct)}]"
