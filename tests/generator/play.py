"""Playing a generated document the way the recordings were made, without anything to compare."""

from __future__ import annotations

from typing import cast

from kviz.conformance.cases import Case, Json, list_of
from kviz.conformance.replay import Replay
from scheduler_core.trace.events import AnyEvent

MAX_ATTEMPTS = 1000
"""Far more than one event of a generated document brings about."""


def play(document: Json) -> list[AnyEvent]:
    """Return what the scheduler did: in a cycle with the one pod, else at every event."""
    given = cast(Json, document["input"])
    replay = Replay(Case(str(document["name"]), str(document["mode"]), given, {}))
    played = _Played(replay)
    replay.load(Case("", "", given, {}).objects)
    if "pod" in given:
        played.apply({"op": "create", "object": given["pod"]})
    for event in list_of(given, "events"):
        played.apply(event)
    return played.trace


class _Played:
    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self.trace: list[AnyEvent] = []

    def apply(self, event: Json) -> None:
        replay, limit = self._replay, cast("int | None", event.get("maxAttempts"))
        replay.tick()
        if event["op"] == "advance":
            for _ in replay.full_seconds(replay.now_ms, cast(int, event["seconds"])):
                self._attempts(limit)
        else:
            replay.apply(event)
            self._attempts(limit)

    def _attempts(self, limit: int | None) -> None:
        self.trace += self._replay.trace
        for n_made in range(MAX_ATTEMPTS + 1):
            if n_made == limit:
                break
            self._replay.tick()
            attempt = self._replay.attempt()
            self.trace += self._replay.trace
            if attempt is None:
                break
            assert n_made < MAX_ATTEMPTS, "the scheduler never comes to rest"
        self._replay.trace.clear()
