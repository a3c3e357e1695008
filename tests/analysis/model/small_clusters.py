"""Small random clusters in which pods get in each other's way by every rule there is."""

from __future__ import annotations

import random

from scheduler_core.api import (
    Affinity,
    ContainerPort,
    KubeObject,
    LabelSelector,
    NodeAffinity,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PreferredSchedulingTerm,
    WeightedPodAffinityTerm,
)
from tests.builders import HOSTNAME, ZONE, PodBuilder, make_node, make_pod

APPS = ("a", "b")


def small_cluster(seed: int, *, n_nodes: int = 3, n_pods: int = 4) -> list[KubeObject]:
    """Make a cluster with few nodes in two zones, a bound pod or two, and waiting pods."""
    draw = random.Random(seed)
    nodes = []
    for i in range(n_nodes):
        node = make_node(f"n{i}").label(HOSTNAME, f"n{i}").cpu(draw.choice((2, 3, 4))).pods(3)
        nodes.append(node.zone(draw.choice("xy")) if draw.random() < 0.85 else node)
    pods = []
    for i in range(n_pods):
        pod = make_pod(f"p{i}").label("app", draw.choice(APPS)).cpu(draw.choice((1, 2)))
        pods.append(_restricted(draw, pod.priority(draw.choice((0, 0, 5)))))
    for i in range(draw.choice((0, 0, 1))):
        bound = make_pod(f"there-{i}").label("app", draw.choice(APPS)).cpu(1)
        pods.append(_restricted(draw, bound).on(f"n{draw.randrange(n_nodes)}"))
    return [*(node.obj() for node in nodes), *(pod.obj() for pod in pods)]


def _restricted(draw: random.Random, pod: PodBuilder) -> PodBuilder:
    if draw.random() < 0.2:
        pod.ports(ContainerPort(host_port=80, host_ip=draw.choice(("", "10.0.0.1", "10.0.0.2"))))
    if draw.random() < 0.3:
        pod.spread(draw.choice((ZONE, HOSTNAME)), 1, app=draw.choice(APPS))
    return pod.affinity(_affinity(draw))


def _affinity(draw: random.Random) -> Affinity:
    def term() -> PodAffinityTerm:
        labels = {"app": draw.choice(APPS)} if draw.random() < 0.9 else {}
        return PodAffinityTerm(
            topology_key=draw.choice((ZONE, HOSTNAME)),
            label_selector=LabelSelector(match_labels=labels),
        )

    def terms(share: float) -> tuple[PodAffinityTerm, ...]:
        return (term(),) if draw.random() < share else ()

    def wishes(share: float) -> tuple[WeightedPodAffinityTerm, ...]:
        wish = WeightedPodAffinityTerm(weight=draw.choice((3, 7)), pod_affinity_term=term())
        return (wish,) if draw.random() < share else ()

    return Affinity(
        node_affinity=NodeAffinity(
            preferred_during_scheduling_ignored_during_execution=(
                PreferredSchedulingTerm(
                    weight=draw.choice((1, 10)),
                    preference=NodeSelectorTerm(
                        match_expressions=(
                            NodeSelectorRequirement(
                                key=HOSTNAME, operator="In", values=(draw.choice(("n0", "n1")),)
                            ),
                        )
                    ),
                ),
            )
        ),
        pod_affinity=PodAffinity(
            required_during_scheduling_ignored_during_execution=terms(0.25),
            preferred_during_scheduling_ignored_during_execution=wishes(0.3),
        ),
        pod_anti_affinity=PodAntiAffinity(
            required_during_scheduling_ignored_during_execution=terms(0.25),
            preferred_during_scheduling_ignored_during_execution=wishes(0.3),
        ),
    )
