"""How many more pods fit, as JSON and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kviz.command_line.tables import listed, table
from scheduler_core.amounts import amounts_text, in_one_unit
from scheduler_core.analysis.advice.capacity import Capacity, TemplateEnd
from scheduler_core.analysis.advice.daemons import is_of_daemon_set
from scheduler_core.analysis.advice.filling import Stop
from scheduler_core.analysis.advice.room import PoolRoom
from scheduler_core.api import KubeObject, Pod
from scheduler_core.api.counting import counted
from scheduler_core.cluster.requests import pod_requests


def as_json(found: Capacity) -> dict[str, object]:
    """Return what `kviz capacity --json` prints; fields may be added."""
    return {
        "count": found.count,
        "by_node": dict(found.by_node),
        **_stop_json(found.stop),
        "templates": [_template_json(each) for each in found.ends],
        "pools": [_pool_json(each) for each in found.pools],
        "headroom": {
            "copies": list(found.headroom.copies),
            "free": {
                resource: {pool: list(amounts) for pool, amounts in pools.items()}
                for resource, pools in found.headroom.free.items()
            },
        },
        "limit": found.max_copies,
        "pending": {"before": found.n_waiting, "placed_first": found.n_placed_first},
    }


def _stop_json(stop: Stop) -> dict[str, object]:
    return {
        "stopped_by": dict(stop.by),
        "message": stop.message,
        "stopped": stop.kind,
        "would_evict": {"node": stop.nominated_node, "pods": list(stop.victims)},
    }


def _template_json(end: TemplateEnd) -> dict[str, object]:
    stop = _stop_json(end.stop) if end.stop is not None else {}
    return {"pod": end.pod, "count": end.count, **stop}


def _pool_json(room: PoolRoom) -> dict[str, object]:
    return {
        "pool": room.pool,
        "nodes": room.n_nodes,
        "copies": room.copies,
        "runs_out": room.runs_out,
        "rejected_by": dict(room.rejected_by),
        "reasons": dict(room.reasons),
        "free_before": dict(room.free_before),
        "free_after": dict(room.free_after),
        "allocatable": dict(room.allocatable),
    }


def daemons_json(objects: Iterable[KubeObject]) -> dict[str, object]:
    """What the pods of DaemonSets take of the nodes that there are."""
    n, takes = _daemons(objects)
    return {"pods": n, "requests": takes}


def _daemons(objects: Iterable[KubeObject]) -> tuple[int, dict[str, int]]:
    """How many pods of DaemonSets are on nodes, and what they request."""
    takes: Counter[str] = Counter()
    n = 0
    for item in objects:
        if isinstance(item, Pod) and item.spec.node_name and is_of_daemon_set(item):
            n += 1
            takes.update(pod_requests(item).placed)
    return n, {name: amount for name, amount in takes.items() if amount}


# ---------------------------------------------------------------- text


def as_text(found: Capacity, objects: Iterable[KubeObject]) -> str:
    """Return the count, what stops the next copy, and what is left in each pool.

    `objects` are those of the cluster.
    """
    return "\n".join([*_lines(found), *_daemon_lines(objects)]) + "\n"


def _daemon_lines(objects: Iterable[KubeObject]) -> Iterator[str]:
    n, takes = _daemons(objects)
    if n:
        amounts = amounts_text(takes) or "nothing"
        yield ""
        yield f"{counted(n, 'pod')} of DaemonSets on these nodes: {amounts} requested"


def _lines(found: Capacity) -> Iterator[str]:
    yield _verdict(found)
    if len(found.ends) > 1:
        yield from (f"  {_copies(each.count)} of {each.pod}" for each in found.ends)
    if found.n_waiting:
        yield (
            f"Before the first, {found.n_placed_first} of {counted(found.n_waiting, 'pending pod')}"
            " got a node"
        )
    yield from ("", *_stop_lines(found.stop, found.max_copies), "")
    yield from _pool_table(found.pools)
    if found.placements:
        busiest = sorted(found.by_node.items(), key=lambda each: -each[1])
        yield ""
        yield "Most on " + listed([f"{node} {n}" for node, n in busiest])


def _verdict(found: Capacity) -> str:
    name = found.ends[0].pod if len(found.ends) == 1 else counted(len(found.ends), "template")
    if not found.count:
        return f"No copy of {name} fits"
    fit = "fits" if found.count == 1 else "fit"
    nodes = counted(len(found.by_node), "node")
    at_least = "At least " if found.stop.kind == "limit" else ""
    return f"{at_least}{_copies(found.count)} of {name} {fit}, on {nodes}"


def _copies(count: int) -> str:
    return "1 copy" if count == 1 else f"{count:,} copies"


def _stop_lines(stop: Stop, max_copies: int) -> Iterator[str]:
    match stop.kind:
        case "limit":
            yield f"Stopped at the limit of {max_copies:,} copies (--max); more may fit"
        case "gated":
            yield f"A copy never gets a scheduling cycle: {stop.message}"
        case "refused":
            yield f"The API server would refuse it: {stop.message}"
        case "other-scheduler":
            yield f"It {stop.message}"
        case "failed":
            yield f"The next copy meets an error: {stop.message}"
        case "unschedulable":
            yield f"What stops the next one: {_by_plugin(stop.by)}"
            yield f"  {stop.message}"
    if stop.victims:
        yield (
            f"  It would evict {listed(stop.victims)} from {stop.nominated_node};"
            " nothing is evicted for this count"
        )


def _by_plugin(counts: Mapping[str, int]) -> str:
    heaviest = sorted(counts.items(), key=lambda each: -each[1])
    return ", ".join(f"{plugin} on {counted(n, 'node')}" for plugin, n in heaviest)


def _pool_table(pools: Sequence[PoolRoom]) -> Iterator[str]:
    resources = list(dict.fromkeys(name for each in pools for name in each.free_before))
    head = ["POOL", "NODES", "COPIES", "RUNS OUT", "KEPT OFF BY"]
    head += [f"{name.upper()} FREE" for name in resources]
    yield from table(head, [_pool_row(each, resources) for each in pools])


def _pool_row(room: PoolRoom, resources: Sequence[str]) -> list[str]:
    others = [
        plugin for plugin in room.rejected_by if not room.runs_out or len(room.rejected_by) > 1
    ]
    free = (
        " -> ".join(in_one_unit(name, room.free_before.get(name, 0), room.free_after.get(name, 0)))
        for name in resources
    )
    return [
        room.pool,
        f"{room.n_nodes:,}",
        f"{room.copies:,}",
        room.runs_out or "-",
        ", ".join(others) or "-",
        *free,
    ]
