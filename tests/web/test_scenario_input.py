"""A scenario given with a run is checked line by line before the run is made."""

from __future__ import annotations

import pytest

from kviz.runs import inputs


def test_a_good_scenario_is_accepted() -> None:
    inputs.scenario_of("steps:\n- {at: 5s, drain: worker-1}\n")


def test_problems_come_with_their_line() -> None:
    with pytest.raises(inputs.InvalidInput) as refusal:
        inputs.scenario_of("steps:\n- at: soon\n  drain: worker-1\n")
    (error,) = refusal.value.errors
    assert error == {
        "field": "scenario",
        "path": "steps[0].at",
        "message": 'steps[0].at: time: invalid duration "soon"',
        "line": 2,
    }
