"""Replaying a recorded single cycle: every verdict, every score, the pick and the message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import numpy as np

from kviz.conformance.cases import Case, Json, read_object
from kviz.conformance.devices import (
    PLUGIN,
    claims_now,
    compare_deallocated,
    compare_node_allocations,
    compare_unavailable,
)
from kviz.conformance.replay import RECORDING_START_NS, Replay, status_of
from kviz.conformance.result import CaseResult
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ConfigError
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.preemption.pick import earliest_start_ns
from scheduler_core.preemption.report import DryRun, PreemptionReport
from scheduler_core.scheduler.selection import heap_root

ByNode = dict[str, object]


def replay_cycle(case: Case) -> CaseResult:
    """Schedule the case's pod and compare everything that was recorded."""
    result = CaseResult(case.name, case.release.name)
    expected = case.expected
    try:
        replay = Replay(case)
    except ConfigError as error:
        result.compare("configError", bool(expected.get("configError")), bool(error.problems))
        return result
    if "configError" in expected:
        result.compare("configError", True, False)
        return result
    replay.load([*case.objects, read_object(cast(Json, case.given["pod"]))])
    pod_name = cast(Json, cast(Json, case.given["pod"])["metadata"])
    pod = replay.pod(f"{pod_name.get('namespace', 'default')}/{pod_name['name']}")
    framework = replay.scheduler.profiles.get(pod.pod.spec.scheduler_name)
    if framework is None:
        result.compare("error", True, "error" in expected)
        return result
    CycleReplay(result, expected, replay, framework, pod).run()
    return result


class CycleReplay:
    """Compares one cycle of a pod with what was recorded of it."""

    def __init__(
        self, result: CaseResult, expected: Json, replay: Replay, framework: Framework, pod: PodInfo
    ) -> None:
        self._result = result
        self._expected = expected
        self._replay = replay
        self._framework = framework
        self._pod = pod

    def run(self) -> None:
        scheduler = self._replay.scheduler
        nodes = scheduler.cache.update_snapshot()
        self._compare("nodeOrder", nodes.names)
        queued = scheduler.queue.get(self._pod.key)
        if queued is not None and queued.gated:
            self._compare("result", "gated")
            gating = next(
                plugin
                for plugin in self._framework.pre_enqueue_plugins
                if plugin.name == queued.gating_plugin
            )
            status = gating.pre_enqueue(self._pod)
            self._compare("preEnqueue", status_of(status.by(queued.gating_plugin)))
            return
        if "preFilter" in self._expected:
            self.compare_filtering(nodes)
        self._attempt()

    def _compare(self, what: str, got: object, plugin: str = "") -> None:
        self._result.compare(what, self._expected.get(what), got, plugin)

    # ------------------------------------------------------------ filtering and scoring

    def compare_filtering(self, nodes: Nodes) -> None:
        """Filter and score all nodes, although the real search may end early."""
        state = CycleState()
        pre_filter = self._framework.run_pre_filter(state, self._pod, nodes)
        got: dict[str, object] = {
            "status": status_of(pre_filter.status),
            "skipped": sorted(state.skip_filter),
        }
        if pre_filter.node_names is not None and pre_filter.status.is_success:
            got["nodeNames"] = sorted(pre_filter.node_names)
        expected = {"skipped": [], **cast(Json, self._expected["preFilter"])}
        if "nodeNames" in expected:
            expected["nodeNames"] = sorted(cast(Sequence[str], expected["nodeNames"]))
        self._result.compare("preFilter", expected, got)
        if not pre_filter.status.is_success:
            return
        if pre_filter.node_names is not None:
            names = pre_filter.node_names
            nodes = nodes.take(np.array([name in names for name in nodes.names], np.bool_))
        self._verdicts(state, nodes)
        if "scores" in self._expected:
            self._scores(state, nodes)

    def _verdicts(self, state: CycleState, nodes: Nodes) -> None:
        verdicts = self._framework.run_filter_with_nominated_pods(state, self._pod, nodes)
        rejected = {
            nodes.name(i): status_of(verdicts.status(i))
            for i in range(nodes.n)
            if not verdicts.fits[i]
        }
        recorded = cast(Mapping[str, Json], self._expected.get("filter", {}))
        plain = {
            name: {key: value for key, value in status.items() if key != "individually"}
            for name, status in recorded.items()
        }
        self._result.compare("filter", plain, rejected)
        self._individually(state, nodes, recorded)
        devices = cast(Json, self._expected.get("dra", {}))
        claims, feasible = state.pre_filter.get(PLUGIN), self._expected.get("feasible", ())
        compare_node_allocations(self._result, devices, claims, cast(Sequence[str], feasible))
        compare_unavailable(self._result, devices, claims)

    def _individually(self, state: CycleState, nodes: Nodes, recorded: Mapping[str, Json]) -> None:
        """Compare every plugin's own verdict on every node that was rejected."""
        by_plugin = self._framework.run_filter_individually(state, self._pod, nodes)
        for i, name in enumerate(nodes.names):
            if "individually" not in recorded.get(name, {}):
                continue
            expected = cast(Mapping[str, Json], recorded[name]["individually"])
            for plugin, verdict in by_plugin.items():
                status = verdict.status(i)
                got = None if status.is_success else status_of(status)
                self._result.compare(f"filter[{name}]", expected.get(plugin), got, plugin)

    def _scores(self, state: CycleState, nodes: Nodes) -> None:
        feasible_names = cast(Sequence[str], self._expected["feasible"])
        feasible = nodes.take(
            np.array([nodes.names.index(name) for name in feasible_names], np.int64)
        )
        algorithm = self._replay.scheduler.algorithm
        scoring = algorithm.prioritize(self._framework, state, self._pod, feasible)
        skipped = sorted(state.skip_score)
        expected_skips = cast(Json, self._expected.get("preScore", {})).get("skipped", [])
        self._result.compare("preScore.skipped", expected_skips, skipped)
        recorded = cast(Mapping[str, Json], self._expected["scores"])
        got = {score.plugin: score for score in scoring.scores}
        self._result.compare("scores", sorted(recorded), sorted(got))
        for plugin, expected in recorded.items():
            if plugin in got:
                score = got[plugin]
                self._result.compare(f"scores.{plugin}.weight", expected["weight"], score.weight)
                self._cells(plugin, "raw", expected, feasible, score.raw.tolist())
                self._cells(plugin, "normalized", expected, feasible, score.normalized.tolist())
        totals = dict(zip(feasible.names, scoring.totals.tolist(), strict=True))
        self._compare("totals", totals)
        best = max(totals.values())
        self._compare("topNodes", sorted(n for n, total in totals.items() if total == best))
        if "pick" in self._expected and not self._expected.get("pickOrderRandom"):
            self._compare("pick", feasible.name(heap_root(scoring.totals)))

    def _cells(
        self, plugin: str, kind: str, expected: Json, feasible: Nodes, got: list[int]
    ) -> None:
        """Compare a plugin's scores, unless it gives every node the same: that decides nothing."""
        recorded = cast(Mapping[str, int], expected[kind])
        if len({*map(recorded.get, feasible.names), *got}) == 1:
            return
        for name, value in zip(feasible.names, got, strict=True):
            self._result.compare(f"{kind}[{name}]", recorded.get(name), value, plugin)

    # ------------------------------------------------------------ the attempt itself

    def _attempt(self) -> None:
        server = self._replay.simulation.server
        before = claims_now(server)
        attempt = self._replay.attempt_pod(self._pod)
        compare_deallocated(self._result, cast(Json, self._expected.get("dra", {})), before, server)
        # A recorded cycle ends with the pick: how binding would go is not in it.
        fits = attempt.result in ("scheduled", "bindError")
        result = "fits" if fits else attempt.result
        self._compare("result", result if attempt.cycle.nodes.n else "error")
        if "message" in self._expected:
            self._compare("message", attempt.message)
        if "unschedulablePlugins" in self._expected:
            self._compare("unschedulablePlugins", sorted(attempt.unschedulable_plugins))
        if "feasible" in self._expected and attempt.cycle.filtering is not None:
            self._compare("feasible", attempt.cycle.filtering.feasible.names)
        if "postFilter" in self._expected and attempt.post_filter is not None:
            self._post_filter(cast(Json, self._expected["postFilter"]), attempt.post_filter)

    def _post_filter(self, expected: Json, outcome: PostFilterOutcome) -> None:
        compare = self._result.compare
        compare("postFilter.status", expected.get("status"), status_of(outcome.status))
        compare("postFilter.mode", expected.get("nominatingMode", ""), outcome.nominating)
        report = outcome.report
        if not isinstance(report, PreemptionReport):
            compare("postFilter.candidates", expected.get("candidates", {}), {})
            return
        compare("postFilter.ineligible", expected.get("ineligible", ""), report.ineligible)
        if report.ineligible:
            return
        compare(
            "postFilter.potentialNodes",
            sorted(cast(Sequence[str], expected.get("potentialNodes", ()))),
            sorted(report.potential.names if report.potential is not None else ()),
        )
        limited = bool(expected.get("nominatedOutsideBest"))
        limited = limited or report.n_wanted < report.n_potential
        if not limited:
            self._candidates(expected, report)
        best = cast(Sequence[str], expected.get("bestNodes", ()))
        allowed = list(cast(Json, expected.get("candidates", {}))) if limited else best
        if allowed:
            compare("postFilter.nominatedNode in bestNodes", True, report.winner in allowed)

    def _candidates(self, expected: Json, report: PreemptionReport) -> None:
        candidates = {
            attempt.node_name: _candidate(attempt)
            for attempt in report.dry_runs
            if attempt.status.is_success
        }
        rejected = {
            attempt.node_name: status_of(attempt.status)
            for attempt in report.dry_runs
            if not attempt.status.is_success
        }
        plugin = "DefaultPreemption"
        recorded = cast(Mapping[str, Json], expected.get("candidates", {}))
        for name in sorted({*recorded, *candidates}):
            what = f"postFilter.candidates[{name}]"
            self._result.compare(what, recorded.get(name), candidates.get(name), plugin)
        refused = cast(Mapping[str, Json], expected.get("nonCandidates", {}))
        for name in sorted({*refused, *rejected}):
            what = f"postFilter.nonCandidates[{name}]"
            self._result.compare(what, refused.get(name), rejected.get(name), plugin)


def _candidate(attempt: DryRun) -> ByNode:
    started = datetime.fromtimestamp(earliest_start_ns(attempt, RECORDING_START_NS) / 1e9, UTC)
    return {
        "criteria": {
            "pdbViolations": attempt.n_pdb_violations,
            "highestPriority": attempt.victims[0].priority,
            "sumPriorities": attempt.sum_of_priorities,
            "numVictims": len(attempt.victims),
            "earliestStart": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
        "numPDBViolations": attempt.n_pdb_violations,
        "victims": [victim.key for victim in attempt.victims],
    }
