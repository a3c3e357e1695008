"""Topology domains: nodes with the same value of a label, and sums over them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.nodes import Nodes


def sum_by_domain(ids: IntArray, amounts: IntArray, n_domains: int) -> IntArray:
    """Add up `amounts` (n,) over nodes with the same domain in `ids` (n,), int64 (n_domains,).

    Nodes of domain -1 are in none.
    """
    sums = np.bincount(ids + 1, weights=amounts, minlength=n_domains + 1)
    return sums[1:].astype(np.int64)


def present_domains(ids: IntArray, n_domains: int) -> BoolArray:
    """Return which domains some node is in, bool (n_domains,)."""
    present = np.zeros(n_domains + 1, np.bool_)
    present[ids] = True
    return present[:-1]


def named_domains(
    nodes: Nodes, topology_key: str, counts: IntArray, domains: BoolArray
) -> dict[str, int]:
    """Return the counts (n_domains,) of the marked domains by the value of their label."""
    values = nodes.label(topology_key).values
    return {values[i]: int(counts[i]) for i in np.flatnonzero(domains[: len(values)]).tolist()}


def pairs_with_pods(nodes: Nodes, counts: Mapping[str, IntArray]) -> dict[str, int]:
    """Return the counts that are not 0, by `key=value` of their domain."""
    return {
        f"{key}={value}": count
        for key, each in counts.items()
        for value, count in named_domains(nodes, key, each, each != 0).items()
    }
