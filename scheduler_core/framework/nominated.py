"""Nominated pods as what they are to Filter: pods that may come to a node before this one.

Upstream: v1.36 pkg/scheduler/framework/runtime/framework.go (addGENominatedPods).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo


def nominated_changes(
    nominated: Mapping[str, Sequence[PodInfo]], pod: PodInfo, nodes: Nodes
) -> dict[int, Change]:
    """Return, by position, the pods of equal or higher priority nominated to a node.

    `nominated` holds all nominated pods by node name. Changes that `nodes` has stay part of it.
    """
    if not nominated:
        return {}
    cluster, priority, uid = nodes.cluster, pod.priority, pod.uid
    crowded = np.zeros(cluster.n_rows, np.bool_)
    crowded[[cluster.row_of[name] for name in nominated if name in cluster.row_of]] = True
    changes: dict[int, Change] = {}
    for i in np.flatnonzero(crowded[nodes.rows]).tolist():
        on_node = nominated[nodes.name(i)]
        rivals = tuple([p for p in on_node if p.priority >= priority and p.uid != uid])
        if rivals and nodes.changes:
            before = nodes.changes[i]
            changes[i] = Change((*before.added, *rivals), before.removed)
        elif rivals:
            changes[i] = Change(rivals)
    return changes
