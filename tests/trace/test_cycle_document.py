"""A cycle's document has what it did in names."""

from __future__ import annotations

from kviz.runs.reading.projection import cycle_document
from scheduler_core.trace.cycle_record import cycle_record
from scheduler_core.trace.events import CycleStarted
from scheduler_core.trace.names import Names
from tests.trace.story import story


def documents() -> dict[int, object]:
    """What each cycle of the story undid of its reservations, None if nothing."""
    events, names = story(), Names()
    names.take(events)
    starts = [i for i, event in enumerate(events) if isinstance(event, CycleStarted)]
    found: dict[int, object] = {}
    for start, end in zip(starts, [*starts[1:], len(events)], strict=True):
        document = cycle_document(names, cycle_record(events[start:end], events[end:]))
        found[document["cycle"]] = document.get("unreserved")
    return found


def test_what_gave_back_its_reservation_is_named_in_its_order() -> None:
    unreserved = {"node": "worker-east", "plugins": ["Handshake", "NodeResourcesFit"]}
    assert documents() == {1: None, 2: None, 3: unreserved, 4: None, 5: None}
