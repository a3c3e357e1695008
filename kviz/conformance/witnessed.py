"""One cluster, scheduled by the real kube-scheduler and by kviz, decision by decision.

The witness makes its attempts one after the other, each when all that the last one caused has
happened. kviz makes the same attempts in the same virtual time. What a decision leaves behind
decides about the next ones, so after one that ends otherwise nothing more is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from kviz.conformance.cases import Case
from kviz.conformance.cycle import CycleReplay
from kviz.conformance.replay import Attempt, Replay
from kviz.conformance.result import CaseResult
from kviz.witness import Json, Witness, WitnessProblem
from scheduler_core.api import KubeObject, Pod
from scheduler_core.changes.documents import object_document
from scheduler_core.config import ConfigError, FeatureGates
from scheduler_core.framework.status import Code
from scheduler_core.scheduler.event_handlers import is_visible
from scheduler_core.sim.run import admitted, in_sync_order

BATCHING = "OpportunisticBatching"
NO_NOMINATION = {"mode": "", "node": ""}
DECIDES = ("pod", "result", "node", "nominating", "victims")
"""What of an attempt later attempts depend on."""
AFTER_ERROR = "verdicts on nodes where a plugin failed on one"
AFTER = "attempts after one that ended otherwise"


@dataclass(frozen=True, slots=True)
class Cluster:
    """What both schedule. `configuration` is a KubeSchedulerConfiguration as plain data."""

    name: str
    objects: Sequence[KubeObject]
    features: FeatureGates
    configuration: object = None

    def case(self) -> Case:
        batching = self.features.enabled(BATCHING)
        gates = {BATCHING: batching, **dict(self.features.overrides)}
        given = {
            "config": self.configuration,
            "featureGates": gates,
            "sampling": "configured",
        }
        return Case(self.name, "witness", given, {}, self.features.release)


def verify(cluster: Cluster, witness: Witness) -> Iterator[CaseResult]:
    """Yield the comparison of every attempt, and of where the pods are at the end if it differs.

    Raises WitnessProblem, and ConfigError if both refuse the configuration.
    """
    case = cluster.case()
    refused: ConfigError | None = None
    replay, forced = None, _Forced()
    try:
        replay = Replay(case, break_tie=forced)
    except ConfigError as error:
        refused = error
    stored = _load(replay, cluster) if replay else []
    said = witness.says({**case.given, "objects": stored})
    begun = next(said, {})
    if "configError" in begun or replay is None:
        yield _refusals(cluster, str(begun.get("configError", "")), refused)
        return
    if not str(begun.get("recordedFrom", "")).endswith(f"v{cluster.features.release.name}"):
        raise WitnessProblem(
            f"{witness.path} is {begun.get('recordedFrom')}, not v{cluster.features.release.name}"
        )
    yield from _Verification(cluster, replay, forced).results(said)


def _load(replay: Replay, cluster: Cluster) -> list[Json]:
    """Load kviz; return the objects as its API server holds them, in order of creation."""
    objects, _ = admitted(cluster.objects)
    loaded = [x for x in in_sync_order(objects) if not isinstance(x, Pod) or is_visible(x)]
    replay.load(loaded)
    server = replay.simulation.server
    stored = (server.get(type(item), item.key) for item in loaded)
    return [object_document(item) for item in stored if item is not None]


def _refusals(cluster: Cluster, by_witness: str, by_kviz: ConfigError | None) -> CaseResult:
    result = CaseResult(f"{cluster.name}: the configuration", cluster.features.release.name)
    result.compare("refused", bool(by_witness), by_kviz is not None)
    return result


class _Forced:
    """Breaks ties between candidates of preemption as the witness did: its order is a map's."""

    node = ""

    def __call__(self, node_names: Sequence[str]) -> str:
        return self.node if self.node in node_names else node_names[0]


class _Verification:
    def __init__(self, cluster: Cluster, replay: Replay, forced: _Forced) -> None:
        self._cluster = cluster
        self._replay = replay
        self._forced = forced

    def results(self, said: Iterator[Json]) -> Iterator[CaseResult]:
        apart = False
        for n, expected in enumerate(said, 1):
            if "final" in expected:
                result = self._result("at the end", AFTER if apart else "")
                if not apart:
                    self._final(result, cast(Mapping[str, str], expected["final"]))
                if not result.identical:
                    yield result
            else:
                result = self._result(f"decision {n}, {expected['pod']}", AFTER if apart else "")
                if not apart:
                    self._compare(result, expected)
                    apart = any(each.field in DECIDES for each in result.differences)
                yield result

    def _result(self, name: str, left_out: str = "") -> CaseResult:
        release = self._cluster.features.release.name
        return CaseResult(f"{self._cluster.name}, {name}", release, left_out)

    def _compare(self, result: CaseResult, expected: Json) -> None:
        replay = self._replay
        pod = replay.simulation.server.get(Pod, str(expected["pod"]))
        if pod is None:
            result.compare("pod", expected["pod"], None)
            return
        replay.set_clock(cast(int, expected["t"]))
        framework = replay.scheduler.profiles[pod.spec.scheduler_name]
        nodes = replay.scheduler.cache.update_snapshot()
        result.compare("nodeOrder", expected.get("nodeOrder", []), nodes.names)
        if _meets_an_error(expected):
            result.leave_out(AFTER_ERROR)
        elif "preFilter" in expected:
            info = replay.pod(pod.key)
            CycleReplay(result, expected, replay, framework, info).compare_filtering(nodes)
        nominating = cast(Mapping[str, str], expected.get("nominating", NO_NOMINATION))
        self._forced.node = nominating["node"]
        attempt = replay.attempt()
        if attempt is None:
            result.compare("pod", expected["pod"], None)
        else:
            _compare_attempt(result, expected, attempt)

    def _final(self, result: CaseResult, expected: Mapping[str, str]) -> None:
        extra = self._replay.attempt()
        result.compare("another attempt", None, extra.cycle.pod.key if extra else None)
        pods = self._replay.simulation.server.all(Pod)
        nodes = {pod.key: pod.spec.node_name for pod in pods if is_visible(pod)}
        for key in sorted({*expected, *nodes}):
            result.compare(f"node of {key}", expected.get(key), nodes.get(key))


def _meets_an_error(expected: Json) -> bool:
    """Return whether a plugin failed on some node: the attempt ends there, the others wait."""
    verdicts = cast(Mapping[str, Json], expected.get("filter", {}))
    return any(status["code"] == Code.ERROR.label for status in verdicts.values())


def _compare_attempt(result: CaseResult, expected: Json, attempt: Attempt) -> None:
    outcome = attempt.post_filter
    victims = [v.key for v in outcome.victims if not v.terminating] if outcome else []
    node = attempt.cycle.suggested_host if attempt.result != "unschedulable" else ""
    compare = result.compare
    compare("pod", expected["pod"], attempt.cycle.pod.key)
    compare("attempt", expected["attempt"], attempt.number)
    compare("result", expected["result"], attempt.result)
    compare("node", expected.get("node", ""), node)
    compare("message", expected.get("message", ""), attempt.message)
    plugins = sorted(attempt.unschedulable_plugins)
    compare("unschedulablePlugins", expected.get("unschedulablePlugins", []), plugins)
    compare("nominating", expected.get("nominating", NO_NOMINATION), attempt.nominating())
    compare("victims", expected.get("victims", []), victims)
    filtering = attempt.cycle.filtering
    if filtering is not None and expected.get("feasibleNodes"):
        compare("feasibleNodes", expected["feasibleNodes"], filtering.feasible.n)
        compare("evaluatedNodes", expected["evaluatedNodes"], filtering.examined.n)
