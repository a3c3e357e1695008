"""What a room sends of pods that are placed by hand: nothing of the outcome before it is revealed.

What somebody has placed so far is on their own board (REST), and in nobody else's document.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, TypedDict

from kviz.by_hand.documents import (
    OutcomeDocument,
    SideDocument,
    ToPlaceDocument,
    key_of,
    levels,
    outcome_document,
    side_of_attempt,
    to_place_document,
)
from kviz.by_hand.models import Attempt
from kviz.by_hand.tables import table_of
from kviz.classroom import selectors
from kviz.classroom.models import Contest, Room
from kviz.lessons.asking import asks_of, objects_of
from kviz.runs.models import Run

MOST_LEADERS: Final = 10


class ShownDocument(TypedDict):
    """The player whose placement is shown next to the scheduler's."""

    number: int
    name: str
    side: SideDocument


class LeaderDocument(TypedDict):
    number: int
    name: str
    placed: int
    worth: int


class SpreadDocument(TypedDict):
    """How many placed as many pods, worth as much."""

    placed: int
    worth: int
    n: int


class ContestDocument(TypedDict):
    """What the class knows; `of` is how many pods wait, by priority.

    `asks` is what pods ask of a node beside their requests. `spread` has the best first, and is
    empty before the reveal.
    """

    id: str
    of: dict[str, int]
    asks: dict[str, list[str]]
    nodes: list[str]
    is_revealed: bool
    outcome: OutcomeDocument | None
    spread: list[SpreadDocument]
    shown: ShownDocument | None
    leaders: list[LeaderDocument]


class CountsDocument(TypedDict):
    """How many have placed something, and how many are done."""

    n_begun: int
    n_done: int


class ContestOfTeacher(CountsDocument):
    """`done` are the numbers of those who are done; `spread` has the best first."""

    done: list[int]
    spread: list[SpreadDocument]


def contest_document(room: Room) -> ContestDocument | None:
    """What the class may know of what it places; the same for everybody."""
    contest = selectors.contest_on(room)
    if contest is None:
        return None
    game = contest.game
    with table_of(game) as table:
        of = {str(level): n for level, n in table.of_priority.items()}
        nodes = [room.name for room in table.rooms({})]
        names = [pod.name for pod in table.waiting]
    is_revealed = game.is_revealed
    return {
        "id": str(game.pk),
        "of": of,
        "asks": _asks(game.run, names),
        "nodes": nodes,
        "is_revealed": is_revealed,
        "outcome": outcome_document(game) if is_revealed else None,
        "spread": _spread(_ranked(contest)) if is_revealed else [],
        "shown": _shown(contest) if is_revealed else None,
        "leaders": _leaders(contest) if is_revealed and room.is_scored else [],
    }


def _asks(run: Run, names: list[str]) -> dict[str, list[str]]:
    if run.snapshot is None:
        return {}
    objects = objects_of(run.snapshot)
    return {name: [ask.text for ask in asks_of(objects.pods.get(name), objects)] for name in names}


def _shown(contest: Contest) -> ShownDocument | None:
    found = contest.game.attempts.filter(player=contest.shown_seat, is_finished=True).first()
    if found is None:
        return None
    name = _names(contest).get(found.player, "")
    return {"number": found.player, "name": name, "side": side_of_attempt(found)}


def _leaders(contest: Contest) -> list[LeaderDocument]:
    """The best players with feasible placements. Times are not recorded."""
    names = _names(contest)
    best = [attempt for attempt in _ranked(contest) if not attempt.objections]
    return [
        {
            "number": attempt.player,
            "name": names.get(attempt.player, ""),
            "placed": _n_placed(attempt),
            "worth": attempt.worth,
        }
        for attempt in best[:MOST_LEADERS]
    ]


def _names(contest: Contest) -> dict[int, str]:
    return dict(contest.room.participants.values_list("number", "name"))


def _ranked(contest: Contest) -> list[Attempt]:
    """Those who are done, the best first."""
    found = selectors.finished_of(contest)
    return sorted(found, key=lambda attempt: key_of(side_of_attempt(attempt)), reverse=True)


def _n_placed(attempt: Attempt) -> int:
    return sum(n for _, n in levels(attempt.placed))


def counts_document(room: Room) -> CountsDocument | None:
    contest = selectors.contest_on(room)
    if contest is None:
        return None
    attempts = contest.game.attempts
    n_begun = attempts.exclude(moves=[], is_finished=False).count()
    return {"n_begun": n_begun, "n_done": attempts.filter(is_finished=True).count()}


def contest_of_teacher(room: Room) -> ContestOfTeacher | None:
    """The players who are done, and the distribution of their results so far."""
    contest, counts = selectors.contest_on(room), counts_document(room)
    if contest is None or counts is None:
        return None
    ranked = _ranked(contest)
    done = sorted(attempt.player for attempt in ranked)
    return {**counts, "done": done, "spread": _spread(ranked)}


def _spread(ranked: list[Attempt]) -> list[SpreadDocument]:
    found = Counter((_n_placed(attempt), attempt.worth) for attempt in ranked)
    return [{"placed": placed, "worth": worth, "n": n} for (placed, worth), n in found.items()]


def to_place(room: Room) -> ToPlaceDocument | None:
    """What the projector shows while the class places pods."""
    contest = selectors.contest_on(room)
    is_on = contest is not None and not contest.game.is_revealed
    return to_place_document(contest.game) if contest is not None and is_on else None
