"""Comparing the attempts of a recorded run with kviz's own, without what is random.

In a large cluster the scheduler scores a sample of the feasible nodes, and which ones is a matter
of chance. Then every recorded node must be feasible here too, and each score that does not depend
on who else was in the sample must be equal; docs/adr/0010 has the whole list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product

import numpy as np

from kviz.conformance.dump import (
    BOUND,
    NOT_ATTEMPTED,
    UNSCHEDULABLE,
    Dump,
    Final,
    RecordedAttempt,
)
from kviz.conformance.dump_replay import DumpReplay
from kviz.conformance.result import CaseResult
from scheduler_core.api import Node, Pod
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import ImageColumn, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.interface import NormalizeScorePlugin, Plugin, ScorePlugin, Scores
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.plugins.image_locality import ImageLocality, normalized_image_name
from scheduler_core.scheduler.cycle_record import Cycle, Filtering
from scheduler_core.scheduler.outcome import Failed, Scheduled, Unschedulable
from scheduler_core.scheduler.selection import num_feasible_nodes_to_find

# Which of the sizes that nodes report for an image counted in a recorded run.
#
# The scheduler keeps the size that the first node reported, and the order in which a starting
# scheduler hears of nodes is a matter of chance. So any reported size will do, but the same one
# through the whole run.

MAX_TRIALS = 10_000


class _SizedNodes(Nodes):
    """The same nodes with other sizes of images."""

    def __init__(self, nodes: Nodes, sizes_bytes: Mapping[str, int]) -> None:
        super().__init__(nodes.cluster, nodes.rows, nodes.changes)
        self._sizes_bytes = sizes_bytes

    def image(self, name: str) -> ImageColumn:
        column = super().image(name)
        return replace(column, size_bytes=self._sizes_bytes.get(name, column.size_bytes))


class ImageSizes:
    """The sizes in bytes that agree with all that was recorded so far, by image."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._possible: dict[str, list[int]] = {}
        for node in nodes:
            for image in node.status.images:
                for name in image.names:
                    sizes = self._possible.setdefault(name, [])
                    if image.size_bytes not in sizes:
                        sizes.append(image.size_bytes)

    def scores(
        self,
        plugin: ScorePlugin[None],
        pod: PodInfo,
        nodes: Nodes,
        expected: Mapping[int, int],
    ) -> Scores | None:
        """Return the plugin's scores, int64 (n,), under sizes that give the expected ones.

        `expected` is by position in `nodes`. None if no reported sizes give them.
        """
        images = self._images_of(pod)
        trials = islice(product(*(self._possible[name] for name in images)), MAX_TRIALS)
        fitting: list[tuple[tuple[int, ...], Scores]] = []
        for sizes_bytes in trials:
            sized = _SizedNodes(nodes, dict(zip(images, sizes_bytes, strict=True)))
            scores = plugin.score(None, pod, sized)
            if all(int(scores[i]) == score for i, score in expected.items()):
                fitting.append((sizes_bytes, scores))
        for i, name in enumerate(images):
            left = {sizes_bytes[i] for sizes_bytes, _ in fitting}
            self._possible[name] = [size for size in self._possible[name] if size in left]
        return fitting[0][1] if fitting else None

    def _images_of(self, pod: PodInfo) -> list[str]:
        spec = pod.pod.spec
        names = [normalized_image_name(c.image) for c in (*spec.init_containers, *spec.containers)]
        return [name for name in dict.fromkeys(names) if name in self._possible]


POD_SCHEDULED = "PodScheduled"


def replay_dump(dump: Dump) -> Iterator[CaseResult]:
    """Make the recorded attempts; yield a result for each, and one for the final state.

    Raises CaseError if the snapshot cannot be read.
    """
    objects = dump.objects()
    image_sizes = ImageSizes([item for item in objects if isinstance(item, Node)])
    replay = DumpReplay(objects, dump.attempts, dump.release)
    for recorded in dump.attempts:
        result = CaseResult(f"{dump.name}/{recorded.order:03d} {recorded.pod}", dump.release.name)
        cycle = replay.attempt(recorded)
        if cycle is None:
            result.compare("attempted", True, False)
        else:
            _Comparison(recorded, cycle, replay.framework, image_sizes, result).run()
        replay.keep_in_step(recorded)
        yield result
    replay.take_away_victims()
    yield _final_state(dump, replay)


class _Comparison:
    def __init__(
        self,
        recorded: RecordedAttempt,
        cycle: Cycle,
        framework: Framework,
        image_sizes: ImageSizes,
        result: CaseResult,
    ) -> None:
        self._recorded = recorded
        self._cycle = cycle
        self._framework = framework
        self._image_sizes = image_sizes
        self._result = result

    def run(self) -> None:
        recorded, cycle, compare = self._recorded, self._cycle, self._result.compare
        outcome, post_filter = cycle.outcome, cycle.post_filter
        message = outcome.message if isinstance(outcome, Unschedulable | Failed) else ""
        bound = isinstance(outcome, Scheduled)
        compare("result", recorded.result, BOUND if bound else UNSCHEDULABLE)
        compare("message", recorded.message, message)
        nominated = post_filter.node_name if post_filter else ""
        compare("nominatedNode", recorded.nominated_node, nominated)
        victims = [victim.key for victim in post_filter.victims] if post_filter else []
        compare("victims", sorted(recorded.victims), sorted(victims))
        filtering = cycle.filtering
        if recorded.evaluated_nodes is not None and filtering is not None:
            self._filtering(filtering)

    # ------------------------------------------------------------ filtering

    def _filtering(self, filtering: Filtering) -> None:
        """`filtering` is over all nodes, the recorded one perhaps over a sample."""
        n_sampled = num_feasible_nodes_to_find(self._cycle.nodes.n, 0)
        sampled = filtering.feasible.n > n_sampled
        compare = self._result.compare
        if sampled:
            n_rejected = filtering.examined.n - filtering.feasible.n
            n_evaluated = self._recorded.evaluated_nodes or 0
            compare("feasibleNodes", self._recorded.feasible_nodes, n_sampled)
            compare("as many rejected nodes", True, n_evaluated <= n_sampled + n_rejected)
            self._result.leave_out("evaluatedNodes")
        else:
            compare("feasibleNodes", self._recorded.feasible_nodes, filtering.feasible.n)
            compare("evaluatedNodes", self._recorded.evaluated_nodes, filtering.examined.n)
        feasible = {name: i for i, name in enumerate(filtering.feasible.names)}
        wanted = {*self._recorded.final_scores, self._recorded.node}
        compare("recorded nodes that are not feasible", [], sorted(wanted - feasible.keys()))
        scoring = self._cycle.scoring
        compare("scored", bool(self._recorded.final_scores), scoring is not None)
        if scoring is not None and self._recorded.final_scores and wanted <= feasible.keys():
            scores = [self._with_image_sizes(s, filtering, feasible) for s in scoring.scores]
            self._scores(scores, feasible, sampled=sampled)

    # ------------------------------------------------------------ scores

    def _with_image_sizes(
        self, score: PluginScore, filtering: Filtering, feasible: Mapping[str, int]
    ) -> PluginScore:
        """Score again if the recorded scheduler had other sizes of images in mind."""
        plugin = self._plugin(score.plugin)
        if not isinstance(plugin, ImageLocality):
            return score
        expected = {
            feasible[node]: by_plugin.get(score.plugin, 0) // score.weight
            for node, by_plugin in self._recorded.plugin_scores.items()
        }
        raw = self._image_sizes.scores(plugin, self._cycle.pod, filtering.feasible, expected)
        return score if raw is None else replace(score, raw=raw, normalized=raw)

    def _plugin(self, name: str) -> Plugin:
        scoring = self._framework.points[ExtensionPoint.SCORE]
        return next(plugin for plugin, _ in scoring if plugin.name == name)

    def _scores(
        self, scores: Sequence[PluginScore], feasible: Mapping[str, int], *, sampled: bool
    ) -> None:
        uncertain = [s.plugin for s in scores if sampled and self._varies(s)]
        plugins = sorted(score.plugin for score in scores)
        for node, by_plugin in self._recorded.plugin_scores.items():
            self._result.compare(f"plugins[{node}]", sorted(by_plugin), plugins)
            for score in scores:
                if score.plugin not in uncertain:
                    weighted = int(score.normalized[feasible[node]]) * score.weight
                    expected = by_plugin.get(score.plugin)
                    self._result.compare(f"score[{node}]", expected, weighted, score.plugin)
        for plugin in uncertain:
            self._result.leave_out(f"{plugin} scores, normalised over a sample")
        if uncertain:
            self._result.leave_out("finalScores")
        else:
            totals = sum(score.normalized * score.weight for score in scores)
            assert isinstance(totals, np.ndarray)
            self._totals(totals, feasible, sampled=sampled)

    def _varies(self, score: PluginScore) -> bool:
        """Return whether a plugin's scores depend on which nodes are scored together.

        They do if it normalises them, unless they are all alike to begin with.
        """
        alike = bool((score.raw == score.raw[0]).all())
        return isinstance(self._plugin(score.plugin), NormalizeScorePlugin) and not alike

    def _totals(self, totals: IntArray, feasible: Mapping[str, int], *, sampled: bool) -> None:
        recorded, compare = self._recorded, self._result.compare
        for node, total in recorded.final_scores.items():
            compare(f"finalScore[{node}]", total, int(totals[feasible[node]]))
        best = max(recorded.final_scores.values())
        compare("final score of the picked node", best, int(totals[feasible[recorded.node]]))
        n_top = int((totals == best).sum())
        if sampled:
            enough = recorded.nodes_with_top_score is None or recorded.nodes_with_top_score <= n_top
            compare("as many nodes with the top score", True, enough)
            self._result.leave_out("nodesWithTopScore")
        else:
            compare("nodesWithTopScore", recorded.nodes_with_top_score, n_top)
            expected = sorted(recorded.final_scores.values(), reverse=True)
            highest = sorted(totals.tolist(), reverse=True)[: len(expected)]
            compare("highest finalScores", expected, highest)


# ---------------------------------------------------------------- at the end


def _final_state(dump: Dump, replay: DumpReplay) -> CaseResult:
    """Compare what became of every pod."""
    result = CaseResult(f"{dump.name}/final", dump.release.name)
    for key, expected in dump.final.items():
        pod = replay.pod(key)
        if pod is None:
            result.compare(f"pods[{key}]", expected.outcome, "deleted")
        else:
            _compare_final(result, key, expected, pod)
    gone = sorted(key for key in dump.deleted if replay.pod(key) is None)
    result.compare("podsDeletedDuringRun", sorted(dump.deleted), gone)
    return result


def _compare_final(result: CaseResult, key: str, expected: Final, pod: Pod) -> None:
    status = pod.status
    message = next((c.message for c in status.conditions if c.type == POD_SCHEDULED), "")
    result.compare(f"pods[{key}].node", expected.node or "", pod.spec.node_name)
    if expected.outcome == UNSCHEDULABLE:
        result.compare(f"pods[{key}].message", expected.message or "", message)
    if expected.outcome != NOT_ATTEMPTED:
        nominated = expected.nominated_node_name or ""
        result.compare(f"pods[{key}].nominatedNodeName", nominated, status.nominated_node_name)
