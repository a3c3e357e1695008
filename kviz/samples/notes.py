"""What the scenarios of samples and bundled lessons note, as sentences of every language.

A note is its author's text and stays as it was written; these are kviz's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scheduler_core.sim import Scenario
from scheduler_core.wording import say

NOTES: Final = (
    say("played.crowd", "A crowd keeps the active queue busy for four seconds"),
    say("played.half_free", "Half of what climber-0 needs is free"),
    say("played.room_in_backoff", "Now there is room, but climber-0 is in backoff"),
    say("played.bound_by_other", "Another scheduler binds ferry-0 to dock-2"),
    say(
        "played.free_before_failure",
        "What ferry-0 held on dock-1 is free again, before its own binding has failed",
    ),
    say("played.pair_complete", "The pair is complete"),
    say("played.too_late", "Too late for late-0, whose time was up"),
    say("played.archive_ends", "The archive job ends, and all three of train fit"),
    say("played.import_done", "import-0 has done its work while report-0 is still stopping"),
    say("played.more_urgent", "A more urgent pod comes while report-0 is still stopping"),
    say("played.urgent_at_permit", "An urgent pod comes while duo-0 waits on Permit"),
    say("played.unwanted_label", "A label that nobody asked for"),
    say("played.less_room", "The node has less room than before"),
    say("played.taint_goes", "The taint goes"),
    say("played.quota", "The quota is granted"),
    say("played.licence", "So is the licence"),
)

KNOWN: Final = {str(note): note for note in NOTES}


def with_known_notes(scenario: Scenario) -> Scenario:
    """Return a scenario whose notes are sentences where kviz wrote them."""
    steps = tuple(replace(step, note=KNOWN.get(step.note, step.note)) for step in scenario.steps)
    return replace(scenario, steps=steps)
