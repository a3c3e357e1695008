"""Two nodes of one cycle side by side: why this one, and not that one.

Their totals differ by the sum of what each plugin gives one of them more than the other. A plugin
decides if its share is at least as large as the whole difference: without it, the node that is
ahead would not be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from scheduler_core.evidence.cycle import NodeEvidence, ScoreEvidence
from scheduler_core.evidence.requirement import Requirement
from scheduler_core.wording import SEMICOLON, say, series


@dataclass(frozen=True, slots=True)
class RequirementPair:
    """What a plugin asks of both nodes; None where it asks it of the other one only."""

    plugin: str
    first: Requirement | None
    second: Requirement | None

    @property
    def asks(self) -> Requirement:
        """Return the one whose pod's side stands for both."""
        found = self.first or self.second
        assert found is not None
        return found

    @property
    def is_met_by_both(self) -> bool:
        return all(each is None or each.met for each in (self.first, self.second))


@dataclass(frozen=True, slots=True)
class ScorePair:
    """What one plugin scores both nodes."""

    first: ScoreEvidence
    second: ScoreEvidence

    @property
    def plugin(self) -> str:
        return self.first.plugin

    @property
    def difference(self) -> int:
        """Return how much more the first gets, weighted; below 0 if it gets less."""
        return self.first.weighted - self.second.weighted


@dataclass(frozen=True)
class Comparison:
    """Two nodes; `scores` are empty unless both were scored."""

    first: NodeEvidence
    second: NodeEvidence

    @cached_property
    def requirements(self) -> tuple[RequirementPair, ...]:
        """What plugins ask of either node, what is not met by one of them first."""
        pairs = [*self._requirements()]
        return tuple(sorted(pairs, key=lambda pair: pair.is_met_by_both))

    @cached_property
    def scores(self) -> tuple[ScorePair, ...]:
        pairs = zip(self.first.scores, self.second.scores, strict=False)
        return tuple(ScorePair(first, second) for first, second in pairs)

    @property
    def difference(self) -> int:
        """Return how much more the first scores in total."""
        return sum(pair.difference for pair in self.scores)

    @property
    def deciders(self) -> tuple[str, ...]:
        """Return the plugins without which the node ahead would not be; none in a tie."""
        ahead = 1 if self.difference > 0 else -1
        shares = {pair.plugin: pair.difference * ahead for pair in self.scores}
        least = abs(self.difference)
        return tuple(plugin for plugin, share in shares.items() if least and share >= least)

    @property
    def sentence(self) -> str:
        """Return what sets the two apart."""
        if self.scores:
            return self._score_sentence()
        rejected = [each for each in (self.first, self.second) if each.rejections]
        if not rejected:
            return say("compare.no_scores", "neither is rejected, and no scores were compared")
        return series(
            (
                say(
                    "compare.rejected",
                    "{node} is rejected: {sentence}",
                    node=each.node,
                    sentence=each.sentence,
                )
                for each in rejected
            ),
            SEMICOLON,
        )

    def _score_sentence(self) -> str:
        best, other = self.first, self.second
        if self.difference < 0:
            best, other = other, best
        if not self.difference:
            return say(
                "compare.tie",
                "{node} and {other_node} score {total} each: a tie",
                node=best.node,
                other_node=other.node,
                total=best.total,
            )
        scores = say(
            "compare.ahead",
            "{node} scores {total}, {other_node} {other_total}: {difference} more",
            node=best.node,
            total=best.total,
            other_node=other.node,
            other_total=other.total,
            difference=abs(self.difference),
        )
        plugins = series(self.deciders)
        if not self.deciders:
            return say(
                "compare.no_plugin_alone", "{scores}, and no plugin decides alone", scores=scores
            )
        if len(self.deciders) > 1:
            plugins = (
                say("compare.either_of", "either of {plugins}", plugins=plugins)
                if len(self.deciders) == 2
                else say("compare.any_of", "any of {plugins}", plugins=plugins)
            )
        return say(
            "compare.because_of",
            "{scores}; without {plugins} it would not be ahead",
            scores=scores,
            plugins=plugins,
        )

    def _requirements(self) -> Iterator[RequirementPair]:
        """Yield the pairs in the order of the plugins, which are the same for all nodes."""
        for first, second in zip(self.first.plugins, self.second.plugins, strict=True):
            left = list(second.requirements)
            for each in first.requirements:
                twin = next((other for other in left if _is_alike(each, other)), None)
                if twin is not None:
                    left.remove(twin)
                yield RequirementPair(first.plugin, each, twin)
            yield from (RequirementPair(first.plugin, None, other) for other in left)


def _is_alike(first: Requirement, second: Requirement) -> bool:
    return first.kind == second.kind and first.asks == second.asks
