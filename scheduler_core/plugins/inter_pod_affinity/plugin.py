"""The plugin at its extension points."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.api import Namespace, Node
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.row_sums import RowSums
from scheduler_core.config.types import InterPodAffinityArgs
from scheduler_core.framework.dependence import DependsOn
from scheduler_core.framework.event_objects import expect, expect_or_none
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
from scheduler_core.framework.signatures import Signed, labels
from scheduler_core.framework.status import SKIP, Code, Status, Verdict
from scheduler_core.plugins.inter_pod_affinity import filtering, hints, scoring
from scheduler_core.plugins.inter_pod_affinity.terms import (
    Incoming,
    TermTable,
    incoming,
    valid_terms,
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
            templates, lambda template: scoring.scoring_terms(template, hard_pod_affinity_weight)
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

    def pre_score(
        self, state: object, pod: PodInfo, nodes: Nodes
    ) -> Prepared[scoring.ScoreState] | Status:
        terms, existing = self.terms(pod), self.existing
        if self._args.ignore_preferred_terms_of_existing_pods and not terms.preferred:
            return SKIP
        if terms.error:
            return Status(Code.ERROR, (f"failed to parse pod: {terms.error}",))
        prepared = scoring.prepare(terms, self._handle, existing.scoring, existing.sums)
        return SKIP if prepared is None else Prepared(prepared)

    def score(self, state: scoring.ScoreState, pod: PodInfo, nodes: Nodes) -> Scores:
        return scoring.score(state, nodes)

    def normalize_score(
        self, state: scoring.ScoreState, pod: PodInfo, nodes: Nodes, scores: Scores
    ) -> Scores:
        return scoring.normalize(scores)

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
        return hints.after_pod_change(
            pod,
            expect_or_none(PodInfo, old),
            expect_or_none(PodInfo, new),
            any_anti_term=self._handle.features.switches.any_anti_affinity_term,
        )

    def is_schedulable_after_node_change(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if a node enters a domain of an affinity or leaves one of an anti-affinity."""
        return hints.after_node_change(pod, expect_or_none(Node, old), expect(Node, new))
