"""Topology domains: nodes with the same value of a label, and sums over them."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.nodes import BoolArray, IntArray


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
