"""What a room sends: one document for the class, more for the projector, all for the teacher.

The class's is the same for everybody in it. It has what the teacher has shown and nothing else:
no answer, no count and no outcome before it is revealed, and never who answered what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final, TypedDict, cast
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.urls import reverse

from kviz.classroom import selectors
from kviz.classroom.contests import (
    ContestDocument,
    ContestOfTeacher,
    contest_document,
    contest_of_teacher,
    counts_document,
    to_place,
)
from kviz.classroom.models import Participant, Room, Vote
from kviz.classroom.steps import Place, lesson_of, place_of, title_of, topic_of
from kviz.classroom.votes import Given, counts, gain, is_right
from kviz.common.wording import translated
from kviz.lessons.documents import (
    GoalDocument,
    OptionDocument,
    answer_in_words,
    attempt_document,
    given_in_words,
    moment_document,
)
from kviz.lessons.handles import HandleDocument, handle_documents
from kviz.lessons.lesson import Question
from kviz.lessons.marking_up import html_of
from kviz.lessons.picture import Picture, View, picture_of
from kviz.runs.models import Run

MOST_PROPOSALS: Final = 12

# What a step of a class is to try, and what came of the changes that the teacher ran for all.


class TriedDocument(TypedDict):
    """The latest try; `goals` is null while its run is not over, or if that failed (`error`)."""

    changes: str
    goals: list[GoalDocument] | None
    met: bool
    error: str


class TaskDocument(TypedDict):
    """`text` is HTML; `of` lists what may be changed, empty: anything."""

    text: str
    at_most: int
    of: list[str]
    handles: list[HandleDocument]
    tried: TriedDocument | None


class ProposalDocument(TypedDict):
    """Changes, one per line, and how many propose them."""

    changes: str
    n: int


class TaskOfTeacher(TypedDict):
    """`run` is that of the latest try, `proposals` are the students', the most frequent first."""

    hint: str
    run: str
    proposals: list[ProposalDocument]


def task_document(room: Room, place: Place) -> TaskDocument | None:
    """What the class may try at this step, the same for everybody."""
    task = place.step.task
    if task is None:
        return None
    return {
        "text": html_of(task.text),
        "at_most": task.at_most,
        "of": list(task.of),
        "handles": handle_documents(room.run, task) if room.run else [],
        "tried": _tried(room, place),
    }


def _tried(room: Room, place: Place) -> TriedDocument | None:
    run = _run_of_try(room, place)
    if run is None or room.tried is None or place.step.task is None:
        return None
    found = translated(attempt_document(place.step.task, run, room.tried["changes"]))
    return {
        "changes": found["changes"],
        "goals": found["goals"],
        "met": found["met"],
        "error": found["error"],
    }


def _run_of_try(room: Room, place: Place) -> Run | None:
    if room.tried is None or room.tried["step"] != place.number:
        return None
    found = Run.objects.filter(pk=UUID(room.tried["run"]), workspace=room.workspace_id)
    return found.select_related("snapshot").first()


def task_of_teacher(room: Room, place: Place) -> TaskOfTeacher | None:
    task, run = place.step.task, _run_of_try(room, place)
    if task is None:
        return None
    proposed = Counter(room.proposals.filter(step=place.number).values_list("changes", flat=True))
    return {
        "hint": task.hint,
        "run": str(run.pk) if run else "",
        "proposals": [{"changes": c, "n": n} for c, n in proposed.most_common(MOST_PROPOSALS)],
    }


Json = dict[str, object]


class VoteDocument(TypedDict):
    """`counts` are null while they are hidden."""

    number: int
    n: int
    counts: list[Json] | None


class WrongDocument(TypedDict):
    """What the lesson says to a wrong answer; HTML."""

    given: str | int
    says: str


class BeforeDocument(TypedDict):
    """What somebody answered before a second try; `says` is what the lesson says to it, HTML."""

    given_text: str
    right: bool
    says: str


class AskedDocument(TypedDict):
    """The question, once it is put; `answer` and what follows once it is revealed.

    `is_own`: the teacher asks it on the spot; then there may be no right answer, when `is_shown`.
    """

    vote: int
    number: int
    is_open: bool
    is_shown: bool
    is_own: bool
    is_second_try: bool
    ask: str
    kind: str
    unit: str
    options: list[OptionDocument]
    answer: str | int | list[str] | None
    answer_text: str
    because: str
    wrong: list[WrongDocument]
    votes: list[VoteDocument]
    gain: Json | None


class ClassDocument(TypedDict):
    """`texts` are HTML, made from Markdown. `is_waiting`: a worker computes what will be shown."""

    type: str
    version: int
    is_open: bool
    title: str
    number: int
    n_steps: int
    step_title: str
    text: str
    explains: str
    cycle: int
    query: str
    explore: str
    picture: Picture | None
    is_waiting: bool
    question: AskedDocument | None
    is_black: bool
    is_held: bool
    marks: list[Json]
    pointer_seat: int
    leaders: list[Json]
    contest: ContestDocument | None
    task: TaskDocument | None


class Seat(TypedDict):
    """Somebody in the room, as the teacher sees them."""

    number: int
    name: str
    is_in: bool
    answered: bool
    score: int


class TeacherDocument(TypedDict):
    """`counts` are those of the vote that is open or was the last, as answers come in.

    `titles` are those of the lesson's steps; empty in a class about a run.
    """

    notes: str
    has_question: bool
    is_shown: bool
    hides: bool
    titles: list[str]
    seats: list[Seat]
    n_in: int
    n_answered: int
    counts: list[Json]
    is_scored: bool
    may_play: bool
    contest: ContestOfTeacher | None
    task: TaskOfTeacher | None
    opened_at: str
    closes_at: str


def class_document(room: Room) -> ClassDocument:
    """What the class may know now, while it is frozen what it knew when that began."""
    if room.held is None:
        return present_document(room)
    held = selectors.held_document(room)
    more: Json = {
        "version": room.version,
        "is_held": True,
        "is_black": room.is_black,
        "is_open": room.closed_at is None,
        "pointer_seat": room.pointer_seat,
    }
    return cast("ClassDocument", held | more)


def present_document(room: Room) -> ClassDocument:
    """What the class may know of where the teacher is."""
    place = place_of(room)
    cycle, query, point = _moment(room, place)
    picture = picture_of(room.run, _view(room, place, cycle, point)) if room.run else None
    leaders = selectors.scores(room)[:10] if room.is_scored else []
    return {
        "type": "state",
        "version": room.version,
        "is_open": room.closed_at is None,
        "title": title_of(room),
        "number": place.number,
        "n_steps": place.n_steps,
        "step_title": place.step.title,
        "text": html_of(place.step.text),
        "explains": html_of(place.step.reveal.text) if place.is_shown and place.step.reveal else "",
        "cycle": cycle,
        "query": query,
        "explore": _explore(room, query),
        "picture": picture,
        "is_waiting": room.run is not None and _is_waiting(room.run, cycle, picture),
        "question": _asked(room, place),
        "is_black": room.is_black,
        "is_held": False,
        "marks": cast("list[Json]", room.marks),
        "pointer_seat": room.pointer_seat,
        "leaders": [{"name": seat.name, "number": seat.number, "score": n} for seat, n in leaders],
        "contest": contest_document(room),
        "task": task_document(room, place),
    }


def _is_waiting(run: Run, cycle: int, picture: Picture | None) -> bool:
    """Whether a cycle must be simulated, or the rest of one that is partly visible."""
    if run.is_over:
        return False
    at_rest = picture is not None and run.status == Run.Status.PAUSED
    return picture is None or (cycle > run.cycles and not at_rest)


def _view(room: Room, place: Place, cycle: int, point: str) -> View:
    """What the step's picture is to show; a moment that the teacher went to asks nothing."""
    is_open = place.step.question is not None and not place.is_shown and not room.query
    pod = place.moment.pod if place.moment else ""
    topic = topic_of(room, place)
    return View(cycle, point, pod, topic, is_open=is_open, is_free=not room.lesson)


def _moment(room: Room, place: Place) -> tuple[int, str, str]:
    """The cycle, the deep link and the extension point that are looked at."""
    query = room.query
    if not query:
        at = moment_document(place.moment)
        query = at["query"] if at else ""
    asked = parse_qs(query)
    cycle = asked.get("c", ["0"])[0]
    known = int(cycle) if cycle.isdigit() and len(cycle) < 10 else 0
    return known, query, asked.get("p", [""])[0]


def _explore(room: Room, query: str) -> str:
    """The same moment in the Explorer, for who was let in; empty without a run."""
    link = room.run.links.open().first() if room.run else None
    if room.run is None or link is None:
        return ""
    door = urlencode({"share": link.token, "class": room.code})
    return f"{reverse('run-explore', args=[room.run.pk])}?{query}{'&' if query else ''}{door}"


# ---------------------------------------------------------------- the question


def _asked(room: Room, place: Place) -> AskedDocument | None:
    question, votes = place.question, selectors.votes_of(room, place)
    if question is None or not (votes or place.is_answered):
        return None
    is_known = place.is_answered and question.answer != ""
    is_shown = is_known or (place.own is not None and place.is_answered)
    answers = selectors.answers_of(votes) if is_shown else {}
    last = votes[-1] if votes else None
    answer = question.answer
    return {
        "vote": last.pk if last else 0,
        "number": len(votes),
        "is_open": last is not None and last.is_open and not place.is_answered,
        "is_shown": is_shown,
        "is_own": place.own is not None,
        "is_second_try": last is not None and last.is_second_try,
        "ask": question.ask,
        "kind": question.kind,
        "unit": question.unit,
        "options": [{"value": each.value, "text": each.text} for each in question.options],
        "answer": None if not is_known else list(answer) if isinstance(answer, tuple) else answer,
        "answer_text": answer_in_words(question) if is_known else "",
        "because": html_of(question.because) if is_known else "",
        "wrong": [
            {"given": each.given, "says": html_of(each.says)}
            for each in (question.wrong if is_known else ())
        ],
        "votes": [
            _vote(question, i, answers.get(vote.pk), is_known=is_known)
            for i, vote in enumerate(votes, start=1)
        ],
        "gain": _gain(question, votes, answers) if is_known else None,
    }


def _vote(
    question: Question, number: int, given: Mapping[int, Given] | None, *, is_known: bool
) -> VoteDocument:
    rows = None
    if given is not None:
        rows = [asdict(row) for row in counts(question, list(given.values()), shown=is_known)]
    return {"number": number, "n": len(given or ()), "counts": rows}


def _gain(
    question: Question, votes: list[Vote], answers: Mapping[int, Mapping[int, Given]]
) -> Json | None:
    """From the first vote to the last."""
    if len(votes) < 2:
        return None
    return asdict(gain(question, answers[votes[0].pk], answers[votes[-1].pk]))


# ---------------------------------------------------------------- who sees more


def screen_document(room: Room) -> Json:
    """The class's, and how many are in and have answered."""
    place, seats = place_of(room), selectors.seats_of(room)
    votes = selectors.votes_of(room, place)
    n_answered = len(selectors.answers_of(votes[-1:]).get(votes[-1].pk, {})) if votes else 0
    return {
        **class_document(room),
        "code": room.code,
        "n_in": sum(seat.n_connected > 0 for seat in seats),
        "n_answered": n_answered,
        "contest_counts": counts_document(room),
        "to_place": to_place(room),
    }


def teacher_document(room: Room) -> Json:
    """Where the teacher is, and what only the teacher may see."""
    place, seats = place_of(room), selectors.seats_of(room)
    votes = selectors.votes_of(room, place)
    given = selectors.answers_of(votes[-1:]).get(votes[-1].pk, {}) if votes else {}
    scores = {seat.pk: n for seat, n in selectors.scores(room)}
    lesson, step = lesson_of(room), place.step
    teacher: TeacherDocument = {
        "notes": html_of(step.notes),
        "has_question": place.question is not None,
        "is_shown": place.is_answered,
        "hides": place.question is not None or step.reveal is not None,
        "titles": [each.title for each in lesson.steps] if lesson else [],
        "seats": [
            {
                "number": seat.number,
                "name": seat.name,
                "is_in": seat.n_connected > 0,
                "answered": seat.pk in given,
                "score": scores.get(seat.pk, 0),
            }
            for seat in seats
        ],
        "n_in": sum(seat.n_connected > 0 for seat in seats),
        "n_answered": len(given),
        "counts": _live_counts(place, given),
        "is_scored": room.is_scored,
        "may_play": room.may_play and room.run is not None and not room.run.is_hidden,
        "contest": contest_of_teacher(room),
        "task": task_of_teacher(room, place),
        "opened_at": room.opened_at.isoformat(),
        "closes_at": room.closes_at.isoformat(),
    }
    present = {**present_document(room), "is_held": room.held is not None}
    return {**present, "code": room.code, "teacher": teacher}


def _live_counts(place: Place, given: Mapping[int, Given]) -> list[Json]:
    question = place.question
    if question is None:
        return []
    shown = question.answer != "" and place.is_answered
    return [asdict(row) for row in counts(question, list(given.values()), shown=shown)]


def mine_document(room: Room, participant: Participant) -> Json:
    """What only this participant is sent: who they are, and what they answered last.

    `before` is for a second try: the answer before it.
    """
    place = place_of(room)
    votes = selectors.votes_of(room, place)
    given = selectors.answers_of(votes[-1:]).get(votes[-1].pk, {}) if votes else {}
    mine = given.get(participant.pk)
    return {
        "type": "me",
        "number": participant.number,
        "name": participant.name,
        "vote": votes[-1].pk if votes and mine is not None else 0,
        "given": list(mine) if isinstance(mine, tuple) else mine,
        "before": _before(place.question, votes, participant) if place.question else None,
    }


def _before(question: Question, votes: list[Vote], who: Participant) -> BeforeDocument | None:
    if len(votes) < 2 or not votes[-1].is_second_try:
        return None
    given = selectors.answers_of(votes[-2:-1])[votes[-2].pk].get(who.pk)
    if given is None:
        return None
    return {
        "given_text": given_in_words(question, given),
        "right": is_right(question, given),
        "says": html_of(question.says_to(given)),
    }
