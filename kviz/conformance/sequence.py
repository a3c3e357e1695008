"""Replaying a recorded sequence of events: attempts, queue moves and hints, step by step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from kviz.conformance.cases import Case, Json, list_of
from kviz.conformance.devices import PLUGIN, WrittenClaims, claim_records
from kviz.conformance.replay import (
    MILLI_NS,
    RECORDING_START_NS,
    SECOND_MS,
    Attempt,
    Replay,
)
from kviz.conformance.result import CaseResult
from scheduler_core.api import Pod
from scheduler_core.config import ConfigError
from scheduler_core.preemption.report import PreemptionReport
from scheduler_core.queue.moves import Move, QueueEvent, Via
from scheduler_core.scheduler.event_handlers import is_visible
from scheduler_core.trace.records import Queue

PLACES = {
    Queue.ACTIVE: "Active",
    Queue.BACKOFF: "Backoff",
    Queue.UNSCHEDULABLE: "Unschedulable",
    Queue.GATED: "Unschedulable",
}
RECORDED_VIA = (Via.CLUSTER_EVENT, Via.SELF_UPDATE, Via.IN_FLIGHT_EVENT, Via.ATTEMPT_FAILURE)


def replay_sequence(case: Case) -> CaseResult:
    """Apply the case's events one by one and compare everything that was recorded."""
    result = CaseResult(case.name, case.release.name)
    try:
        replay = _SequenceReplay(case, result)
    except ConfigError as error:
        result.compare("configError", bool(case.expected.get("configError")), bool(error.problems))
        return result
    replay.run()
    return result


class _SequenceReplay:
    def __init__(self, case: Case, result: CaseResult) -> None:
        self._case = case
        self._result = result
        self._forced = ""
        self._replay = Replay(case, break_tie=self._break_tie)
        self._queue = self._replay.scheduler.queue
        self._written_claims = WrittenClaims(self._replay.simulation.server)
        self._steps = list_of(case.expected, "steps")

    def _break_tie(self, node_names: Sequence[str]) -> str:
        """Take the candidate the recording took, where upstream's choice is arbitrary."""
        return self._forced if self._forced in node_names else node_names[0]

    def run(self) -> None:
        events = list_of(self._case.given, "events")
        self._replay.load(self._case.objects)
        self._compare_queue(self._steps[0], "initial")
        for i, (event, step) in enumerate(zip(events, self._steps[1:], strict=True)):
            where = f"step {i} ({event['op']})"
            if event["op"] == "advance":
                self._advance(event, step, where)
            else:
                self._apply(event, step, where)
            self._compare_queue(step, where)
        pods = self._replay.simulation.server.all(Pod)
        final = {pod.key: pod.spec.node_name for pod in pods if is_visible(pod)}
        self._result.compare("final", self._case.expected["final"], final)
        if "finalClaims" in self._case.expected:
            claims = claim_records(self._replay.simulation.server)
            self._result.compare("finalClaims", self._case.expected["finalClaims"], claims, PLUGIN)

    # ------------------------------------------------------------ events

    def _apply(self, event: Json, step: Json, where: str) -> None:
        self._replay.set_clock(cast(int, step["t"]))
        moves = self._queue_events()
        skipped = self._replay.apply(event)
        self._result.compare(f"{where} skipped", step.get("skipped", ""), skipped)
        self._compare_moves(f"{where} moves", step.get("moves"), moves)
        limit = cast("int | None", event.get("maxAttempts"))
        self._attempts(list_of(step, "attempts"), limit, where)

    def _advance(self, event: Json, step: Json, where: str) -> None:
        """Let the scheduler run at every full second."""
        recorded = list_of(step, "attempts")
        limit = cast("int | None", event.get("maxAttempts"))
        start_ms, seconds = cast(int, step["t"]), cast(int, event["seconds"])
        for second_ms in self._replay.full_seconds(start_ms, seconds):
            due = [a for a in recorded if 0 <= cast(int, a["t"]) - second_ms < SECOND_MS]
            self._attempts(due, limit, where)
        self._replay.set_clock(cast(int, step["tEnd"]))

    # ------------------------------------------------------------ attempts

    def _attempts(self, recorded: Sequence[Json], limit: int | None, where: str) -> None:
        for k, expected in enumerate(recorded):
            self._attempt(expected, f"{where} attempt {k}")
        if limit is None or len(recorded) < limit:
            extra = self._replay.attempt()
            if extra is not None:
                self._result.compare(f"{where} attempts", None, extra.cycle.pod.key)

    def _attempt(self, expected: Json, where: str) -> None:
        self._replay.set_clock(cast(int, expected["t"]))
        nominating = cast(Json, expected.get("nominating", {}))
        self._forced = str(nominating.get("node", ""))
        moves = self._queue_events()
        preemption_moves: list[QueueEvent] = []
        self._written_claims.take()
        attempt = self._replay.attempt(before_background=lambda: preemption_moves.extend(moves()))
        if attempt is None:
            self._result.compare(f"{where} pod", expected["pod"], None)
            return
        self._compare_attempt(expected, attempt, where)
        written = self._written_claims.take()
        recorded = expected.get("claims", {})
        if recorded or written:
            self._result.compare(f"{where} claims", recorded, written, PLUGIN)
        self._compare_list(f"{where} moves", expected.get("moves"), preemption_moves)
        self._compare_moves(f"{where} preemptionMoves", expected.get("preemptionMoves"), moves)

    def _compare_attempt(self, expected: Json, attempt: Attempt, where: str) -> None:
        def compare(what: str, got: object) -> None:
            self._result.compare(f"{where} {what}", expected.get(what), got)

        compare("pod", attempt.cycle.pod.key)
        compare("attempt", attempt.number)
        compare("from", attempt.source)
        compare("result", attempt.result)
        if "startIndex" in expected:
            compare("startIndex", attempt.cycle.start_index)
        batch = attempt.cycle.batch
        self._result.compare(
            f"{where} nodeHint", expected.get("nodeHint", ""), batch.hint if batch else ""
        )
        if "node" in expected:
            compare("node", attempt.cycle.suggested_host)
        if "message" in expected:
            compare("message", attempt.message)
        if "unschedulablePlugins" in expected:
            compare("unschedulablePlugins", sorted(attempt.unschedulable_plugins))
        if "feasible" in expected and attempt.cycle.filtering is not None:
            compare("feasible", attempt.cycle.filtering.feasible.names)
        if "totals" in expected:
            compare("totals", attempt.totals())
        if "nominating" in expected:
            compare("nominating", attempt.nominating())
        self._compare_preemption(expected, attempt, where)

    def _compare_preemption(self, expected: Json, attempt: Attempt, where: str) -> None:
        outcome = attempt.post_filter
        victims = [v.key for v in outcome.victims if not v.terminating] if outcome else []
        recorded = list(cast(Sequence[str], expected.get("victims", ())))
        self._result.compare(f"{where} victims", recorded, victims)
        report = outcome.report if outcome else None
        if "preemptionCandidates" in expected and isinstance(report, PreemptionReport):
            candidates = {
                run.node_name: {
                    "numPDBViolations": run.n_pdb_violations,
                    "victims": [victim.key for victim in run.victims],
                }
                for run in report.dry_runs
                if run.status.is_success
            }
            self._result.compare(
                f"{where} preemptionCandidates", expected["preemptionCandidates"], candidates
            )

    # ------------------------------------------------------------ queue

    def _queue_events(self) -> _Since:
        return _Since(self._replay.queue_events)

    def _compare_moves(self, what: str, expected: object, since: _Since) -> None:
        self._compare_list(what, expected, since())

    def _compare_list(self, what: str, expected: object, events: Sequence[QueueEvent]) -> None:
        recorded = [_normal(move) for move in cast(Sequence[Json], expected or ())]
        got = [
            _move(event)
            for event in events
            if isinstance(event, Move) and event.via in RECORDED_VIA
        ]
        self._result.compare(what, sorted(recorded, key=_order), sorted(got, key=_order))

    def _compare_queue(self, step: Json, where: str) -> None:
        queue = self._queue
        backoff = queue.backoff_pods()
        got: dict[str, object] = {
            "active": sorted(queued.key for queued in queue.active_pods()),
            "backoff": sorted(queued.key for queued in backoff),
            "unschedulable": sorted(queued.key for queued in queue.unschedulable_pods()),
            "gated": {queued.key: queued.gating_plugin for queued in queue.gated_pods()},
            "nominated": queue.nominator.nominations(),
            "backoffUntilMs": {
                queued.key: (queue.backoff_until_ns(queued) - RECORDING_START_NS) // MILLI_NS
                for queued in backoff
            },
        }
        got = {key: value for key, value in got.items() if value}
        self._result.compare(f"{where} queue", step.get("queue", {}), got)


class _Since:
    """Yields the queue's events since it was made or last asked."""

    def __init__(self, events: list[QueueEvent]) -> None:
        self._events = events
        self._at = len(events)

    def __call__(self) -> list[QueueEvent]:
        fresh = self._events[self._at :]
        self._at = len(self._events)
        return fresh


def _order(move: Json) -> str:
    return json.dumps(move, sort_keys=True)


def _normal(move: Json) -> dict[str, object]:
    return {"object": "", "hints": {}, **move}


def _move(move: Move) -> dict[str, object]:
    document: dict[str, object] = {
        "event": move.event,
        "object": move.cause,
        "pod": move.pod.key,
        "hints": {hint.plugin: hint.hint.value for hint in move.hints},
        "strategy": move.strategy.value if move.strategy else "",
        "via": move.via.value,
    }
    if move.queue in PLACES:
        document["queue"] = PLACES[move.queue]
    return document
