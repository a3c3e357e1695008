"""One scheduling cycle in names instead of numbers, as REST and scripts see it.

Pure: no database. `cycle_document` turns a cycle's record into JSON-able values, keyed as in the
recorded conformance data, in snake_case.
"""

from __future__ import annotations

from typing import Required, TypedDict

from scheduler_core.framework.status import Status
from scheduler_core.trace.cycle_record import CycleRecord, examined
from scheduler_core.trace.events import (
    DevicesAllocated,
    ExtenderCalled,
    ExtenderColumns,
    FilterColumns,
    NodeSelected,
    PostFilterFinished,
    PreemptionDecided,
    PreemptionDryRun,
    PreemptionStarted,
    PreFilterFinished,
    PreScoreFinished,
    QueueMoved,
    ScoreColumns,
)
from scheduler_core.trace.names import Names
from scheduler_core.trace.nominated import nominated_by_node, nominated_document
from scheduler_core.trace.records import (
    NONE,
    Column,
    HintRecord,
    PluginScores,
    ReprieveRecord,
    StatusRecord,
)

Json = dict[str, object]


class StatusDocument(TypedDict, total=False):
    """`nominated` is set where nominated pods make a difference to Filter's verdict of a node."""

    code: Required[str]
    plugin: str
    reasons: list[str]
    nominated: Json


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
    """One cycle. Keys that are not required are absent when the cycle did not get that far.

    `not_modelled` is of its run: what the input asks for and the engine does not do; so is
    `release_text`, whose scheduler it follows and why. `unreserved`
    has the node, and the plugins that undid their Reserve there, the last to reserve first.
    """

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
    n_held: Required[int]
    rejected_by: Required[dict[str, int]]
    filter: Required[dict[str, StatusDocument]]
    feasible: Required[list[str]]
    pre_score: Json
    scores: Required[dict[str, ScoresDocument]]
    totals: Required[dict[str, int]]
    top_nodes: Required[list[str]]
    selection: Required[Json | None]
    preemption: Required[PreemptionDocument | None]
    devices: Required[list[Json]]
    not_modelled: list[str]
    release_text: str
    points: Required[list[Json]]
    unreserved: Json
    extenders: Required[list[Json]]
    nominations: Required[list[Json]]
    moves: Required[list[Json]]
    events: Required[list[Json]]


def cycle_document(names: Names, record: CycleRecord) -> CycleDocument:
    """Everything about one cycle; `names` as of its end."""
    started, finished, step = record.started, record.finished, record.filter
    document: CycleDocument = {
        "cycle": started.cycle,
        "pod": names.pod(started.pod),
        "attempt": started.attempt,
        "scheduler_name": names.profiles[started.profile].scheduler_name,
        "filter_plugins": names.plugin_names(names.attached(started.profile, "Filter").plugins),
        "popped_from": started.popped_from.name.lower(),
        "start_index": started.start_index,
        "n_nodes": started.n_nodes,
        "result": finished.result.name.lower() if finished else "",
        "node": names.node(finished.node) if finished else "",
        "message": finished.message if finished else "",
        "unschedulable_plugins": names.plugin_names(finished.unschedulable_plugins)
        if finished
        else [],
        "pending_plugins": names.plugin_names(finished.pending_plugins) if finished else [],
        "n_examined": step.n_examined if step else 0,
        "n_feasible": step.n_feasible if step else 0,
        "n_held": step.n_held if step else 0,
        "rejected_by": {names.plugin(r.plugin): r.n_nodes for r in step.rejected} if step else {},
        "filter": {},
        "feasible": [],
        "scores": {},
        "totals": {},
        "top_nodes": [],
        "selection": _selection(names, record.selected) if record.selected else None,
        "preemption": _preemption(names, record) if record.has_preemption else None,
        "devices": [_devices(event) for event in record.devices],
        "points": [
            {"point": point.point, "status": status_document(names, point.status)}
            for point in record.points
        ],
        "extenders": [
            _call(call) | _call_columns(names, record.extender_columns.get(i))
            for i, call in enumerate(record.extender_calls)
        ],
        "nominations": [
            {"pod": names.pod(event.pod), "node": names.node(event.node)}
            for event in record.nominations
        ],
        "moves": [_move(names, move) for move in record.moves],
        "events": [
            {"type": event.type, "reason": event.reason, "message": event.message}
            for event in record.recorded
        ],
    }
    if step is not None:
        document["n_to_find"] = step.n_to_find
        document["by_nomination"] = step.by_nomination
    if record.pre_filter is not None:
        document["pre_filter"] = _pre_filter(names, record.pre_filter)
    if record.filter_columns is not None:
        document["filter"] = _rejections(names, record, record.filter_columns)
        document["feasible"] = names.nodes(record.filter_columns.feasible.array().tolist())
    if record.unreserved is not None:
        document["unreserved"] = {
            "node": names.node(record.unreserved.node),
            "plugins": names.plugin_names(record.unreserved.plugins),
        }
    if record.pre_score is not None:
        document["pre_score"] = _pre_score(names, record.pre_score)
    if record.score_columns is not None:
        _add_scores(document, names, record.score_columns)
    return document


def _devices(event: DevicesAllocated) -> Json:
    """One claim of the pod's, with the devices it gets on the node."""
    return {
        "claim": event.claim,
        "allocated_before": event.allocated_before,
        "devices": [
            {
                "request": device.request,
                "driver": device.driver,
                "pool": device.pool,
                "device": device.device,
                "shared": device.shared,
                "admin_access": device.admin_access,
                "consumed": device.consumed,
            }
            for device in event.devices
        ],
    }


def answer_document(status: Status) -> StatusDocument:
    """A plugin's own answer, as recorded statuses are given out."""
    document: StatusDocument = {"code": status.code.label}
    if status.plugin:
        document["plugin"] = status.plugin
    if status.reasons:
        document["reasons"] = list(status.reasons)
    return document


def status_document(names: Names, status: StatusRecord) -> StatusDocument:
    document: StatusDocument = {"code": status.code}
    if status.plugin != NONE:
        document["plugin"] = names.plugin(status.plugin)
    if status.reasons:
        document["reasons"] = list(status.reasons)
    return document


def _pre_filter(names: Names, event: PreFilterFinished) -> Json:
    return {
        "status": status_document(names, event.status),
        "skipped": names.plugin_names(event.skipped),
        "node_names": None if event.narrowed is None else names.nodes(event.narrowed),
    }


def _rejections(
    names: Names, record: CycleRecord, columns: FilterColumns
) -> dict[str, StatusDocument]:
    """The status of every rejected node, by name, in the order in which nodes were examined."""
    statuses = [status_document(names, status) for status in columns.statuses]
    nodes = names.nodes(examined(record, names.order))
    found = {
        node: statuses[index]
        for node, index in zip(nodes, columns.status.array().tolist(), strict=True)
        if index
    }
    for number, nominated in nominated_by_node(record, names).items():
        node = names.node(number)
        found[node] = {**found[node], "nominated": nominated_document(nominated)}
    return found


def _pre_score(names: Names, event: PreScoreFinished) -> Json:
    return {
        "status": status_document(names, event.status),
        "skipped": names.plugin_names(event.skipped),
    }


def _add_scores(document: CycleDocument, names: Names, event: ScoreColumns) -> None:
    nodes = names.nodes(event.nodes.array().tolist())
    totals = event.totals.array()
    document["scores"] = {
        names.plugin(scores.plugin): _scores(nodes, scores) for scores in event.plugins
    }
    document["totals"] = _by_node(nodes, event.totals)
    top = totals == totals.max() if totals.size else totals
    document["top_nodes"] = sorted(nodes[i] for i in top.nonzero()[0].tolist())


def _scores(nodes: list[str], scores: PluginScores) -> ScoresDocument:
    return {
        "weight": scores.weight,
        "raw": _by_node(nodes, scores.raw),
        "normalized": _by_node(nodes, scores.normalized),
    }


def _by_node(nodes: list[str], values: Column) -> dict[str, int]:
    """Values of the scored nodes; none as long as they are hidden."""
    found = values.array().tolist()
    return dict(zip(nodes, found, strict=True)) if found else {}


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


def _call(event: ExtenderCalled) -> Json:
    """One call to an extender, but for what it did to single nodes."""
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


def _call_columns(names: Names, event: ExtenderColumns | None) -> Json:
    if event is None:
        return {"removed": {}, "scores": {}}
    removed = names.nodes(event.removed.array().tolist())
    reasons = [event.reasons[i] for i in event.reason.array().tolist()]
    scored = names.nodes(event.nodes.array().tolist())
    return {
        "removed": dict(zip(removed, reasons, strict=True)),
        "scores": dict(zip(scored, event.scores.array().tolist(), strict=True)),
    }


# ---------------------------------------------------------------- preemption


def _preemption(names: Names, record: CycleRecord) -> PreemptionDocument:
    document: PreemptionDocument = {"candidates": {}, "non_candidates": {}, "victims": []}
    if record.preemption_started is not None:
        _add_start(document, record.preemption_started)
    if record.preemption_ineligible is not None:
        document["ineligible"] = record.preemption_ineligible.reason
    if record.preemption_dry_run is not None:
        _add_dry_runs(document, names, record.preemption_dry_run)
    if record.preemption_decided is not None:
        document["criteria"] = _criteria(names, record.preemption_decided)
        document["winner"] = names.node(record.preemption_decided.winner)
        document["victims"] = names.pods(record.preemption_decided.victims)
    if record.post_filter is not None:
        _add_post_filter(document, names, record.post_filter)
    return document


def _add_start(document: PreemptionDocument, event: PreemptionStarted) -> None:
    document["n_potential"] = event.n_potential
    document["offset"] = event.offset
    document["n_wanted"] = event.n_wanted


def _add_post_filter(document: PreemptionDocument, names: Names, event: PostFilterFinished) -> None:
    document["status"] = status_document(names, event.status)
    document["nominating"] = event.nominating
    document["nominated_node"] = names.node(event.node)


def _add_dry_runs(document: PreemptionDocument, names: Names, event: PreemptionDryRun) -> None:
    for record in event.candidates:
        is_candidate = record.status.code == "Success"
        group = document["candidates" if is_candidate else "non_candidates"]
        group[names.node(record.node)] = {
            "status": status_document(names, record.status),
            "removed": names.pods(record.removed),
            "reprieves": [_reprieve(names, reprieve) for reprieve in record.reprieves],
            "victims": names.pods(record.victims),
            "n_pdb_violations": record.n_pdb_violations,
        }


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
        "budgets": list(record.budgets),
        "plugin": names.plugin(record.plugin),
    }
