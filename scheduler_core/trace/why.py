"""Why a pod found no node: the funnel, the causes and the nearest misses of one cycle.

`why` is computed from what the trace records and from nothing else, so the command line, REST, the
pages and the Explorer say the same. The Explorer's twin is `frontend/src/store/why.ts`; both are
held against `tests/trace/why_fixture.json`, so change them together.

Which rejected node is *nearest*, in this order:

1. The fewest plugins are known to be against it: the one that rejected it, and NodeResourcesFit
   too where Filter did not get to it and the node is short of a requested resource.
2. Evicting pods could help there; the others only a change of the pod or of the node helps.
3. The least is missing: the sum, over resources, of the part of the request that is short.
4. It came furthest through Filter: the fewest plugins were not evaluated.
5. The fewest reasons.
6. Node order, as of the cycle.

Verdicts of plugins evaluated individually (`framework.individual`) may be given; only some who ask
can afford them. They are shown beside a near miss, and count before all of this (`standing`): a
node that the pod does not want itself comes last, and one that nothing lasting keeps it from first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

from scheduler_core.trace.cycle_record import CycleRecord, examined
from scheduler_core.trace.events import FilterFinished
from scheduler_core.trace.fold import TraceState
from scheduler_core.trace.names import Names, Rejection
from scheduler_core.trace.nominated import (
    Nominated,
    counted_on,
    nominated_by_node,
    nominated_document,
    rejection_document,
)
from scheduler_core.trace.records import NONE, StatusRecord
from scheduler_core.trace.shortages import Room, Shortage
from scheduler_core.trace.tables import FIT, REJECTING, RESOLVABLE, UNRESOLVABLE

MAX_NEAREST: Final = 10
CHOOSING: Final = frozenset({"NodeName", "NodeAffinity"})
"""The plugins by which a pod says itself on which nodes it may run."""
PASSING: Final = frozenset({"NodeUnschedulable", "TaintToleration", "InterPodAffinity"})
"""What these reject for comes and goes with taints, cordons and other pods."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason that a plugin gave for `n_nodes` nodes.

    For `n_unresolvable` of them evicting pods would not help. For `n_nominated` it holds only
    because nominated pods count there.
    """

    plugin: str
    reason: str
    n_nodes: int
    n_unresolvable: int
    n_nominated: int = 0


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """The nodes that one plugin was the first to reject, and how many were left then.

    `point` is PreFilter or Filter. `plugin` is empty where the trace does not tell it, and has
    several names where plugins narrowed the nodes together. A node may have several causes.
    `nodes` and `causes` are empty where the cycle's columns were not recorded.
    """

    point: str
    plugin: str
    n_rejected: int
    n_left: int
    nodes: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    n_unresolvable: int = 0


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A rejected node that came near.

    `plugin`, `code` and `reasons` are as recorded: of the first plugin that rejected it. `plugins`
    are all that are known to be against it; `shortages` what it lacks. `also` has what others say
    when they are evaluated individually. `nominated` says what nominated pods do to the verdict,
    if they do anything.
    """

    node: str
    plugin: str
    code: str
    reasons: tuple[str, ...]
    plugins: tuple[str, ...]
    shortages: tuple[Shortage, ...] = ()
    also: tuple[Rejection, ...] = ()
    nominated: Nominated | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """What became of a cycle's nodes. `nearest` is empty where a node was feasible.

    `n_held` nodes would be feasible, were no nominated pods counted on them.
    """

    n_nodes: int = 0
    n_examined: int = 0
    n_feasible: int = 0
    n_held: int = 0
    funnel: tuple[FunnelStep, ...] = ()
    causes: tuple[Cause, ...] = ()
    nearest: tuple[NearMiss, ...] = ()


Individually = Mapping[str, Sequence[Rejection]]
"""By node, the plugins that reject it, each evaluated as if it were alone, in Filter's order."""


def why(record: CycleRecord, state: TraceState, individually: Individually | None = None) -> Why:
    """Explain a cycle; `state` is that of the run when the cycle began."""
    funnel = tuple(_funnel(record, state.names))
    step = record.filter
    return Why(
        n_nodes=record.started.n_nodes,
        n_examined=max(0, step.n_examined) if step else 0,
        n_feasible=step.n_feasible if step else 0,
        n_held=step.n_held if step else 0,
        funnel=funnel,
        causes=tuple(sorted((c for step in funnel for c in step.causes), key=_weightiest_first)),
        nearest=tuple(_nearest(record, state, individually or {})),
    )


def is_lasting(plugin: str, code: str) -> bool:
    """Return whether no eviction, no waiting and no node like this one removes a rejection."""
    return code == UNRESOLVABLE and plugin not in PASSING


def standing(known: Sequence[Rejection]) -> tuple[bool, bool, int]:
    """Return what to sort nodes by, nearest first, if every plugin was asked about them.

    Nodes that the pod rules out itself are last; before them those with a lasting cause; among
    equals the fewest plugins are first.
    """
    plugins = {each.plugin for each in known}
    lasting = any(is_lasting(each.plugin, each.code) for each in known)
    return not plugins.isdisjoint(CHOOSING), lasting, len(plugins)


def lacks_room(found: Why) -> bool:
    """Return whether a cycle found no node, and want of room was the first reason for some."""
    return not found.n_feasible and any(step.plugin == FIT for step in found.funnel)


def leading_plugin(step: FilterFinished) -> int:
    """Return the plugin that was first to reject most nodes; -1 if some node was feasible.

    Among equals it is the one that nodes got furthest to: it says more.
    """
    if step.n_feasible or not step.rejected:
        return NONE
    return max(reversed(step.rejected), key=lambda each: each.n_nodes).plugin


# ---------------------------------------------------------------- funnel


def _funnel(record: CycleRecord, names: Names) -> Iterator[FunnelStep]:
    pre_filter = record.pre_filter
    if pre_filter is None:
        return
    if pre_filter.status.code in REJECTING:
        yield _rejected_pod(record, pre_filter.status, names)
    elif pre_filter.narrowed is not None:
        yield _narrowed(record, pre_filter.narrowed, names)
    if record.filter is not None:
        yield from _filter_steps(record, record.filter, names)


def _rejected_pod(record: CycleRecord, status: StatusRecord, names: Names) -> FunnelStep:
    """PreFilter rejected the pod before any node was looked at."""
    n, plugin = record.started.n_nodes, names.plugin(status.plugin)
    n_unresolvable = n if status.code == UNRESOLVABLE else 0
    causes = (Cause(plugin, reason, n, n_unresolvable) for reason in status.reasons)
    nodes = tuple(names.nodes(names.order))
    return FunnelStep("PreFilter", plugin, n, 0, nodes, tuple(causes), n_unresolvable)


def _narrowed(record: CycleRecord, narrowed: Sequence[int], names: Names) -> FunnelStep:
    """PreFilter left only some nodes to look at.

    The trace does not say which plugins did. Those that made the pod unschedulable without
    rejecting a node in Filter must have.
    """
    kept = set(narrowed)
    out = tuple(names.nodes(node for node in names.order if node not in kept))
    n_left = record.started.n_nodes - len(out)
    rejecting = {each.plugin for each in record.filter.rejected} if record.filter else set()
    at_pre_filter = names.attached(record.started.profile, "PreFilter").plugins
    guilty = record.finished.unschedulable_plugins if record.finished else ()
    plugins = sorted(
        names.plugin(plugin)
        for plugin in guilty
        if plugin in at_pre_filter and plugin not in rejecting
    )
    causes: tuple[Cause, ...] = ()
    if plugins and out:
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}]"
        causes = (Cause(", ".join(plugins), text, len(out), len(out)),)
    return FunnelStep("PreFilter", ", ".join(plugins), len(out), n_left, out, causes, len(out))


def _filter_steps(record: CycleRecord, step: FilterFinished, names: Names) -> Iterator[FunnelStep]:
    """Yield a step for each plugin that rejected nodes, in Filter's order; then extenders."""
    place = _places(record, names)
    nodes_by_status = _nodes_by_status(record, names)
    without = _without_nominated_pods(record)
    n_left = step.n_examined
    for each in sorted(step.rejected, key=lambda each: place.get(each.plugin, len(place))):
        n_left -= each.n_nodes
        given = [
            (status, nodes)
            for status, nodes in nodes_by_status
            if status.plugin == each.plugin and nodes
        ]
        unresolvable = sum(len(nodes) for status, nodes in given if status.code == UNRESOLVABLE)
        yield FunnelStep(
            "Filter",
            names.plugin(each.plugin),
            each.n_nodes,
            n_left,
            tuple(names.nodes(sorted(node for _, nodes in given for node in nodes))),
            tuple(_causes(names.plugin(each.plugin), given, without)),
            unresolvable,
        )


def _nodes_by_status(record: CycleRecord, names: Names) -> list[tuple[StatusRecord, list[int]]]:
    """Return the columns' statuses that reject, each with its nodes."""
    columns = record.filter_columns
    if columns is None:
        return []
    nodes: list[list[int]] = [[] for _ in columns.statuses]
    for node, status in zip(
        examined(record, names.order), columns.status.array().tolist(), strict=True
    ):
        nodes[status].append(node)
    return list(zip(columns.statuses, nodes, strict=True))[1:]


def _without_nominated_pods(record: CycleRecord) -> dict[int, StatusRecord]:
    """Return the nodes that would have another status without nominated pods, and which."""
    columns = record.filter_columns
    if columns is None:
        return {}
    return {node: columns.statuses[each.without] for node, each in counted_on(record).items()}


def _causes(
    plugin: str,
    given: Iterable[tuple[StatusRecord, list[int]]],
    without: Mapping[int, StatusRecord],
) -> list[Cause]:
    counts: dict[str, tuple[int, int, int]] = {}
    for status, nodes in given:
        others = [without[node] for node in nodes if node in without]
        n_nodes = len(nodes)
        for reason in status.reasons:
            n, n_unresolvable, n_nominated = counts.get(reason, (0, 0, 0))
            more = n_nodes if status.code == UNRESOLVABLE else 0
            held = sum(not _says(other, status.plugin, reason) for other in others)
            counts[reason] = (n + n_nodes, n_unresolvable + more, n_nominated + held)
    causes = (Cause(plugin, reason, *numbers) for reason, numbers in counts.items())
    return sorted(causes, key=_weightiest_first)


def _says(status: StatusRecord, plugin: int, reason: str) -> bool:
    return status.plugin == plugin and reason in status.reasons


def _weightiest_first(cause: Cause) -> tuple[int, str, str]:
    return -cause.n_nodes, cause.plugin, cause.reason


def _places(record: CycleRecord, names: Names) -> dict[int, int]:
    """Return the place of each plugin in Filter's order."""
    attached = names.attached(record.started.profile, "Filter").plugins
    return {plugin: i for i, plugin in enumerate(attached)}


# ---------------------------------------------------------------- nearest misses


@dataclass(frozen=True, slots=True)
class _Miss:
    node: int
    status: StatusRecord
    shortages: tuple[Shortage, ...]
    plugins: tuple[int, ...]
    n_not_evaluated: int

    def distance(self, place: int) -> tuple[int, bool, float, int, int, int]:
        """Return what to sort by, nearest first; `place` is the node's in the node order."""
        return (
            len(self.plugins),
            self.status.code != RESOLVABLE,
            reduce(add, (shortage.missing_part for shortage in self.shortages), 0.0),
            self.n_not_evaluated,
            len(self.status.reasons),
            place,
        )


def _nearest(
    record: CycleRecord, state: TraceState, individually: Individually
) -> Iterator[NearMiss]:
    if record.filter is None or record.filter.n_feasible:
        return
    names = state.names
    nominated = nominated_by_node(record, names)
    in_order = {node: i for i, node in enumerate(names.order)}

    def distance(miss: _Miss) -> tuple[tuple[bool, bool, int], tuple[object, ...]]:
        known = individually.get(names.node(miss.node), ())
        return standing(known), miss.distance(in_order.get(miss.node, NONE))

    for miss in sorted(_misses(record, state), key=distance)[:MAX_NEAREST]:
        first = names.plugin(miss.status.plugin)
        given = individually.get(names.node(miss.node), ())
        also = tuple(each for each in given if each.plugin != first)
        known = (*map(names.plugin, miss.plugins), *(each.plugin for each in also))
        yield NearMiss(
            node=names.node(miss.node),
            plugin=first,
            code=miss.status.code,
            reasons=miss.status.reasons,
            plugins=tuple(dict.fromkeys(known)),
            shortages=miss.shortages,
            also=also,
            nominated=nominated.get(miss.node),
        )


def _misses(record: CycleRecord, state: TraceState) -> Iterator[_Miss]:
    names = state.names
    places = _places(record, names)
    room = Room(state, record.started.pod, counted_on(record))
    skipped = set(record.pre_filter.skipped) if record.pre_filter else set()
    taking_part = [plugin for plugin in places if plugin not in skipped]
    fit = room.fit_plugin if room.fit_plugin in taking_part else NONE
    for status, nodes in _nodes_by_status(record, names):
        if status.code not in REJECTING:
            continue
        place = places.get(status.plugin, len(places))
        after = sum(places[plugin] > place for plugin in taking_part)
        for node in nodes:
            shortages: tuple[Shortage, ...] = ()
            if fit != NONE and status.plugin == fit:
                shortages = room.shortages_named(node, status.reasons)
            elif fit != NONE and place < places[fit]:
                shortages = room.shortages(node)
            plugins = (status.plugin, fit) if shortages else (status.plugin,)
            yield _Miss(node, status, shortages, tuple(dict.fromkeys(plugins)), after)


# ---------------------------------------------------------------- for scripts


def why_document(found: Why) -> dict[str, object]:
    """Return the one shape in which REST and the command line give it out.

    Cpu is in milli, all else in bytes or units.
    """
    return {
        "n_nodes": found.n_nodes,
        "n_examined": found.n_examined,
        "n_feasible": found.n_feasible,
        "n_held": found.n_held,
        "funnel": [_step_document(step) for step in found.funnel],
        "reasons": [_cause_document(cause) for cause in found.causes],
        "nearest": [_miss_document(miss) for miss in found.nearest],
    }


def _step_document(step: FunnelStep) -> dict[str, object]:
    return {
        "point": step.point,
        "plugin": step.plugin,
        "n_rejected": step.n_rejected,
        "n_unresolvable": step.n_unresolvable,
        "n_left": step.n_left,
        "reasons": [_cause_document(cause) for cause in step.causes],
    }


def _cause_document(cause: Cause) -> dict[str, object]:
    return {
        "plugin": cause.plugin,
        "reason": cause.reason,
        "n_nodes": cause.n_nodes,
        "n_unresolvable": cause.n_unresolvable,
        "n_nominated": cause.n_nominated,
    }


def _miss_document(miss: NearMiss) -> dict[str, object]:
    return {
        "node": miss.node,
        "plugin": miss.plugin,
        "code": miss.code,
        "reasons": list(miss.reasons),
        "plugins": list(miss.plugins),
        "shortages": [
            {
                "resource": shortage.resource,
                "requested": shortage.requested,
                "free": shortage.free,
                "allocatable": shortage.allocatable,
                "nominated": shortage.nominated,
                "short": shortage.short,
            }
            for shortage in miss.shortages
        ],
        "also": list(map(rejection_document, miss.also)),
        "nominated": nominated_document(miss.nominated) if miss.nominated else None,
    }
