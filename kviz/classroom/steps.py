"""What a room is about, step by step: those of a lesson, or the cycles of any run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext

from kviz.classroom.models import Room, TeacherQuestion, Vote
from kviz.lessons.lesson import Fact, Lesson, Moment, Option, Question, Reveal, Step
from kviz.lessons.library import StoredLesson
from kviz.lessons.selectors import lessons
from kviz.runs.models import Cycle
from kviz.snapshots.selectors import cluster_of

NO_NODE: Final = "no node"
"""The answer that a pod gets no node; no node can be called that."""
MAX_OPTIONS: Final = 30
"""So many nodes are options; of more, one is tapped."""


@dataclass(frozen=True)
class Place:
    """The step a room is at; `question.answer` is empty while the engine has not decided."""

    number: int
    n_steps: int
    """0: not known."""
    step: Step
    is_shown: bool
    """The step's answer and outcome were revealed."""
    own: TeacherQuestion | None = None
    """What the teacher asks here instead of the step's question."""

    @property
    def question(self) -> Question | None:
        return question_of(self.own) if self.own else self.step.question

    @property
    def is_answered(self) -> bool:
        """Whether the answer to the question was revealed."""
        return self.own.is_shown if self.own else self.is_shown

    @property
    def moment(self) -> Moment | None:
        return self.step.moment(is_shown=self.is_shown)


def lesson_of(room: Room) -> Lesson | None:
    """The room's lesson; None for a class about a run, or if the file has changed since."""
    stored_lesson: StoredLesson | None = lessons().get(room.lesson) if room.lesson else None
    unchanged = stored_lesson is not None and stored_lesson.sha256 == room.lesson_sha256
    return stored_lesson.lesson if stored_lesson and unchanged else None


def title_of(room: Room) -> str:
    """The lesson's title in the reader's language; else what the room was opened with."""
    lesson = lesson_of(room)
    return room.title if lesson is None else lesson.title


def question_of(own: TeacherQuestion) -> Question:
    """A teacher's question as one of a lesson; the engine has no answer to it."""
    return Question(
        ask=own.ask,
        kind=own.kind,  # type: ignore[arg-type]
        answer=own.answer,
        fact=Fact(value=""),
        options=tuple(Option(value=text, text=text) for text in own.options),
    )


def place_of(room: Room) -> Place:
    """Where the room is."""
    return _place(room, room.step, room.own)


def place_of_vote(room: Room, vote: Vote) -> Place:
    """Where a vote was taken."""
    return _place(room, vote.step, vote.own)


def _place(room: Room, number: int, own: TeacherQuestion | None) -> Place:
    lesson = lesson_of(room)
    is_shown = number in room.shown
    if lesson is not None:
        return Place(number, len(lesson.steps), lesson.steps[number - 1], is_shown, own)
    return Place(number, _n_cycles(room), _cycle_step(room, number), is_shown, own)


def topic_of(room: Room, place: Place) -> Question | None:
    """The question that decides what a step shows."""
    lesson = lesson_of(room)
    return place.step.question if lesson is None else lesson.topic(place.number)


def is_step(room: Room, number: int) -> bool:
    """Whether the room has a visible step with this number."""
    lesson = lesson_of(room)
    if lesson is not None:
        return 1 <= number <= len(lesson.steps)
    run = room.run
    if run is None or number < 0:
        return False
    return number <= run.cycles + (0 if run.is_over else 1)


def _n_cycles(room: Room) -> int:
    return room.run.cycles if room.run and room.run.is_over else 0


def _cycle_step(room: Room, cycle: int) -> Step:
    """A cycle of a run as a step: it asks which node the next pod gets."""
    row = _row(room, cycle)
    title = gettext("Before the first cycle")
    if cycle:
        title = gettext("Cycle %(n)s") % {"n": cycle}
    text = ""
    if row is not None:
        text = _message(row) if row.message else f"`{row.pod}` → `{row.node or NO_NODE}`"
    return Step(
        title=title if row is None else f"{title}: {row.pod}",
        text=text,
        at=Moment(cycle=cycle),
        question=_next_question(room, cycle),
        reveal=Reveal(to=cycle + 1, at=Moment(cycle=cycle + 1)),
    )


def _message(row: Cycle) -> str:
    """What kube-scheduler writes of a pod without a node, and what that is."""
    told = gettext("The message that kube-scheduler writes for this, as kubectl describe shows it:")
    return f"{told}\n\n`{row.message}`"


def _next_question(room: Room, cycle: int) -> Question | None:
    if room.run is None or room.run.snapshot is None:
        return None
    row = _row(room, cycle + 1)
    if row is None and room.run.is_over:
        return None
    nodes = [node.name for node in cluster_of(room.run.snapshot).nodes]
    few = len(nodes) <= MAX_OPTIONS
    options = [*(Option(value=name, text=name) for name in nodes)] if few else []
    none = [Option(value=NO_NODE, text=gettext("no node"))] if few else []
    return Question(
        ask=gettext("Which node does the next pod get?"),
        kind="choice" if few else "node",
        answer=(row.node or NO_NODE) if row else "",
        fact=Fact(cycle=cycle + 1, value="node"),
        options=(*options, *none),
    )


def _row(room: Room, cycle: int) -> Cycle | None:
    return room.run.cycle_rows.filter(number=cycle).first() if room.run and cycle else None
