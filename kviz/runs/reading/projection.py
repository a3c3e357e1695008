"""One scheduling cycle in names instead of numbers, as REST and scripts see it.

Pure: no database. `Names` follows a trace's header events; `cycle_document` turns the events of
one cycle into JSON-able values, keyed as in the recorded conformance data, in snake_case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Required, TypedDict

from scheduler_core.trace.events import (
    Bound,
    CycleFinished,
    CycleStarted,
    Detail,
    EventRecorded,
    ExtenderCalled,
    ExtenderColumns,
    FilterColumns,
    FilterFinished,
    Forgotten,
    HeaderEvent,
    NodeAdded,
    NodeOrderChanged,
    NodeSelected,
    NominationChanged,
    PodAdded,
    PointFinished,
    PostFilterFinished,
    PreemptionDecided,
    PreemptionDryRun,
    PreemptionIneligible,
    PreemptionStarted,
    PreFilterFinished,
    PreScoreFinished,
    QueueMoved,
    RunStarted,
    ScoreColumns,
)
from scheduler_core.trace.records import (
    NONE,
    HintRecord,
    PluginScores,
    ProfileRecord,
    ReprieveRecord,
    StatusRecord,
)

Json = dict[str, object]


class StatusDocument(TypedDict, total=False):
    code: Required[str]
    plugin: str
    reasons: list[str]


class ScoresDocument(TypedDict):
    weight: int
    raw: dict[str, int]
    normalized: dict[str, int]


class PreemptionDocument(TypedDict, total=False):
    """`candidates` and `non_candidates` are the dry runs by node; `criteria` the funnel."""

    status: StatusDocument
    nominating: str
    nominated_node: str
    ineligible: str
    n_potential: int
    offset: int
    n_wanted: int
    candidates: Required[dict[str, Json]]
    non_candidates: Required[dict[str, Json]]
    criteria: list[Json]
    winner: str
    victims: Required[list[str]]


class CycleDocument(TypedDict, total=False):
    """One cycle. Keys that are not required are absent when the cycle did not get that far."""

    cycle: Required[int]
    pod: Required[str]
    attempt: Required[int]
    scheduler_name: Required[str]
    filter_plugins: Required[list[str]]
    popped_from: Required[str]
    start_index: Required[int]
    n_nodes: Required[int]
    result: Required[str]
    node: Required[str]
    message: Required[str]
    unschedulable_plugins: Required[list[str]]
    pending_plugins: Required[list[str]]
    pre_filter: Json
    n_examined: Required[int]
    n_feasible: Required[int]
    n_to_find: int
    by_nomination: bool
    rejected_by: Required[dict[str, int]]
    filter: Required[dict[str, StatusDocument]]
    feasible: Required[list[str]]
    pre_score: Json
    scores: Required[dict[str, ScoresDocument]]
    totals: Required[dict[str, int]]
    top_nodes: Required[list[str]]
    selection: Required[Json | None]
    preemption: Required[PreemptionDocument | None]
    points: Required[list[Json]]
    extenders: Required[list[Json]]
    nominations: Required[list[Json]]
    moves: Required[list[Json]]
    events: Required[list[Json]]


@dataclass
class Names:
    """What the numbers of a trace stand for, as of the last event taken."""

    plugins: tuple[str, ...] = ()
    profiles: tuple[ProfileRecord, ...] = ()
    order: tuple[int, ...] = ()
    _nodes: dict[int, str] = field(default_factory=dict)
    _pods: dict[int, str] = field(default_factory=dict)

    def take(self, events: Iterable[HeaderEvent]) -> None:
        for event in events:
            match event:
                case PodAdded():
                    self._pods[event.pod] = f"{event.namespace}/{event.name}"
                case NodeAdded():
                    self._nodes[event.node] = event.name
                case NodeOrderChanged():
                    self.order = event.nodes
                case RunStarted():
                    self.plugins, self.profiles = event.plugins, event.profiles
                case _:
                    pass

    def plugin(self, plugin: int) -> str:
        return "" if plugin == NONE else self.plugins[plugin]

    def plugin_names(self, plugins: Iterable[int]) -> list[str]:
        return [self.plugins[plugin] for plugin in plugins]

    def node(self, node: int) -> str:
        return "" if node == NONE else self._nodes[node]

    def nodes(self, nodes: Iterable[int]) -> list[str]:
        return [self._nodes[node] for node in nodes]

    def pod(self, pod: int) -> str:
        return "" if pod == NONE else self._pods[pod]

    def pods(self, pods: Iterable[int]) -> list[str]:
        return [self._pods[pod] for pod in pods]

    def status(self, status: StatusRecord) -> StatusDocument:
        document: StatusDocument = {"code": status.code}
        if status.plugin != NONE:
            document["plugin"] = self.plugin(status.plugin)
        if status.reasons:
            document["reasons"] = list(status.reasons)
        return document

    def point(self, profile: int, point: str) -> list[str]:
        """The plugins at an extension point of a profile, in order."""
        return [
            name
            for record in self.profiles[profile].points
            if record.point == point
            for name in self.plugin_names(record.plugins)
        ]


def cycle_range(events: Sequence[HeaderEvent], cycle: int) -> range:
    """Where the events of one cycle are among those of its chunk."""
    starts = [i for i, event in enumerate(events) if isinstance(event, CycleStarted)]
    begin = next(i for i in starts if _cycle_started(events[i]).cycle == cycle)
    end = next((i for i in starts if i > begin), len(events))
    return range(begin, end)


def is_bound_or_given_up(events: Iterable[HeaderEvent], pod: int) -> bool:
    """Whether the pod's binding cycle ends among `events`."""
    return any(isinstance(event, Bound | Forgotten) and event.pod == pod for event in events)


def _cycle_started(event: HeaderEvent) -> CycleStarted:
    if not isinstance(event, CycleStarted):
        raise ValueError("a cycle begins with CycleStarted")
    return event


def cycle_document(
    names: Names,
    headers: Sequence[HeaderEvent],
    later: Sequence[HeaderEvent],
    details: Sequence[Detail],
) -> CycleDocument:
    """Everything about one cycle.

    `headers` begins with its `CycleStarted` and ends before the next; binding goes on among the
    `later` events of the run.
    """
    started = _cycle_started(headers[0])
    document: CycleDocument = {
        "cycle": started.cycle,
        "pod": names.pod(started.pod),
        "attempt": started.attempt,
        "scheduler_name": names.profiles[started.profile].scheduler_name,
        "filter_plugins": names.point(started.profile, "Filter"),
        "popped_from": started.popped_from.name.lower(),
        "start_index": started.start_index,
        "n_nodes": started.n_nodes,
        "result": "",
        "node": "",
        "message": "",
        "unschedulable_plugins": [],
        "pending_plugins": [],
        "n_examined": 0,
        "n_feasible": 0,
        "rejected_by": {},
        "filter": {},
        "feasible": [],
        "scores": {},
        "totals": {},
        "top_nodes": [],
        "selection": None,
        "preemption": None,
        "points": [],
        "extenders": [],
        "nominations": [],
        "moves": [],
        "events": [],
    }
    for header in headers[1:]:
        if not _is_of_another_cycle(header, started):
            _add_header(document, names, header)
            _add_binding(document, names, header, started.pod)
    for header in later:
        if isinstance(header, CycleStarted) and header.pod == started.pod:
            break
        _add_binding(document, names, header, started.pod)
    for detail in details:
        _add_detail(document, names, detail, started)
    return document


def _is_of_another_cycle(event: HeaderEvent, started: CycleStarted) -> bool:
    """An earlier cycle ends a second time, meanwhile, when its binding failed."""
    return isinstance(event, CycleFinished) and event.cycle != started.cycle


def _add_header(document: CycleDocument, names: Names, event: HeaderEvent) -> None:
    match event:
        case PreFilterFinished():
            document["pre_filter"] = {
                "status": names.status(event.status),
                "skipped": names.plugin_names(event.skipped),
                "node_names": None if event.narrowed is None else names.nodes(event.narrowed),
            }
        case FilterFinished():
            document["n_examined"] = event.n_examined
            document["n_feasible"] = event.n_feasible
            document["n_to_find"] = event.n_to_find
            document["by_nomination"] = event.by_nomination
            document["rejected_by"] = {names.plugin(r.plugin): r.n_nodes for r in event.rejected}
        case PreScoreFinished():
            document["pre_score"] = {
                "status": names.status(event.status),
                "skipped": names.plugin_names(event.skipped),
            }
        case NodeSelected():
            document["selection"] = _selection(names, event)
        case CycleFinished():
            document["result"] = event.result.name.lower()
            document["node"] = names.node(event.node)
            document["message"] = event.message
            document["unschedulable_plugins"] = names.plugin_names(event.unschedulable_plugins)
            document["pending_plugins"] = names.plugin_names(event.pending_plugins)
        case _:
            _add_effect(document, names, event)


def _add_effect(document: CycleDocument, names: Names, event: HeaderEvent) -> None:
    match event:
        case QueueMoved():
            document["moves"].append(_move(names, event))
        case NominationChanged():
            document["nominations"].append(
                {"pod": names.pod(event.pod), "node": names.node(event.node)}
            )
        case _:
            _add_preemption(document, names, event)


def _add_binding(document: CycleDocument, names: Names, event: HeaderEvent, pod: int) -> None:
    """Add what concerns the cycle's own pod, which may be told while others have their cycles."""
    match event:
        case EventRecorded() if event.pod == pod:
            document["events"].append(
                {"type": event.type, "reason": event.reason, "message": event.message}
            )
        case PointFinished() if event.pod == pod:
            document["points"].append({"point": event.point, "status": names.status(event.status)})
        case ExtenderCalled() if event.pod == pod:
            document["extenders"].append(_call(event))
        case _:
            pass


def _call(event: ExtenderCalled) -> Json:
    """One call to an extender; what it did to single nodes is added from the columns."""
    return {
        "extender": event.extender,
        "verb": event.verb,
        "n_nodes_in": event.n_nodes_in,
        "n_nodes_out": event.n_nodes_out,
        "whole_nodes": event.whole_nodes,
        "n_request_bytes": event.n_request_bytes,
        "status": event.status,
        "duration_ns": event.duration_ns,
        "n_response_bytes": event.n_response_bytes,
        "response": event.response,
        "summary": event.summary,
        "error": event.error,
        "ignored": event.ignored,
        "weight": event.weight,
        "removed": {},
        "scores": {},
    }


def _move(names: Names, event: QueueMoved) -> Json:
    def hint(record: HintRecord) -> tuple[str, str]:
        return names.plugin(record.plugin), record.hint

    return {
        "pod": names.pod(event.pod),
        "queue": event.queue.name.lower(),
        "event": event.event,
        "cause": event.cause,
        "hints": dict(map(hint, event.hints)),
        "strategy": event.strategy,
        "gated_by": names.plugin(event.gated_by),
        "backoff_until_ns": event.backoff_until_ns,
    }


def _selection(names: Names, event: NodeSelected) -> Json:
    return {
        "node": names.node(event.node),
        "rule": event.rule,
        "n_scored": event.n_scored,
        "total": event.total,
        "n_tied": event.n_tied,
        "runner_up": names.node(event.runner_up),
        "runner_up_total": event.runner_up_total,
        "deciders": names.plugin_names(event.deciders),
    }


# ---------------------------------------------------------------- preemption


def _add_preemption(document: CycleDocument, names: Names, event: HeaderEvent) -> None:
    match event:
        case PostFilterFinished():
            preemption = _preemption(document)
            preemption["status"] = names.status(event.status)
            preemption["nominating"] = event.nominating
            preemption["nominated_node"] = names.node(event.node)
        case PreemptionStarted():
            preemption = _preemption(document)
            preemption["n_potential"] = event.n_potential
            preemption["offset"] = event.offset
            preemption["n_wanted"] = event.n_wanted
        case PreemptionIneligible():
            _preemption(document)["ineligible"] = event.reason
        case PreemptionDecided():
            preemption = _preemption(document)
            preemption["criteria"] = _criteria(names, event)
            preemption["winner"] = names.node(event.winner)
            preemption["victims"] = names.pods(event.victims)
        case _:
            pass


def _preemption(document: CycleDocument) -> PreemptionDocument:
    found = document["preemption"]
    if found is None:
        found = document["preemption"] = {"candidates": {}, "non_candidates": {}, "victims": []}
    return found


def _criteria(names: Names, event: PreemptionDecided) -> list[Json]:
    """Each step of the funnel; its values are those of the nodes the step before kept."""
    steps: list[Json] = []
    left = event.nodes
    for record in event.criteria:
        values = dict(zip(names.nodes(left), record.values, strict=True))
        steps.append({"name": record.name, "values": values, "kept": names.nodes(record.kept)})
        left = record.kept
    return steps


def _reprieve(names: Names, record: ReprieveRecord) -> Json:
    return {
        "pod": names.pod(record.pod),
        "kept": record.kept,
        "violates_pdb": record.violates_pdb,
        "plugin": names.plugin(record.plugin),
    }


# ---------------------------------------------------------------- columns


def _add_detail(
    document: CycleDocument, names: Names, event: Detail, started: CycleStarted
) -> None:
    match event:
        case FilterColumns():
            document["filter"] = rejections(names, event, started)
            document["feasible"] = names.nodes(event.feasible.array().tolist())
        case ScoreColumns():
            nodes = names.nodes(event.nodes.array().tolist())
            totals = event.totals.array()
            document["scores"] = {
                names.plugin(scores.plugin): _scores(nodes, scores) for scores in event.plugins
            }
            document["totals"] = dict(zip(nodes, totals.tolist(), strict=True))
            top = totals == totals.max() if totals.size else totals
            document["top_nodes"] = sorted(nodes[i] for i in top.nonzero()[0].tolist())
        case PreemptionDryRun():
            for record in event.candidates:
                is_candidate = record.status.code == "Success"
                preemption = _preemption(document)
                group = preemption["candidates" if is_candidate else "non_candidates"]
                group[names.node(record.node)] = {
                    "status": names.status(record.status),
                    "removed": names.pods(record.removed),
                    "reprieves": [_reprieve(names, reprieve) for reprieve in record.reprieves],
                    "victims": names.pods(record.victims),
                    "n_pdb_violations": record.n_pdb_violations,
                }
        case ExtenderColumns():
            removed = names.nodes(event.removed.array().tolist())
            reasons = [event.reasons[i] for i in event.reason.array().tolist()]
            scored = names.nodes(event.nodes.array().tolist())
            document["extenders"][event.call] |= {
                "removed": dict(zip(removed, reasons, strict=True)),
                "scores": dict(zip(scored, event.scores.array().tolist(), strict=True)),
            }


def examined(names: Names, event: FilterColumns, started: CycleStarted) -> list[str]:
    """The nodes Filter looked at, in order (n_examined,)."""
    n_examined = len(event.status.array())
    if event.nodes is not None:
        return names.nodes(event.nodes.array().tolist())
    start = started.start_index
    order = names.order[start:] + names.order[:start]
    return names.nodes(order[:n_examined])


def rejections(
    names: Names, event: FilterColumns, started: CycleStarted
) -> dict[str, StatusDocument]:
    """The status of every rejected node, by name."""
    statuses = [names.status(status) for status in event.statuses]
    nodes = examined(names, event, started)
    return {
        node: statuses[index]
        for node, index in zip(nodes, event.status.array().tolist(), strict=True)
        if index
    }


def _scores(nodes: list[str], scores: PluginScores) -> ScoresDocument:
    return {
        "weight": scores.weight,
        "raw": dict(zip(nodes, scores.raw.array().tolist(), strict=True)),
        "normalized": dict(zip(nodes, scores.normalized.array().tolist(), strict=True)),
    }
