"""The arrays mean what the plugins say: placements feasible here are those the engine accepts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scheduler_core.analysis.model import RestingWorld, build
from scheduler_core.analysis.model.check import objections
from scheduler_core.analysis.model.feasibility import feasible
from scheduler_core.sim import RunOptions
from tests.analysis.model.small_clusters import small_cluster


@pytest.mark.parametrize("seed", range(5))
def test_feasible_is_what_the_plugins_accept_of_every_pod_in_its_final_context(seed: int) -> None:
    world = RestingWorld(small_cluster(seed, n_nodes=3, n_pods=4), RunOptions())
    instance = build(world, "classic")
    assert instance.not_comparable == ()
    for chosen in itertools.product([None, *instance.nodes], repeat=len(instance.pods)):
        pairs = zip(instance.pods, chosen, strict=True)
        placement = {pod: node for pod, node in pairs if node is not None}
        found = objections(world, placement)
        here = feasible(instance, instance.counts_of(placement)[np.newaxis])[0]
        assert here == (not found), (seed, placement, [each.text for each in found])
