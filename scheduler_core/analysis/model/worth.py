"""What a waiting pod is worth on a node, as far as it does not hang on other waiting pods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler_core.analysis.model.pairs import Alone
from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.config.types import NodeAffinityArgs
from scheduler_core.plugins.node_affinity import NodeAffinity


def classic_values(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> IntArray:
    """Return the weights of each pod's preferred node terms that match, int64 (C, N).

    They are the raw scores of NodeAffinity, whether or not the profile scores with it.
    """
    plugin = NodeAffinity(NodeAffinityArgs(), world.handle)
    return np.array([plugin.score(None, each.pod, nodes) for each in pods])


def snapshot_values(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> IntArray:
    """Return the totals of the score plugins in the cluster as it is, int64 (C, N).

    Scores are normalised over the nodes that the pod is not ruled out from by itself; others are 0.
    """
    values = np.zeros((len(pods), nodes.n), np.int64)
    for number, each in enumerate(pods):
        at = np.flatnonzero(each.eligible)
        if at.size:
            scoring = world.score(each.pod, each.prepared.state, nodes.take(at))
            if not scoring.error:
                values[number, at] = scoring.totals
    return values
