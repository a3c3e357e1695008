"""What the numbers of a trace stand for is looked up before anybody reads it."""

from __future__ import annotations

from typing import get_args

import msgspec
import numpy as np
import pytest

from scheduler_core.trace.events import (
    AnyEvent,
    Assumed,
    Bound,
    CycleStarted,
    FilterColumns,
    FilterFinished,
    NodeAdded,
    NodeOrderChanged,
    PodAdded,
    PreemptionDecided,
    ResourcesDefined,
    RunStarted,
    ScoreColumns,
)
from scheduler_core.trace.meaning import MeaningChecker, MeaninglessError
from scheduler_core.trace.records import (
    Column,
    CriterionRecord,
    PluginScores,
    PointPlugins,
    ProfileRecord,
    Queue,
    RejectedBy,
    StatusRecord,
)

PROFILE = ProfileRecord("default-scheduler", (PointPlugins("Score", (0,), (1,)),))
WORLD: tuple[AnyEvent, ...] = (
    RunStarted("1", 0, 0, ("NodeResourcesFit",), (PROFILE,)),
    ResourcesDefined(("cpu",)),
    NodeAdded(0, "north", "", {}, (), False, (4,)),
    NodeAdded(1, "south", "", {}, (), False, (4,)),
    NodeOrderChanged((0, 1)),
    PodAdded(0, "shop", "web", "default-scheduler", 0, (1,)),
    CycleStarted(1, 0, 1, 0, Queue.ACTIVE, 0, 2),
)


def column(*values: int) -> Column:
    return Column.narrow(np.array(values, dtype=np.int64))


PASSED = StatusRecord("Success")
BOTH = column(0, 1)
RIGHT: tuple[AnyEvent, ...] = (
    FilterFinished(2, 2, 2, (RejectedBy(0, 0),)),
    FilterColumns((PASSED,), column(0, 0), BOTH),
    ScoreColumns(BOTH, (PluginScores(0, 1, BOTH, BOTH),), BOTH),
    PreemptionDecided((0, 1), (CriterionRecord("numVictims", (1, 2), (0,)),), 0, (0,)),
    Bound(0, 1),
    Bound(0, 7),  # as a scenario does to a node that is not there
)
WRONG: tuple[AnyEvent, ...] = (
    RunStarted("1", 0, 0, (), ()),
    NodeAdded(-1, "west", "", {}, (), False, ()),
    NodeAdded(2, "west", "", {}, (), False, (1, 2)),
    NodeOrderChanged((0, 7)),
    PodAdded(1, "shop", "web", "default-scheduler", 2**64 - 1, (1,)),
    CycleStarted(2, 3, 1, 0, Queue.ACTIVE, 0, 2),
    CycleStarted(2, 0, 1, 1, Queue.ACTIVE, 0, 2),
    CycleStarted(2, 0, 1, 0, Queue.ACTIVE, 3, 2),
    FilterFinished(-2, 2, 2, ()),
    FilterFinished(2, 2, 2, (RejectedBy(1, 2),)),
    FilterFinished(2, 2, 2, (), hint=2),
    FilterColumns((PASSED,), column(0, 1), BOTH),
    FilterColumns((PASSED,), column(0, 0, 0), BOTH),
    FilterColumns((PASSED,), column(0, 0), column(5)),
    FilterColumns((PASSED,), Column("f8", bytes(8)), BOTH),
    FilterColumns((PASSED,), Column("i4", bytes(3)), BOTH),
    ScoreColumns(BOTH, (), column(0)),
    ScoreColumns(BOTH, (PluginScores(0, 1, column(0), BOTH),), BOTH),
    ScoreColumns(BOTH, (PluginScores(4, 1, BOTH, BOTH),), BOTH),
    PreemptionDecided((0, 1), (CriterionRecord("numVictims", (1,), (0,)),), 0, ()),
    PreemptionDecided((0,), (CriterionRecord("numVictims", (1,), (1,)),), 0, ()),
    PreemptionDecided((0,), (), 0, (6,)),
    Assumed(0, 9),
    Bound(4, 0),
)


def checker() -> MeaningChecker:
    found = MeaningChecker()
    for event in WORLD:
        found.take(event)
    return found


@pytest.mark.parametrize("event", RIGHT, ids=lambda event: type(event).__name__)
def test_what_stands_for_something_is_taken(event: AnyEvent) -> None:
    checker().take(event)


@pytest.mark.parametrize("event", WRONG, ids=lambda event: type(event).__name__)
def test_what_stands_for_nothing_is_refused(event: AnyEvent) -> None:
    with pytest.raises(MeaninglessError, match="stands for nothing"):
        checker().take(event)


def test_numbers_beyond_64_bits_are_refused_wherever_they_stand() -> None:
    for kind in get_args(AnyEvent):
        for field in msgspec.structs.fields(kind):
            if field.type is not int:
                continue
            event = next((each for each in (*WORLD, *RIGHT) if type(each) is kind), None)
            if event is not None:
                with pytest.raises(MeaninglessError):
                    checker().take(msgspec.structs.replace(event, **{field.name: 2**63}))
