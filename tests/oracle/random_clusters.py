"""Random clusters with pods that wait, a configuration and gates, from a seed."""

from __future__ import annotations

from typing import Final

from kviz.conformance.cases import read_object
from kviz.conformance.witnessed import Cluster
from scheduler_core.config import FeatureGates, feature_gates
from scheduler_core.config.features import switchable
from scheduler_core.releases.table import Release
from tests.generator import configurations
from tests.generator.clusters import FEATURES, make_cluster
from tests.generator.draw import Draw

MORE_FEATURES: Final = ("batching", "candidates", "sampling")
SIZES: Final = (1, 2, 3, 4, 5, 6, 8, 12, 20)
SAMPLED_SIZES: Final = (101, 130, 250)
"""So many nodes that the scheduler looks at some of them only."""


def random_cluster(seed: int, release: Release) -> Cluster:
    """Return the cluster of a seed; its volumes are bound, as nobody provisions any."""
    draw = Draw(f"oracle-{seed}", (*FEATURES, *MORE_FEATURES))
    n_nodes = draw.one(SAMPLED_SIZES if draw.has("sampling", 0.3) else SIZES)
    n_pods = draw.number(0, min(40, n_nodes * draw.one((2, 5, 9))))
    made = make_cluster(draw, n_nodes, n_pods, bound_only=True)
    for i in range(draw.number(1, 12)):
        pod = made.pending(f"new-{i}")
        made.objects += [*made.take_claims(), pod]
    objects = [read_object(each) for each in made.objects]
    return Cluster(
        f"random-{seed}", objects, _gates(draw, release), configurations.configuration(draw)
    )


def _gates(draw: Draw, release: Release) -> FeatureGates:
    """Return what of the drawn gates the release lets one switch, and what has to go with them."""
    known = switchable(release)
    gates = {n: on for n, on in configurations.feature_gates(draw).items() if n in known}
    for name, spec in release.gates.items():
        if spec.default and not all(gates.get(needed, True) for needed in spec.requires):
            gates[name] = False
    return feature_gates(gates, release)
