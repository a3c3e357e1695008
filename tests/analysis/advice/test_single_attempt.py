"""One attempt, and what it leaves open where a scheduler does not look at every node."""

from __future__ import annotations

import pytest

from scheduler_core.analysis.advice.single_attempt import InAnySample, attempt_once
from scheduler_core.scheduler.assembly import SchedulerOptions
from tests.builders import make_node, make_pod

POD = make_pod("web").cpu(1).obj()


@pytest.mark.parametrize(
    ("node", "asked"),
    [
        pytest.param("n000", None, id="picked"),
        pytest.param("n129", InAnySample.MAY_WIN, id="as good, and not looked at"),
        pytest.param("small", InAnySample.MAY_WIN, id="worse than as many as may be left out"),
        pytest.param("tiny", InAnySample.BEATEN, id="worse than more"),
        pytest.param("tainted", InAnySample.REJECTED, id="does not fit"),
    ],
)
def test_a_node_that_was_not_looked_at_is_not_rejected(node: str, asked: InAnySample) -> None:
    """Of 133 nodes a hundred that fit are enough."""
    nodes = [make_node(f"n{i:03}").cpu(8 if i < 31 or i == 129 else 4).obj() for i in range(130)]
    nodes += [make_node("small").cpu(4).obj(), make_node("tiny").cpu(2).obj()]
    nodes += [make_node("tainted").cpu(16).taint("own").obj()]
    found = attempt_once([*nodes, POD], POD.key, SchedulerOptions(), ask_about=node)
    assert (found.n_nodes, found.n_examined) == (133, 100)
    assert found.asked is asked
