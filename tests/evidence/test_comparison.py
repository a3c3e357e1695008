"""Two nodes side by side: which plugins decide, and which requirements are the same one."""

from __future__ import annotations

import pytest

from scheduler_core.evidence.comparison import Comparison
from scheduler_core.evidence.cycle import NodeEvidence, PluginEvidence, ScoreEvidence
from scheduler_core.evidence.document import comparison_document
from scheduler_core.evidence.node_labels import SelectorLabel
from scheduler_core.evidence.raw_score import StatedScore, normalized
from scheduler_core.framework.status import SUCCESS


def scored(name: str, *weighted: int) -> NodeEvidence:
    """A node that plugins A, B, ... gave these scores."""
    scores = (
        ScoreEvidence("ABCD"[i], 1, StatedScore(raw=each), normalized("none", each, 0, 100))
        for i, each in enumerate(weighted)
    )
    return NodeEvidence(name, (), tuple(scores))


def asked(name: str, *labels: SelectorLabel) -> NodeEvidence:
    return NodeEvidence(name, (PluginEvidence("NodeAffinity", "Filter", SUCCESS, labels),))


@pytest.mark.parametrize(
    ("first", "second", "deciders", "sentence"),
    [
        ((50, 30), (40, 35), ["A"], "n1 scores 80, n2 75: 5 more; without A it would not be"),
        ((40, 35), (50, 30), ["A"], "n2 scores 80, n1 75: 5 more; without A it would not be"),
        ((50, 30), (50, 25), ["B"], "n1 scores 80, n2 75: 5 more; without B it would not be"),
        ((9, 9, 0), (1, 1, 8), ["A", "B"], "n1 scores 18, n2 10: 8 more; without either of A, B"),
        ((9, 9), (5, 5), [], "n1 scores 18, n2 10: 8 more, and no plugin decides alone"),
        ((9, 1), (1, 9), [], "n1 and n2 score 10 each: a tie"),
    ],
)
def test_a_plugin_decides_if_the_node_ahead_would_not_be_without_it(
    first: tuple[int, ...], second: tuple[int, ...], deciders: list[str], sentence: str
) -> None:
    found = Comparison(scored("n1", *first), scored("n2", *second))
    assert list(found.deciders) == deciders
    assert found.sentence.startswith(sentence)


def test_what_is_asked_of_both_is_one_row_and_what_is_not_met_comes_first() -> None:
    zone = {"key": "zone", "value": "a"}
    met = SelectorLabel(met=True, actual="a", **zone)
    unmet = SelectorLabel(met=False, actual="b", **zone)
    disk = SelectorLabel(met=True, key="disk", value="ssd", actual="ssd")
    document = comparison_document(Comparison(asked("n1", disk, met), asked("n2", unmet)))
    assert [each["asks"] for each in document["requirements"]] == ["zone=a", "disk=ssd"]  # type: ignore[attr-defined]
    assert [each["met"] for each in document["requirements"]] == [[True, False], [True, None]]  # type: ignore[attr-defined]


def test_nodes_that_were_not_scored_are_not_compared_by_scores() -> None:
    document = comparison_document(Comparison(scored("n1", 5), scored("n2")))
    assert document["scores"] == []
    assert document["totals"] is None
    assert document["sentence"] == "neither is rejected, and no scores were compared"
