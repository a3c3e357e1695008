"""What the pages that ask say of their cluster first: how it stands, before anything is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from scheduler_core.amounts import in_one_unit
from scheduler_core.analysis.advice.pools import pools_of
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.cluster.requests import integer_resources, pod_requests
from scheduler_core.trace.tables import TERMINAL_PHASES

SAID: Final = ("cpu", "memory")


def room_stated(objects: Sequence[KubeObject]) -> str:
    """Say how much is free on all nodes, and who waits for it; empty without a cluster."""
    nodes, waiting, taken = _standing(objects)
    if not nodes:
        return ""
    has = {name: sum(_allocatable(node).get(name, 0) for node in nodes) for name in SAID}
    sizes = {name: in_one_unit(name, has[name] - taken[name], has[name]) for name in SAID}
    free = [f"{free} {name}" for name, (free, _whole) in sizes.items()]
    whole = [f"{whole} {name}" for name, (_free, whole) in sizes.items()]
    n = len(nodes)
    said = ngettext(
        "%(n)s node has %(free)s free, of %(whole)s.",
        "%(n)s nodes have %(free)s free in all, of %(whole)s.",
        n,
    )
    told = said % {"n": f"{n:,}", "free": _(" and ").join(free), "whole": _(" and ").join(whole)}
    if not waiting:
        return told
    more = ngettext("%(n)s pod has no node yet.", "%(n)s pods have no node yet.", waiting)
    return f"{told} {more % {'n': f'{waiting:,}'}}"


def waiting_stated(objects: Sequence[KubeObject]) -> str:
    """Say how many pods wait, and of which nodes there could be more; empty without a cluster."""
    nodes, waiting, _taken = _standing(objects)
    if not nodes:
        return ""
    n_pods, n_pools = waiting, len(list(pools_of(nodes)))
    pods = ngettext("%(n)s pod has no node yet", "%(n)s pods have no node yet", n_pods)
    pools = ngettext("in %(n)s pool", "in %(n)s pools", n_pools)
    there = ngettext("%(n)s node is there", "%(n)s nodes are there", len(nodes))
    return "; ".join(
        [
            pods % {"n": f"{n_pods:,}"},
            f"{there % {'n': f'{len(nodes):,}'}}, {pools % {'n': f'{n_pools:,}'}}.",
        ]
    )


def _standing(objects: Sequence[KubeObject]) -> tuple[list[Node], int, dict[str, int]]:
    """Return the nodes, how many pods have none, and what pods take of the nodes."""
    nodes = [item for item in objects if isinstance(item, Node)]
    waiting, taken = 0, dict.fromkeys(SAID, 0)
    for item in objects:
        if not isinstance(item, Pod) or item.status.phase in TERMINAL_PHASES:
            continue
        waiting += not item.spec.node_name
        placed = pod_requests(item).placed if item.spec.node_name else {}
        for name in SAID:
            taken[name] += placed.get(name, 0)
    return nodes, waiting, taken


def _allocatable(node: Node) -> dict[str, int]:
    return integer_resources(node.status.allocatable)
