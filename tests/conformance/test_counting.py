"""What counts as a compared value of a plugin."""

from __future__ import annotations

from kviz.conformance.result import CaseResult


def test_a_plugin_that_says_nothing_is_not_counted() -> None:
    result = CaseResult("case")
    result.compare("filter[n]", None, None, "NodeName")
    assert result.identical
    assert result.cells == {}


def test_a_plugin_that_should_say_something_is() -> None:
    result = CaseResult("case")
    result.compare("filter[n]", {"code": "Unschedulable"}, None, "NodeName")
    result.compare("filter[m]", None, {"code": "Unschedulable"}, "NodeName")
    assert len(result.differences) == 2
    assert (result.cells["NodeName"], result.identical_cells["NodeName"]) == (2, 0)
