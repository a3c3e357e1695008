"""The plugin at its extension points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scheduler_core.api import Namespace, Node
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.domains import pairs_with_pods, sum_by_domain
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import AffinityTerm, PodInfo, PodTemplate
from scheduler_core.cluster.row_sums import RowSums
from scheduler_core.config.types import InterPodAffinityArgs
from scheduler_core.framework.dependence import DependsOn
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import MAX_NODE_SCORE, Prepared, Scores
from scheduler_core.framework.signatures import Signed, labels
from scheduler_core.framework.status import SKIP, Code, Status, Verdict
from scheduler_core.plugins.inter_pod_affinity import filtering
from scheduler_core.plugins.inter_pod_affinity.terms import (
    Incoming,
    TermTable,
    incoming,
    term_error,
    term_matches,
    valid_terms,
)

# How much the preferred terms of the pod and of others draw it to each domain.
#
# Upstream: v1.36 plugins/interpodaffinity/scoring.go.


@dataclass(frozen=True, eq=False)
class ScoreState:
    """Summed weights per domain, int64 (n_domains,), by topology key."""

    topology_score: Mapping[str, IntArray]

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        return {"topologyScore": pairs_with_pods(nodes, self.topology_score)}


def scoring_terms(template: PodTemplate, hard_weight: int) -> list[AffinityTerm]:
    """Return the terms with which pods of a template draw (weight > 0) or repel others.

    Their required affinity counts with `hard_weight`, unless that is 0.
    """
    near = valid_terms(template.required_affinity) if hard_weight > 0 else ()
    return [
        *(replace(term, weight=hard_weight) for term in near),
        *valid_terms(template.preferred_affinity),
        *_negative(valid_terms(template.preferred_anti_affinity)),
    ]


def _negative(terms: Iterable[AffinityTerm]) -> Iterable[AffinityTerm]:
    return (replace(term, weight=-term.weight) for term in terms)


def prepare(pod: Incoming, handle: Handle, existing: TermTable, sums: RowSums) -> ScoreState | None:
    """Add up weights over all pods; None if no term meets a pod in any domain."""
    meant = existing.about(pod)
    if not meant and not pod.preferred:
        return None
    all_nodes, templates = handle.all_nodes(), handle.cluster.templates
    result: dict[str, IntArray] = {}

    def add(topology_key: str, weight: int, per_row: IntArray) -> None:
        column = all_nodes.label(topology_key)
        counts = sum_by_domain(column.ids, per_row[all_nodes.rows], len(column.values))
        if counts.any():
            known = result.get(topology_key)
            result[topology_key] = weight * counts if known is None else known + weight * counts

    for each in meant:
        per_row = sums.of(("scoring", each.number), each.weights(len(templates)))
        add(each.term.topology_key, each.term.weight, per_row)
    for term in pod.preferred:
        per_row = sums.of(term.selection.key, term.selection.templates(templates))
        add(term.topology_key, term.weight, per_row)
    return ScoreState(result) if result else None


def score(state: ScoreState, nodes: Nodes) -> Scores:
    """Return the summed weights of each node's domains, int64 (n,); may be negative."""
    total = np.zeros(nodes.n, np.int64)
    for key, weights in state.topology_score.items():
        total += np.append(weights, 0)[nodes.label(key).ids]
    return total


def normalize(scores: Scores) -> Scores:
    """Stretch scores (n,) so that the lowest becomes 0 and the highest 100; equal ones become 0."""
    lowest, highest = int(scores.min()), int(scores.max())
    if highest == lowest:
        return np.zeros_like(scores)
    stretched = MAX_NODE_SCORE * ((scores - lowest) / (highest - lowest))
    return stretched.astype(np.int64)


# Whether a change of a pod or a node may help a pod that required terms have rejected.
#
# Upstream: v1.36 plugins/interpodaffinity/plugin.go (isSchedulableAfter...).


def after_pod_change(
    pod: PodInfo, old: PodInfo | None, new: PodInfo | None, *, any_anti_term: bool
) -> QueueingHint:
    """Say whether a pod that came, went or changed may help one that was rejected.

    `any_anti_term`: it is enough that one anti-affinity term is about the other pod.
    """
    if old is not None and new is not None and pod.uid == new.uid:
        # Only label changes are listened to: others may have kept away from the old labels.
        return QueueingHint.QUEUE
    if any(each is not None and not _is_placed(each) for each in (new, old)):
        return QueueingHint.SKIP
    near, far = pod.template.required_affinity, pod.template.required_anti_affinity
    if _malformed(near, far):
        return QueueingHint.QUEUE
    if old is not None and new is not None:
        came_near = not _meets_all(near, old) and _meets_all(near, new)
        meets = _meets_any if any_anti_term else _meets_all
        went_far = meets(far, old) and not meets(far, new)
        return queue_if(came_near or went_far)
    if new is not None:
        return queue_if(_meets_all(near, new))
    return queue_if(
        old is not None and _leaving_helps(pod, old, _meets_any if any_anti_term else _meets_all)
    )


def _is_placed(pod: PodInfo) -> bool:
    return bool(pod.node_name or pod.nominated_node_name)


def _malformed(*kinds: Sequence[AffinityTerm]) -> bool:
    return any(term_error(term) for terms in kinds for term in terms)


def _meets_all(terms: Sequence[AffinityTerm], pod: PodInfo) -> bool:
    """Whether there are terms and the pod meets them all, its namespace taken as unlabelled."""
    template = pod.template
    return bool(terms) and all(
        term_matches(term, template.namespace, template.labels, {}) for term in terms
    )


def _meets_any(terms: Sequence[AffinityTerm], pod: PodInfo) -> bool:
    return any(_meets_all((term,), pod) for term in terms)


def _leaving_helps(
    pod: PodInfo, gone: PodInfo, meets: Callable[[Sequence[AffinityTerm], PodInfo], bool]
) -> bool:
    if meets(pod.template.required_anti_affinity, gone):
        return True
    theirs = gone.template.required_anti_affinity
    return _malformed(theirs) or meets(theirs, pod)


def after_node_change(pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
    near, far = pod.template.required_affinity, pod.template.required_anti_affinity
    if _malformed(near, far):
        return QueueingHint.QUEUE
    if old is None:
        # Under anti-affinity a new node always may help: without the label it takes any pod.
        return queue_if(bool(far) or any(term.topology_key in new.metadata.labels for term in near))
    before, after = old.metadata.labels, new.metadata.labels

    def value_added(key: str) -> bool:
        return key in after and after[key] != before.get(key)

    def value_taken(key: str) -> bool:
        return key in before and before[key] != after.get(key)

    return queue_if(
        any(value_added(term.topology_key) for term in near)
        or any(value_taken(term.topology_key) for term in far)
    )


NO_STATE = 'error reading "PreFilterInterPodAffinity" from cycleState: not found'


class Existing:
    """What the plugin keeps about the pods that are there, from cycle to cycle."""

    def __init__(self, handle: Handle, hard_pod_affinity_weight: int) -> None:
        templates = handle.cluster.templates
        self.sums = RowSums(handle.cluster)
        self.anti_affinity = TermTable(
            templates, lambda template: valid_terms(template.required_anti_affinity)
        )
        self.scoring = TermTable(
            templates, lambda template: scoring_terms(template, hard_pod_affinity_weight)
        )


class InterPodAffinity:
    """Reject and score nodes by which pods run in their topology domains.

    Required terms open domains that have a matching pod (affinity) or close them
    (anti-affinity, that of the pods already there as well); preferred terms add and subtract
    their weight per matching pod in the domain.

    Upstream: v1.36 plugins/interpodaffinity.
    """

    name = "InterPodAffinity"
    no_pre_score = 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'
    depends_on = DependsOn()

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._kept: Existing | None = None
        self._incoming: dict[int, tuple[int, Incoming]] = {}

    @property
    def existing(self) -> Existing:
        """Return what is kept about the pods that are there."""
        if self._kept is None:
            self._kept = Existing(self._handle, self._args.hard_pod_affinity_weight)
        return self._kept

    def terms(self, pod: PodInfo) -> Incoming:
        """Return the terms of a pod to place, against the namespaces there are."""
        objects = self._handle.objects
        revision = objects.revision(Namespace)
        known = self._incoming.get(pod.template.index)
        if known is None or known[0] != revision:
            known = (
                revision,
                incoming(
                    pod.template,
                    objects,
                    apart=self._handle.features.switches.unlabelled_namespaces_apart,
                ),
            )
            self._incoming[pod.template.index] = known
        return known[1]

    def sign_pod(self, pod: PodInfo) -> Signed:
        """Sign with the labels that other pods' terms may match; refuse a pod with terms."""
        affinity = pod.pod.spec.affinity
        if affinity is not None and (affinity.pod_affinity or affinity.pod_anti_affinity):
            return None
        if self._args.ignore_preferred_terms_of_existing_pods:
            return ()
        return (labels(pod.template.labels),)

    # ------------------------------------------------------------ filtering

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[filtering.FilterState] | Status:
        terms, existing = self.terms(pod), self.existing
        if terms.error:
            text = f"parsing pod: {terms.error}"
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
        if terms.restricts_nothing and not existing.anti_affinity.about(terms):
            return SKIP
        state = filtering.count_domains(terms, nodes, existing.anti_affinity, existing.sums)
        return SKIP if state.restricts_nothing else Prepared(state)

    def filter(self, state: filtering.FilterState | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        return filtering.filter_nodes(state, nodes)

    # ------------------------------------------------------------ scoring

    def pre_score(self, state: object, pod: PodInfo, nodes: Nodes) -> Prepared[ScoreState] | Status:
        terms, existing = self.terms(pod), self.existing
        if self._args.ignore_preferred_terms_of_existing_pods and not terms.preferred:
            return SKIP
        if terms.error:
            return Status(Code.ERROR, (f"failed to parse pod: {terms.error}",))
        prepared = prepare(terms, self._handle, existing.scoring, existing.sums)
        return SKIP if prepared is None else Prepared(prepared)

    def score(self, state: ScoreState, pod: PodInfo, nodes: Nodes) -> Scores:
        return score(state, nodes)

    def normalize_score(
        self, state: ScoreState, pod: PodInfo, nodes: Nodes, scores: Scores
    ) -> Scores:
        return normalize(scores)

    # ------------------------------------------------------------ events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        pod_actions = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
        node_actions = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
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
        """Queue if a pod has come that is wanted, gone that is not, or the pod's labels changed."""
        return after_pod_change(
            pod,
            expect_or_none(PodInfo, old),
            expect_or_none(PodInfo, new),
            any_anti_term=self._handle.features.switches.any_anti_affinity_term,
        )

    def is_schedulable_after_node_change(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if a node enters a domain of an affinity or leaves one of an anti-affinity."""
        return after_node_change(pod, expect_or_none(Node, old), expect(Node, new))
