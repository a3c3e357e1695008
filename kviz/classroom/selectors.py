"""Reads: rooms, who is in them, what they answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.classroom.models import Answer, Participant, Room, Vote
from kviz.classroom.steps import place_of
from kviz.classroom.votes import Given, as_given, is_right


def room_open(code: str) -> Room | None:
    """The open room with this code."""
    found = Room.objects.filter(code=code, closed_at=None, closes_at__gt=timezone.now())
    return found.select_related("run", "run__snapshot").first()


def room_get(room_id: UUID) -> Room | None:
    return Room.objects.filter(pk=room_id).select_related("run", "run__snapshot").first()


def rooms_of(*, workspace: Workspace) -> list[Room]:
    """The workspace's rooms, the latest first."""
    return list(Room.objects.filter(workspace=workspace).order_by("-opened_at")[:50])


def seats_of(room: Room) -> list[Participant]:
    return list(room.participants.order_by("number"))


def votes_of(room: Room, step: int) -> list[Vote]:
    """The votes on a step's question, the first one first."""
    return list(room.votes.filter(step=step).order_by("number"))


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
    for step in room.shown:
        for participant, right in _right_in_the_end(room, step).items():
            points[participant] += right
    ranked = sorted(seats.values(), key=lambda seat: (-points[seat.pk], seat.number))
    return [(seat, points[seat.pk]) for seat in ranked]


def _right_in_the_end(room: Room, step: int) -> Mapping[int, bool]:
    question, votes = place_of(room, step).question, votes_of(room, step)
    if question is None or not votes:
        return {}
    last = answers_of(votes[-1:])[votes[-1].pk]
    return {participant: is_right(question, given) for participant, given in last.items()}


def answer_rows(room: Room) -> list[tuple[int, int, int, str, str, str]]:
    """Step, vote, participant, name, answer, and whether it was right; the latter once shown."""
    rows = Answer.objects.filter(vote__room=room).select_related("vote", "participant")
    found = []
    for row in rows.order_by("vote__step", "vote__number", "participant__number"):
        vote, seat, given = row.vote, row.participant, as_given(row.given)
        place = place_of(room, vote.step)
        right = ""
        if place.is_shown and place.question is not None and place.question.answer != "":
            right = "yes" if is_right(place.question, given) else "no"
        text = ", ".join(given) if isinstance(given, tuple) else str(given)
        found.append((vote.step, vote.number, seat.number, seat.name, text, right))
    return found
