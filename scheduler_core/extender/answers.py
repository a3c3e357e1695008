"""What the answers of an extender mean for nodes, scores and candidates.

Upstream: v1.36 pkg/scheduler/extender.go (Filter, convertToVictims) and framework/preemption
(callExtenders).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.extender.client import HTTPExtender
from scheduler_core.extender.wire import FilterResult, HostPriority, MetaVictims
from scheduler_core.framework.extenders import EXTENDER, Candidate
from scheduler_core.framework.status import Code, Status

MAX_SUMMARISED = 3
"""So many reasons a summary names one by one."""


class AnswerError(Exception):
    """The extender answered something it may not answer."""


# ---------------------------------------------------------------- filter


def nodes_left(extender: HTTPExtender, result: FilterResult, nodes: Nodes) -> Nodes:
    """Return the nodes a filter reply leaves. Raises AnswerError for a name not asked about.

    A reply with node objects replaces what the scheduler knows of the nodes, their pods above all
    (`Nodes.bare`). Such a reply may bring in nodes that were not asked about. Of them, those that
    are no nodes of the cluster are left out here (docs/adr/0013).
    """
    if extender.node_cache_capable and result.node_names is not None:
        position = {name: i for i, name in enumerate(nodes.names)}
        unknown = next((name for name in result.node_names if name not in position), None)
        if unknown is not None:
            raise AnswerError(
                f'extender "{extender.name}" claims a filtered node "{unknown}" which is not found '
                "in the input node list"
            )
        return nodes.take(np.array([position[name] for name in result.node_names], np.int64))
    names = result.nodes or ()
    rows = [_row(nodes.cluster, name) for name in names]
    return Nodes(nodes.cluster, np.array([r for r in rows if r >= 0], np.int64), bare=True)


def _row(cluster: ClusterColumns, name: str) -> int:
    """Return the row of a node of the cluster, -1 if there is no such node."""
    row = cluster.row_of.get(name, -1)
    return row if row >= 0 and cluster.nodes[row] is not None else -1


def failed_statuses(result: FilterResult) -> dict[str, Status]:
    """Return why nodes were rejected; unresolvable goes before unschedulable."""
    unresolvable = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    statuses = {
        name: Status(unresolvable, (text,), EXTENDER)
        for name, text in (result.failed_and_unresolvable or {}).items()
    }
    for name, text in (result.failed or {}).items():
        statuses.setdefault(name, Status(Code.UNSCHEDULABLE, (text,), EXTENDER))
    return statuses


def removed(statuses: Mapping[str, Status], before: Nodes, after: Nodes) -> dict[str, str]:
    """Return the nodes that went, in order, with the extender's words; "" for none."""
    left = set(after.names)
    return {
        name: statuses[name].message if name in statuses else ""
        for name in before.names
        if name not in left
    }


def filter_summary(statuses: Mapping[str, Status], before: Nodes, after: Nodes) -> str:
    """Say how many nodes went, and for which reasons."""
    gone = removed(statuses, before, after)
    if not gone:
        return "keeps every node"
    reasons = Counter(gone.values())
    summaries = [
        f"{n} {text or 'without a reason'}" for text, n in reasons.most_common(MAX_SUMMARISED)
    ]
    more = (
        f", {len(reasons) - MAX_SUMMARISED} more reasons" if len(reasons) > MAX_SUMMARISED else ""
    )
    return f"drops {len(gone)} of {before.n} nodes: {', '.join(summaries)}{more}"


# ---------------------------------------------------------------- prioritize


def scores_of(priorities: Sequence[HostPriority], nodes: Nodes) -> IntArray:
    """Return the scores int64 (n,); a host named twice gets both, unknown hosts are ignored."""
    by_host: dict[str, int] = {}
    for each in priorities:
        by_host[each.host] = wrapped(by_host.get(each.host, 0) + each.score)
    return np.array([by_host.get(name, 0) for name in nodes.names], np.int64)


def named_in(priorities: Sequence[HostPriority], nodes: Nodes) -> BoolArray:
    """Return which nodes a reply scores, bool (n,)."""
    hosts = {each.host for each in priorities}
    return np.array([name in hosts for name in nodes.names], np.bool_)


def wrapped(number: int) -> int:
    """Return the number as 64 bits hold it, as in Go."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def scores_summary(scores: IntArray, weight: int) -> str:
    """Say between which bounds the scores are; `weight` is the factor they count with."""
    return f"scores {int(scores.min())} to {int(scores.max())}, each counting {weight} times"


# ---------------------------------------------------------------- preempt


def candidates_left(
    extender: HTTPExtender,
    wanted: Mapping[str, MetaVictims],
    asked: Sequence[Candidate],
    cluster: ClusterColumns,
) -> tuple[Candidate, ...]:
    """Return the candidates a preempt reply leaves, in the order asked, any others behind.

    Raises AnswerError for nodes or pods nobody knows, and for a node without victims, unless the
    extender is ignorable: then such a node is left out.
    """
    found = {name: _candidate(extender, name, each, cluster) for name, each in wanted.items()}
    empty = [name for name, each in found.items() if not each.victims]
    if empty and not extender.ignorable:
        raise AnswerError(f'expected at least one victim pod on node "{empty[0]}"')
    order = [each.node_name for each in asked if each.node_name in found]
    order += [name for name in found if name not in set(order)]
    return tuple(found[name] for name in order if found[name].victims)


def _candidate(
    extender: HTTPExtender, name: str, wanted: MetaVictims, cluster: ClusterColumns
) -> Candidate:
    row = _row(cluster, name)
    if row < 0:
        raise AnswerError(f'nodeinfo not found for node name "{name}"')
    on_node = {pod.uid: pod for pod in cluster.pods.on_row(row)}
    victims: list[PodInfo] = []
    for uid in wanted.uids:
        if uid not in on_node:
            raise AnswerError(
                f"extender: {extender.name} claims to preempt pod (UID: &{{{uid}}}) on node: "
                f"{name}, but the pod is not found on that node"
            )
        victims.append(on_node[uid])
    return Candidate(name, tuple(victims), wanted.n_pdb_violations)


def candidates_removed(before: Sequence[Candidate], after: Sequence[Candidate]) -> dict[str, str]:
    """Return the candidate nodes that went; an extender gives no reasons for them."""
    left = {each.node_name for each in after}
    return {each.node_name: "" for each in before if each.node_name not in left}


def candidates_summary(before: Sequence[Candidate], after: Sequence[Candidate]) -> str:
    """Say how many candidates and victims are left."""
    counts = [sum(len(each.victims) for each in candidates) for candidates in (before, after)]
    return (
        f"keeps {len(after)} of {len(before)} candidates, "
        f"{counts[1]} victims where there were {counts[0]}"
    )
