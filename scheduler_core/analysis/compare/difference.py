"""What is different between two cycles of one pod: the first point, plugin, node and value.

Points are looked at in the order in which a cycle comes to them, so what is found first is what
brought the rest about. Of several nodes the one that either run picked goes first, then by name:
the answer does not depend on which run is called A.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from scheduler_core.trace.cycle_record import CycleRecord, device_name, examined
from scheduler_core.trace.events import PostFilterFinished, PreFilterFinished, ScoreColumns
from scheduler_core.trace.names import Names
from scheduler_core.trace.records import Column, StatusRecord
from scheduler_core.wording import say

What = Literal[
    "cycle",
    "pod",
    "scheduler",
    "status",
    "narrowed",
    "verdict",
    "feasible",
    "nominated_node",
    "victims",
    "plugin",
    "raw",
    "weight",
    "normalized",
    "total",
    "tie",
    "devices",
    "result",
    "message",
]
"""What is compared: the kind of value that `a` and `b` of a `Difference` are."""
Value = str | int

PREEMPTION: Final = "DefaultPreemption"
PASSES: Final = say("diff.passes", "passes")
NOT_EXAMINED: Final = say("diff.not_examined", "not examined")
NO_SUCH_NODE: Final = say("diff.no_such_node", "no such node")
NO_SCORE: Final = say("diff.not_score", "does not score")
NONE_TEXT: Final = say("value.none", "none")
_NUMBER: Final = re.compile("([0-9]+)")


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two cycles differ first, and the values there; `n_nodes` differ in that way.

    `plugin` and `node` are empty where no single one is to blame. With `luck` both runs had the
    same nodes tied at the top and took different ones.
    """

    point: str
    plugin: str
    node: str
    what: What
    a: Value
    b: Value
    n_nodes: int = 0
    luck: bool = False
    tied: tuple[str, ...] = ()


class Seen(NamedTuple):
    """A cycle and what its numbers mean; the order in `names` is that of its nodes then."""

    record: CycleRecord
    names: Names


def difference(a: Seen, b: Seen) -> Difference | None:
    """Return the first difference between what two cycles decided, None if there is none."""
    for step in _STEPS:
        found = step(a, b)
        if found is not None:
            return found
    return None


# ---------------------------------------------------------------- before Filter


def tried_text(seen: Seen) -> str:
    """Return which attempt of which pod it was."""
    started = seen.record.started
    return say(
        "diff.attempt",
        "{pod}, attempt {attempt}",
        pod=seen.names.pod(started.pod),
        attempt=started.attempt,
    )


def queue_sort_plugin(seen: Seen) -> str:
    attached = seen.names.attached(seen.record.started.profile, "QueueSort")
    return next(iter(seen.names.plugin_names(attached.plugins)), "")


def _pod(a: Seen, b: Seen) -> Difference | None:
    text_a, text_b = tried_text(a), tried_text(b)
    if text_a == text_b:
        return None
    plugin = min(queue_sort_plugin(a), queue_sort_plugin(b))
    return Difference("QueueSort", plugin, "", "pod", text_a, text_b)


def _scheduler(a: Seen, b: Seen) -> Difference | None:
    name_a, name_b = (
        seen.names.profiles[seen.record.started.profile].scheduler_name for seen in (a, b)
    )
    return None if name_a == name_b else Difference("", "", "", "scheduler", name_a, name_b)


def _pre_filter(a: Seen, b: Seen) -> Difference | None:
    step_a, step_b = a.record.pre_filter, b.record.pre_filter
    found = _status("PreFilter", a, _status_of(step_a), b, _status_of(step_b))
    if found is not None or step_a is None or step_b is None:
        return found
    left_a, left_b = (
        set(seen.names.nodes(seen.names.order if step.narrowed is None else step.narrowed))
        for seen, step in ((a, step_a), (b, step_b))
    )
    if step_a.narrowed == step_b.narrowed or left_a == left_b:
        return None
    known = _known(a, left_a) & _known(b, left_b)
    nodes = _in_order((left_a ^ left_b) & known, a, b)
    if not nodes:
        return None  # nodes that only one run has: Filter will say so
    text_a, text_b = (_looked_at(nodes[0] in left) for left in (left_a, left_b))
    return Difference("PreFilter", "", nodes[0], "narrowed", text_a, text_b, len(nodes))


def _known(seen: Seen, left: set[str]) -> set[str]:
    return left | set(seen.names.nodes(seen.names.order))


def _looked_at(is_left: bool) -> str:
    return "looked at" if is_left else "left out"


# ---------------------------------------------------------------- Filter


class Rejected(NamedTuple):
    plugin: str
    text: str


def _filter(a: Seen, b: Seen) -> Difference | None:
    columns_a, columns_b = a.record.filter_columns, b.record.filter_columns
    if columns_a is None or columns_b is None:
        return None
    verdicts_a, verdicts_b = _verdicts(a), _verdicts(b)
    absent = Rejected("", NO_SUCH_NODE)
    differing = [
        node
        for node in verdicts_a.keys() | verdicts_b.keys()
        if verdicts_a.get(node, absent) != verdicts_b.get(node, absent)
    ]
    if differing:
        nodes = _in_order(differing, a, b)
        one_a, one_b = (each.get(nodes[0], absent) for each in (verdicts_a, verdicts_b))
        plugin = _first_plugin({one_a.plugin, one_b.plugin}, "Filter", a, b)
        n_nodes = len(nodes)
        return Difference("Filter", plugin, nodes[0], "verdict", one_a.text, one_b.text, n_nodes)
    return _feasible(a, columns_a.feasible, b, columns_b.feasible)


def _verdicts(seen: Seen) -> dict[str, Rejected]:
    """Return what Filter says of every node of the cluster, by name."""
    columns, names = seen.record.filter_columns, seen.names
    verdicts = dict.fromkeys(names.nodes(names.order), Rejected("", NOT_EXAMINED))
    if columns is None:
        return verdicts
    statuses = [
        Rejected(names.plugin(each.plugin) if i else "", status_text(each) if i else PASSES)
        for i, each in enumerate(columns.statuses)
    ]
    codes = columns.status.array().tolist()
    nodes = names.nodes(examined(seen.record, names.order))
    verdicts |= {node: statuses[code] for node, code in zip(nodes, codes, strict=True)}
    return verdicts


def _feasible(a: Seen, left_a: Column, b: Seen, left_b: Column) -> Difference | None:
    """Return a node that an extender took away in one run only."""
    names_a, names_b = (
        set(seen.names.nodes(left.array().tolist())) for seen, left in ((a, left_a), (b, left_b))
    )
    nodes = _in_order(names_a ^ names_b, a, b)
    if not nodes:
        return None
    value_a, value_b = (
        PASSES if nodes[0] in names else say("diff.taken_away", "taken away")
        for names in (names_a, names_b)
    )
    extender = min(
        (_extender(seen, "filter") for seen in (a, b)), key=lambda name: (not name, name)
    )
    return Difference("Filter", extender, nodes[0], "feasible", value_a, value_b, len(nodes))


def _extender(seen: Seen, verb: str) -> str:
    return next((call.extender for call in seen.record.extender_calls if call.verb == verb), "")


# ---------------------------------------------------------------- PostFilter


def _post_filter(a: Seen, b: Seen) -> Difference | None:
    for what, value in _PREEMPTION:
        value_a, value_b = value(a), value(b)
        if value_a != value_b:
            return Difference("PostFilter", PREEMPTION, "", what, value_a, value_b)
    return _status(
        "PostFilter", a, _status_of(a.record.post_filter), b, _status_of(b.record.post_filter)
    )


def _nominated(seen: Seen) -> str:
    decided = seen.record.preemption_decided
    return (seen.names.node(decided.winner) if decided else "") or NONE_TEXT


def _victims(seen: Seen) -> str:
    decided = seen.record.preemption_decided
    victims = sorted(seen.names.pods(decided.victims)) if decided else []
    return ", ".join(victims) or NONE_TEXT


_PREEMPTION: Final[Sequence[tuple[What, Callable[[Seen], str]]]] = (
    ("nominated_node", _nominated),
    ("victims", _victims),
)


# ---------------------------------------------------------------- Score


class PluginScore(NamedTuple):
    """One plugin's scores by node; weighted = normalized * weight."""

    weight: int
    raw: dict[str, int]
    normalized: dict[str, int]


_UNSCORED: Final = PluginScore(0, {}, {})


def _score(a: Seen, b: Seen) -> Difference | None:
    totals_a, totals_b = _totals(a), _totals(b)
    if totals_a == totals_b:
        return None
    scores_a, scores_b = _scores(a), _scores(b)
    for plugin in _plugins_in_order(scores_a.keys() | scores_b.keys(), "Score", a, b):
        one_a, one_b = (each.get(plugin, _UNSCORED) for each in (scores_a, scores_b))
        weighted_a, weighted_b = _weighted(one_a), _weighted(one_b)
        moved = _differing(weighted_a, weighted_b)
        if moved:
            return _plugin_score(plugin, one_a, one_b, moved, a, b)
    nodes = _in_order(_differing(totals_a, totals_b), a, b)
    value_a, value_b = (each.get(nodes[0], NO_SCORE) for each in (totals_a, totals_b))
    extender = min(
        (_extender(seen, "prioritize") for seen in (a, b)), key=lambda name: (not name, name)
    )
    return Difference("Score", extender, nodes[0], "total", value_a, value_b, len(nodes))


def _totals(seen: Seen) -> dict[str, int]:
    """Return the total score of every scored node, by name."""
    columns = seen.record.score_columns
    if columns is None:
        return {}
    return _by_node(seen.names, columns.nodes, columns.totals)


def _by_node(names: Names, nodes: Column, values: Column) -> dict[str, int]:
    found = names.nodes(nodes.array().tolist())
    return dict(zip(found, values.array().tolist(), strict=True))


def _scores(seen: Seen) -> dict[str, PluginScore]:
    columns = seen.record.score_columns
    if columns is None:
        return {}
    return {
        seen.names.plugin(each.plugin): PluginScore(
            each.weight,
            _by_node(seen.names, columns.nodes, each.raw),
            _by_node(seen.names, columns.nodes, each.normalized),
        )
        for each in columns.plugins
    }


def _weighted(scores: PluginScore) -> dict[str, int]:
    return {node: value * scores.weight for node, value in scores.normalized.items()}


def _differing(a: Mapping[str, int], b: Mapping[str, int]) -> list[str]:
    """Return the nodes whose values differ; a node without one has 0."""
    return [node for node in a.keys() | b.keys() if a.get(node, 0) != b.get(node, 0)]


def _plugin_score(
    plugin: str, one_a: PluginScore, one_b: PluginScore, moved: list[str], a: Seen, b: Seen
) -> Difference:
    """Say of a plugin what is different first: that it scores, raw scores, weight, normalising."""
    nodes = _in_order(moved, a, b)
    n_nodes = len(nodes)
    if not one_a.raw or not one_b.raw:
        value_a, value_b = (each.raw.get(nodes[0], NO_SCORE) for each in (one_a, one_b))
        return Difference("Score", plugin, nodes[0], "plugin", value_a, value_b, n_nodes)
    raw_of = _differing(one_a.raw, one_b.raw)
    if raw_of:
        raw_nodes = _in_order(set(raw_of) & set(moved) or raw_of, a, b)
        value_a, value_b = (each.raw.get(raw_nodes[0], NO_SCORE) for each in (one_a, one_b))
        return Difference("Score", plugin, raw_nodes[0], "raw", value_a, value_b, len(raw_of))
    if one_a.weight != one_b.weight:
        value_a, value_b = one_a.weight, one_b.weight
        return Difference("Score", plugin, nodes[0], "weight", value_a, value_b, n_nodes)
    value_a, value_b = (each.normalized.get(nodes[0], NO_SCORE) for each in (one_a, one_b))
    return Difference("Score", plugin, nodes[0], "normalized", value_a, value_b, n_nodes)


def _tie(a: Seen, b: Seen) -> Difference | None:
    """Return that the picks differ though the totals do not: the nodes were tied."""
    node_a, node_b = _selected(a), _selected(b)
    if not node_a or not node_b or node_a == node_b:
        return None
    tied_a, tied_b = (tied_nodes(seen.names, seen.record.score_columns) for seen in (a, b))
    tied = tuple(sorted(tied_a & tied_b, key=natural))
    luck = node_a in tied and node_b in tied
    return Difference("Score", "", "", "tie", node_a, node_b, len(tied), luck, tied)


def _selected(seen: Seen) -> str:
    selected = seen.record.selected
    return seen.names.node(selected.node) if selected else ""


def tied_nodes(names: Names, columns: ScoreColumns | None) -> set[str]:
    """Return the nodes that share the top total."""
    if columns is None:
        return set()
    values = columns.totals.array()
    top = columns.nodes.array()[values == values.max()] if values.size else values
    return set(names.nodes(top.tolist()))


# ---------------------------------------------------------------- after the pick


def _devices(a: Seen, b: Seen) -> Difference | None:
    text_a, text_b = (
        "; ".join(
            f"{event.claim}: {', '.join(map(device_name, event.devices))}"
            for event in seen.record.devices
        )
        or NONE_TEXT
        for seen in (a, b)
    )
    if text_a == text_b:
        return None
    node = min(_selected(a), _selected(b))
    return Difference("Reserve", "DynamicResources", node, "devices", text_a, text_b)


def _later_points(a: Seen, b: Seen) -> Difference | None:
    points_a, points_b = (
        {point.point: point.status for point in seen.record.points} for seen in (a, b)
    )
    for point in dict.fromkeys([*points_a, *points_b]):
        status_a, status_b = points_a.get(point), points_b.get(point)
        if status_a is None or status_b is None:
            continue
        found = _status(point, a, status_a, b, status_b)
        if found is not None:
            return found
    return None


def _outcome(a: Seen, b: Seen) -> Difference | None:
    """Return what the cycles came to, where nothing before it told them apart."""
    finished_a, finished_b = a.record.finished, b.record.finished
    if finished_a is None or finished_b is None:
        return None
    result_a, result_b = (each.result.name.lower() for each in (finished_a, finished_b))
    if result_a != result_b:
        return Difference("", "", "", "result", result_a, result_b)
    if finished_a.message != finished_b.message:
        return Difference("", "", "", "message", finished_a.message, finished_b.message)
    return None


def _status(
    point: str, a: Seen, of_a: StatusRecord | None, b: Seen, of_b: StatusRecord | None
) -> Difference | None:
    """Return that a point's statuses differ; one that it did not come to counts as passed."""
    plugin_a = a.names.plugin(of_a.plugin) if of_a else ""
    plugin_b = b.names.plugin(of_b.plugin) if of_b else ""
    text_a, text_b = (status_text(each) if each else PASSES for each in (of_a, of_b))
    if text_a == text_b:
        return None
    plugin = _first_plugin({plugin_a, plugin_b}, point, a, b)
    return Difference(point, plugin, "", "status", text_a, text_b)


def _status_of(step: PreFilterFinished | PostFilterFinished | None) -> StatusRecord | None:
    return None if step is None else step.status


def status_text(status: StatusRecord) -> str:
    """Return what a status says: its reasons, else its code; `passes` for success."""
    if status.code in ("Success", "Skip"):
        return PASSES
    return ", ".join(status.reasons) or status.code


# ---------------------------------------------------------------- which one of several


def natural(name: str) -> list[str | int]:
    """Return a key that sorts `n9` before `n10`: text and numbers in turn."""
    return [int(part) if i % 2 else part for i, part in enumerate(_NUMBER.split(name))]


def _in_order(nodes: Iterable[str], a: Seen, b: Seen) -> list[str]:
    """Return nodes by name, those that either run picked before all others."""
    picked = {_selected(a), _selected(b)}
    return sorted(nodes, key=lambda node: (node not in picked, natural(node)))


def _plugins_in_order(plugins: Iterable[str], point: str, a: Seen, b: Seen) -> list[str]:
    """Return plugins in the order in which they run at a point, the same for (b, a)."""
    places = [
        {name: i for i, name in enumerate(seen.names.plugin_names(attached.plugins))}
        for seen in (a, b)
        for attached in (seen.names.attached(seen.record.started.profile, point),)
    ]
    last = max(map(len, places))
    return sorted(plugins, key=lambda name: (min(each.get(name, last) for each in places), name))


def _first_plugin(plugins: Iterable[str], point: str, a: Seen, b: Seen) -> str:
    """Return the plugin that runs first, empty if there is none."""
    return next(iter(_plugins_in_order(filter(None, plugins), point, a, b)), "")


_STEPS: Final[Sequence[Callable[[Seen, Seen], Difference | None]]] = (
    _pod,
    _scheduler,
    _pre_filter,
    _filter,
    _post_filter,
    _score,
    _tie,
    _devices,
    _later_points,
    _outcome,
)
