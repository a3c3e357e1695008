"""A class: its room, its participants, the questions and their answers."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.by_hand.models import Game
from kviz.runs.models import Run


class Room(models.Model):
    """One class, from its opening to its end; its run is hidden after the last shown moment."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.CharField(max_length=6)
    """What opens the door (`codes.py`); another room may have it once this one is closed."""
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="rooms")
    title = models.CharField(max_length=200)
    lesson = models.CharField(max_length=100, blank=True)
    """The lesson's slug; empty for a class about any run, whose steps are its cycles."""
    lesson_sha256 = models.CharField(max_length=64, blank=True)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="rooms")
    step = models.PositiveIntegerField()
    """Of the lesson, from 1; or the cycle that is looked at, 0: before the first."""
    query = models.CharField(max_length=2000, blank=True)
    """The moment, as a deep link has it, where the teacher has left the step's own."""
    own = models.ForeignKey(
        "TeacherQuestion", on_delete=models.SET_NULL, null=True, related_name="asked_in"
    )
    """What the teacher asks here instead of the step's own question."""
    shown = models.JSONField(default=list)
    """The steps whose answers and outcomes were revealed."""
    is_black = models.BooleanField(default=False)
    held = models.JSONField(null=True)
    """What the class keeps seeing while it is frozen: that moment's document, by language."""
    marks = models.JSONField(default=list)
    """What is drawn on the map: `{"kind", "points"}`, in thousandths of its width."""
    pointer_seat = models.PositiveIntegerField(default=0)
    """The participant who holds the pointer; 0: the teacher does."""
    tried = models.JSONField(null=True)
    """The latest try of a task: `{"step", "changes", "run"}`."""
    may_play = models.BooleanField(default=False)
    """Whether a class can do as well as the scheduler with its waiting pods."""
    is_scored = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    """Grows with every change that the class may see."""
    n_joined = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(default=timezone.now)
    """When the class last saw something else, or somebody came in."""
    closes_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["code"], condition=models.Q(closed_at=None), name="one_open_room_per_code"
            )
        ]

    def __str__(self) -> str:
        return f"{self.code}: {self.title}"


class Participant(models.Model):
    """Somebody in a room. The name is theirs to give, and is deleted with the end of the class."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="participants")
    number = models.PositiveIntegerField()
    """From 1, in the order of coming."""
    name = models.CharField(max_length=40, blank=True)
    origin = models.CharField(max_length=32, blank=True, default="", db_default="")
    """Tells seats of one address from others' (`crowding.py`); deleted with the name."""
    n_connected = models.PositiveIntegerField(default=0)
    """How many of their pages are connected now."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["room", "number"], name="seat_in_room")]

    def __str__(self) -> str:
        return f"{self.number} in {self.room_id}"


class TeacherQuestion(models.Model):
    """What a teacher asks on the spot, at any step."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="own_questions")
    ask = models.CharField(max_length=300)
    kind = models.CharField(max_length=10)
    """`choice`, `number` or `node`, as in a lesson."""
    options = models.JSONField(default=list)
    """The texts to choose from."""
    answer = models.JSONField(default=str)
    """What is right; an empty text where the teacher does not say."""
    is_shown = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.ask


class Vote(models.Model):
    """A question, put to the class; again after a discussion, with the next number."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="votes")
    step = models.PositiveIntegerField()
    own = models.ForeignKey(
        TeacherQuestion, on_delete=models.CASCADE, null=True, related_name="votes"
    )
    """The teacher's question; without one it is the step's."""
    number = models.PositiveIntegerField()
    """From 1, among the votes at the step."""
    is_second_try = models.BooleanField(default=False)
    """Everybody is told whether their answer before was right, and what the lesson says to it."""
    is_open = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["room", "step", "number"], name="vote_in_room")
        ]

    def __str__(self) -> str:
        return f"step {self.step}, vote {self.number}"


class Answer(models.Model):
    """What a participant answered last while a vote was open; when is not kept."""

    vote = models.ForeignKey(Vote, on_delete=models.CASCADE, related_name="answers")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="answers")
    given = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["vote", "participant"], name="answer_in_vote")
        ]

    def __str__(self) -> str:
        return f"{self.participant_id}: {self.given}"


class Proposal(models.Model):
    """What a participant proposes for a step's task; the latest counts."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="proposals")
    step = models.PositiveIntegerField()
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="proposals")
    changes = models.TextField()
    """One per line, as kviz writes them."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["room", "step", "participant"], name="proposal_of_participant"
            )
        ]

    def __str__(self) -> str:
        return self.changes


class Contest(models.Model):
    """Waiting pods that the class places by hand, everybody the same; one of them is on at most."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="contests")
    game = models.OneToOneField(Game, on_delete=models.CASCADE, related_name="contest")
    step = models.PositiveIntegerField()
    """The room's when it began."""
    is_on = models.BooleanField(default=True)
    shown_seat = models.PositiveIntegerField(default=0)
    """The participant whose placement all may see; 0: nobody's."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["room"], condition=models.Q(is_on=True), name="one_contest_on_in_room"
            )
        ]

    def __str__(self) -> str:
        return f"{self.game} in {self.room_id}"
