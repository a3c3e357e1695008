"""Reads: rooms, their participants, their answers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.translation import get_language

from kviz.accounts.models import Workspace
from kviz.by_hand.documents import SideDocument, levels, outcome_document, side_of_attempt
from kviz.by_hand.models import Attempt
from kviz.classroom.models import Answer, Contest, Participant, Room, Vote
from kviz.classroom.steps import Place, place_of_vote
from kviz.classroom.votes import Given, as_given, is_right


def room_open(code: str) -> Room | None:
    """The open room with this code."""
    found = Room.objects.filter(code=code, closed_at=None, closes_at__gt=timezone.now())
    return found.select_related("run", "run__snapshot", "own").first()


def room_get(room_id: UUID) -> Room | None:
    return Room.objects.filter(pk=room_id).select_related("run", "run__snapshot", "own").first()


def rooms_of(*, workspace: Workspace) -> list[Room]:
    """The workspace's rooms, the latest first."""
    return list(Room.objects.filter(workspace=workspace).order_by("-opened_at")[:50])


def n_in(room: Room) -> int:
    """How many people are connected now."""
    return room.participants.filter(n_connected__gt=0).count()


IDLE_AFTER: Final = dt.timedelta(minutes=30)


def is_idle(room: Room) -> bool:
    """Whether nobody is in an open room, and nothing has changed there for a while."""
    return room.changed_at <= timezone.now() - IDLE_AFTER and n_in(room) == 0


def seats_of(room: Room) -> list[Participant]:
    return list(room.participants.order_by("number"))


def votes_of(room: Room, place: Place) -> list[Vote]:
    """The votes on what is asked at a place, the first one first."""
    return list(room.votes.filter(step=place.number, own=place.own).order_by("number"))


def answers_of(votes: Sequence[Vote]) -> dict[int, dict[int, Given]]:
    """By vote, then by participant."""
    found: dict[int, dict[int, Given]] = {vote.pk: {} for vote in votes}
    rows = Answer.objects.filter(vote__in=votes).order_by("pk")
    for vote, participant, given in rows.values_list("vote_id", "participant_id", "given"):
        found[vote][participant] = as_given(given)
    return found


def scores(room: Room) -> list[tuple[Participant, int]]:
    """How many revealed questions everybody answered rightly in the end, the best first.

    Neither how fast nor how often somebody answered counts.
    """
    seats = {seat.pk: seat for seat in seats_of(room)}
    points = dict.fromkeys(seats, 0)
    votes = room.votes.select_related("own").order_by("number")
    last = {(vote.step, vote.own_id): vote for vote in votes}
    for vote in last.values():
        for participant, right in _right_in(room, vote).items():
            points[participant] += right
    ranked = sorted(seats.values(), key=lambda seat: (-points[seat.pk], seat.number))
    return [(seat, points[seat.pk]) for seat in ranked]


def _right_in(room: Room, vote: Vote) -> Mapping[int, bool]:
    """Who was right in a vote, once that is revealed."""
    place = place_of_vote(room, vote)
    question = place.question
    if question is None or not place.is_answered or question.answer == "":
        return {}
    given = answers_of([vote])[vote.pk]
    return {participant: is_right(question, each) for participant, each in given.items()}


def contest_on(room: Room) -> Contest | None:
    """What the class places by hand now."""
    found = room.contests.filter(is_on=True).select_related("game__run__snapshot")
    return found.first()


def contest_seen(room: Room) -> Contest | None:
    """What the class sees of the placing by hand: while frozen, what it saw then."""
    if room.held is None:
        return contest_on(room)
    held = held_document(room)["contest"]
    found = room.contests.select_related("game__run__snapshot")
    return found.filter(game=held["id"]).first() if held else None


def held_document(room: Room) -> dict[str, Any]:
    """What a frozen class saw when that began, in the language that is asked for."""
    assert room.held is not None
    found: dict[str, Any] = room.held[get_language() or settings.LANGUAGE_CODE]
    return found


def finished_of(contest: Contest) -> list[Attempt]:
    """What those who are done have placed, by seat."""
    return list(contest.game.attempts.filter(is_finished=True).order_by("player"))


COLUMNS: Final = (
    *("step", "vote", "participant", "name", "answer", "right"),
    *("placed", "worth", "question"),
)
"""Of the table of answers; `placed` and `worth` are of pods placed by hand."""

Row = tuple[int | str, ...]


def table_rows(room: Room) -> list[Row]:
    """What was answered to votes, then what was placed by hand."""
    votes: list[Row] = list(answer_rows(room))
    contests = room.contests.select_related("game__run__snapshot").order_by("pk")
    return [*votes, *(row for contest in contests for row in contest_rows(contest))]


def contest_rows(contest: Contest) -> list[Row]:
    """What everybody has placed; the scheduler and the best there is, once they are shown."""
    names = dict(contest.room.participants.values_list("number", "name"))
    sides = [
        (attempt.player, names.get(attempt.player, ""), side_of_attempt(attempt))
        for attempt in finished_of(contest)
    ]
    rows = [_row(contest, number, name, side) for number, name, side in sides]
    if not contest.game.is_revealed:
        return rows
    outcome = outcome_document(contest.game)
    best = outcome["best"]
    shown = (("kube-scheduler", outcome["scheduler"]), (f"best, {best['state']}", best["side"]))
    return [*rows, *(_row(contest, "", name, side) for name, side in shown if side is not None)]


def _row(contest: Contest, number: int | str, name: str, side: SideDocument) -> Row:
    placement = " ".join(f"{pod}={node}" for pod, node in side["placement"].items())
    placed = sum(n for _, n in levels(side["placed"]))
    worth = "" if side["worth"] is None else side["worth"]
    return (contest.step, "by hand", number, name, placement, "", placed, worth, "")


def answer_rows(room: Room) -> list[Row]:
    """What everybody answered to which question, and whether that was right, once it is shown."""
    rows = Answer.objects.filter(vote__room=room).select_related("vote__own", "participant")
    found: list[Row] = []
    for row in rows.order_by("vote__step", "vote__number", "participant__number"):
        vote, seat, given = row.vote, row.participant, as_given(row.given)
        place = place_of_vote(room, vote)
        question, right = place.question, ""
        if place.is_answered and question is not None and question.answer != "":
            right = "yes" if is_right(question, given) else "no"
        text = ", ".join(given) if isinstance(given, tuple) else str(given)
        ask = question.ask if question else ""
        found.append((vote.step, vote.number, seat.number, seat.name, text, right, "", "", ask))
    return found
