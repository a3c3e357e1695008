"""Pods with labels, and one cycle of one plugin over a world: what it rejects, how it scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from scheduler_core.api import (
    Affinity,
    LabelSelector,
    LabelSelectorRequirement,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import Status
from tests.plugins.harness import Verdicts, World, by_name, rejected

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def selector(*expressions: tuple[str, ...], **labels: str) -> LabelSelector:
    """Return a selector; an expression is `(key, operator, *values)`."""
    return LabelSelector(
        match_labels=labels,
        match_expressions=tuple(
            LabelSelectorRequirement(key=key, operator=operator, values=tuple(values))
            for key, operator, *values in expressions
        ),
    )


def hard(
    key: str, what: LabelSelector | None, max_skew: int = 1, **fields: Any
) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(
        topology_key=key,
        label_selector=what,
        max_skew=max_skew,
        when_unsatisfiable="DoNotSchedule",
        **fields,
    )


def soft(
    key: str, what: LabelSelector | None, max_skew: int = 1, **fields: Any
) -> TopologySpreadConstraint:
    return replace(hard(key, what, max_skew, **fields), when_unsatisfiable="ScheduleAnyway")


def aff_term(key: str, what: LabelSelector | None, **fields: Any) -> PodAffinityTerm:
    return PodAffinityTerm(topology_key=key, label_selector=what, **fields)


def pod_affinity(
    *,
    near: Sequence[PodAffinityTerm] = (),
    far: Sequence[PodAffinityTerm] = (),
    liked: Sequence[tuple[int, PodAffinityTerm]] = (),
    disliked: Sequence[tuple[int, PodAffinityTerm]] = (),
) -> Affinity:
    """Return required (`near`, `far`) and preferred affinity and anti-affinity."""

    def weighted(terms: Sequence[tuple[int, PodAffinityTerm]]) -> Any:
        return tuple(
            WeightedPodAffinityTerm(weight=weight, pod_affinity_term=term) for weight, term in terms
        )

    return Affinity(
        pod_affinity=PodAffinity(
            required_during_scheduling_ignored_during_execution=tuple(near),
            preferred_during_scheduling_ignored_during_execution=weighted(liked),
        ),
        pod_anti_affinity=PodAntiAffinity(
            required_during_scheduling_ignored_during_execution=tuple(far),
            preferred_during_scheduling_ignored_during_execution=weighted(disliked),
        ),
    )


@dataclass
class Cycle:
    """One plugin in one cycle; `prepared` is PreFilter's state, None if it skipped or refused."""

    world: World
    plugin: Any
    incoming: Pod

    def __post_init__(self) -> None:
        self.nodes = self.world.all_nodes()
        self.info = self.world.info(self.incoming)
        outcome = self.plugin.pre_filter(self.info, self.nodes)
        self.status = outcome if isinstance(outcome, Status) else Status()
        self.prepared = outcome if isinstance(outcome, Prepared) else None

    @property
    def state(self) -> Any:
        """What PreFilter prepared."""
        assert self.prepared is not None, self.status
        return self.prepared.state

    def scored(self, *names: str) -> tuple[dict[str, int], dict[str, int]]:
        """Return raw and normalised scores of a plugin that does not skip."""
        scores = self.scores(*names)
        assert scores is not None
        return scores

    def rejects(self, nodes: Nodes | None = None) -> Verdicts:
        """Return code and reasons of every rejected node, by name; a skip rejects none."""
        if self.prepared is None:
            assert self.status.is_skip, self.status
            return {}
        view = self.nodes if nodes is None else nodes
        return rejected(self.plugin.filter(self.prepared.state, self.info, view), view)

    def fits(self, nodes: Nodes | None = None) -> list[str]:
        view = self.nodes if nodes is None else nodes
        refused = self.rejects(view)
        return [name for name in view.names if name not in refused]

    def rejects_if(
        self, node: str, added: Sequence[Pod] = (), removed: Sequence[Pod] = ()
    ) -> Verdicts:
        """Return the rejections if some pods came to one node and others left it."""
        change = Change(tuple(map(self.world.info, added)), tuple(map(self.world.info, removed)))
        return self.rejects(self.nodes.what_if({self.nodes.names.index(node): change}))

    def scores(self, *names: str) -> tuple[dict[str, int], dict[str, int]] | None:
        """Return raw and normalised scores of feasible nodes (default: all), None if skipped."""
        view = self.nodes
        if names:
            view = view.take(np.array([view.names.index(name) for name in names], np.int64))
        state = self.prepared.state if self.prepared else None
        outcome = self.plugin.pre_score(state, self.info, view)
        if isinstance(outcome, Status):
            assert outcome.is_skip, outcome
            return None
        raw = self.plugin.score(outcome.state, self.info, view)
        normalized = raw
        if hasattr(self.plugin, "normalize_score"):
            normalized = self.plugin.normalize_score(outcome.state, self.info, view, raw)
        return by_name(raw, view), by_name(normalized, view)
