"""How a raw score comes about, how it is normalised and weighted: what all scores share.

Upstream: v1.36 plugins/helper/normalize_score.go.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from scheduler_core.framework.interface import MAX_NODE_SCORE
from scheduler_core.wording import say


@dataclass(frozen=True, slots=True, kw_only=True)
class RawScore(ABC):
    """One plugin's raw score of one node, written out.

    `formula` says the rule in words and signs, `text` the same with the node's numbers; `value` is
    computed here from the same numbers and equals the engine's.
    """

    kind: ClassVar[str]
    formula: ClassVar[str]

    @property
    @abstractmethod
    def value(self) -> int: ...

    @property
    @abstractmethod
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedScore(RawScore):
    """The score of a plugin whose formula is not known: plugins of others."""

    kind = "stated"
    formula = say("score.as_plugin_says", "as the plugin says")
    raw: int

    @property
    def value(self) -> int:
        return self.raw

    @property
    def text(self) -> str:
        return str(self.raw)


NormalizeRule = Literal["none", "byHighest", "reversed", "betweenLowestAndHighest", "spread"]
"""How raw scores become 0 to 100; `none`: they are already, or a rule that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalized:
    """A normalised score: the rule, the lowest and highest raw score it looked at, the result.

    `ignored` says that the node is not scored and gets 0.
    """

    rule: NormalizeRule
    raw: int
    lowest: int
    highest: int
    value: int
    ignored: bool = False

    @property
    def text(self) -> str:
        """Return the rule with its numbers."""
        raw, low, high, best = self.raw, self.lowest, self.highest, MAX_NODE_SCORE
        if self.ignored:
            return say("score.zero_without_label", "0, as the node lacks the label of a constraint")
        match self.rule:
            case "none":
                return str(self.value)
            case "byHighest":
                return f"{best}*{raw}/{high} = {self.value}" if high else f"{self.value}"
            case "reversed":
                if not high:
                    return say("score.best_no_node", "{best}, as no node has any", best=best)
                return f"{best} - {best}*{raw}/{high} = {self.value}"
            case "betweenLowestAndHighest":
                if high == low:
                    return say("score.zero_all_same", "0, as all nodes have the same")
                return f"{best}*({raw} - {low})/({high} - {low}) = {self.value}"
            case "spread":
                if not high:
                    return say("score.best_no_domain", "{best}, as no domain has any", best=best)
                return f"{best}*({high} + {low} - {raw})/{high} = {self.value}"


def normalized(
    rule: NormalizeRule, raw: int, lowest: int, highest: int, *, ignored: bool = False
) -> Normalized:
    """Normalise one raw score by a rule, as Go's integers do."""
    value = 0 if ignored else _normalize(rule, raw, lowest, highest)
    return Normalized(
        rule=rule, raw=raw, lowest=lowest, highest=highest, value=value, ignored=ignored
    )


def _normalize(rule: NormalizeRule, raw: int, lowest: int, highest: int) -> int:
    best = MAX_NODE_SCORE
    match rule:
        case "none":
            return raw
        case "byHighest":
            return quotient(best * raw, highest) if highest else raw
        case "reversed":
            return best - quotient(best * raw, highest) if highest else best
        case "betweenLowestAndHighest":
            if highest == lowest:
                return 0
            return int(best * ((raw - lowest) / (highest - lowest)))
        case "spread":
            return quotient(best * (highest + lowest - raw), highest) if highest else best


def quotient(dividend: int, divisor: int) -> int:
    """Divide as Go does, toward zero; no divisor may be zero."""
    magnitude = abs(dividend) // abs(divisor)
    return magnitude if (dividend < 0) == (divisor < 0) else -magnitude
