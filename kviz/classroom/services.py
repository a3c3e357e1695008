"""Writes: a room is opened and closed, people come in, the teacher leads, the class answers.

After each, all viewers of the room are notified (`news.tell`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone, translation
from django.utils.translation import gettext

from kviz.accounts.models import Workspace
from kviz.by_hand.models import Game
from kviz.by_hand.services import CannotPlay, game_of_run, game_reveal, may_be_evened
from kviz.classroom import news, selectors
from kviz.classroom.codes import draw_code
from kviz.classroom.crowding import Crowded, make_room
from kviz.classroom.documents import present_document
from kviz.classroom.models import Answer, Contest, Participant, Room, TeacherQuestion, Vote
from kviz.classroom.steps import is_step, lesson_of, place_of, place_of_vote, question_of
from kviz.lessons.grading import NotAnAnswer, grade
from kviz.lessons.lesson import shown_before
from kviz.lessons.library import StoredLesson
from kviz.lessons.services import lesson_run, task_changes, task_run
from kviz.runs.inputs import InvalidInput
from kviz.runs.known import Known
from kviz.runs.models import Run
from kviz.runs.services import run_repeat_hidden, run_reveal
from kviz.runs.sharing import run_share, run_unshare
from kviz.runs.titles import run_title
from scheduler_core.changes import line_of
from scheduler_core.wording import told

MAX_OPEN: Final = 10
"""Rooms that a workspace may have open at once."""
MAX_MARKS: Final = 60
MAX_OPTIONS: Final = 12
"""Answers of a teacher's question."""
MAX_OWN: Final = 100
"""Questions of the teacher's own in one room."""
MAX_CONTESTS: Final = 20
"""In one room."""
MAX_POINTS: Final = 400


class Refused(Exception):
    """What was asked for cannot be done now; the text says why."""


# ---------------------------------------------------------------- the room


def room_open_lesson(*, workspace: Workspace, stored_lesson: StoredLesson) -> Room:
    """Open a room for a lesson, at its first step, with a new run. Raises Refused."""
    _check_number(workspace)
    run = lesson_run(workspace=workspace, stored_lesson=stored_lesson)
    more = {"lesson": stored_lesson.slug, "lesson_sha256": stored_lesson.sha256}
    return _open(workspace, run, title=stored_lesson.lesson.title, step=1, **more)


def room_open_run(*, workspace: Workspace, run: Run, cycle: int) -> Room:
    """Open a room for any simulated run, which hides what follows a cycle.

    Raises Refused, and InvalidInput.
    """
    _check_number(workspace)
    repeated = run_repeat_hidden(workspace=workspace, run=run, hidden_after=cycle)
    return _open(workspace, repeated, title=run_title(run), step=cycle)


def room_open_game(*, workspace: Workspace, run: Run) -> Room:
    """Open a room in which all place the waiting pods of a run's cluster. Raises Refused."""
    _check_number(workspace)
    game = _game(workspace, run, run_title(run))
    room = _open(workspace, game.run, title=game.run.name, step=0)
    Contest.objects.create(room=room, game=game, step=0)
    return room


def _check_number(workspace: Workspace) -> None:
    rooms_close_late()
    if Room.objects.filter(workspace=workspace, closed_at=None).count() >= MAX_OPEN:
        raise Refused(gettext("Too many classes are open. End one of them first."))


def _open(workspace: Workspace, run: Run, **what: Any) -> Room:
    closes_at = timezone.now() + dt.timedelta(hours=settings.CLASS_HOURS)
    may_play = may_be_evened(run=run)
    run_share(run=run, expires_at=closes_at)  # participants may look around in it
    for _ in range(10):
        try:
            with transaction.atomic():
                return Room.objects.create(
                    workspace=workspace,
                    run=run,
                    code=draw_code(),
                    closes_at=closes_at,
                    may_play=may_play,
                    **what,
                )
        except IntegrityError:  # the code is in use
            continue
    raise Refused(gettext("No code is free. Try again."))


def room_close(*, room: Room) -> None:
    """End a class: nobody gets in, names are deleted, the run is the teacher's alone again."""
    closed = Room.objects.filter(pk=room.pk, closed_at=None).update(
        closed_at=timezone.now(), held=None, version=F("version") + 1
    )
    if closed:
        room.participants.update(name="", origin="", n_connected=0)
        room.votes.update(is_open=False)
        if room.run is not None:
            run_unshare(run=room.run)
        news.tell(room.pk)


def rooms_close_late() -> None:
    """Close the classes whose time is over."""
    for room in Room.objects.filter(closed_at=None, closes_at__lte=timezone.now()):
        room_close(room=room)


# ---------------------------------------------------------------- participants


def participant_join(*, room: Room, name: str, origin: str) -> Participant:
    """Let somebody in, with or without a name. Raises Refused."""
    with transaction.atomic():
        rooms = Room.objects.filter(pk=room.pk)
        rooms.update(n_joined=F("n_joined") + 1, changed_at=timezone.now())
        room.refresh_from_db(fields=["n_joined"])
        try:
            make_room(room, origin)
        except Crowded as crowded:
            raise Refused(str(crowded)) from crowded
        seat = Participant.objects.create(
            room=room, number=room.n_joined, name=_clean(name), origin=origin
        )
    news.tell(room.pk)
    return seat


def _clean(name: str) -> str:
    """A name in one line, of characters that can be seen."""
    words = "".join(each for each in name if each.isprintable() or each.isspace()).split()
    return " ".join(words)[:40]


def participant_connected(*, participant: Participant, by: int) -> None:
    """Note that a page of theirs came (1) or went (-1)."""
    seats = Participant.objects.filter(pk=participant.pk, room__closed_at=None)
    if by < 0:
        seats = seats.filter(n_connected__gt=0)
    seats.update(n_connected=F("n_connected") + by)
    news.tell(participant.room_id)


def classes_begin() -> None:
    """Make order when a server begins: nobody is connected yet, and late classes are closed."""
    rooms_close_late()
    Participant.objects.filter(n_connected__gt=0).update(n_connected=0)


def answer_give(*, room: Room, participant: Participant, vote_id: int, given: object) -> None:
    """Take an answer to the vote that is open; it may be changed until that is closed.

    Raises Refused, and NotAnAnswer.
    """
    vote = room.votes.filter(pk=vote_id, is_open=True).select_related("own").first()
    question = place_of_vote(room, vote).question if vote else None
    if vote is None or question is None or room.closed_at is not None:
        raise Refused(gettext("This vote is closed."))
    graded = grade(question, given)
    if len(str(graded.given)) > 1_000:
        raise NotAnAnswer(gettext("This is too long."))
    value = list(graded.given) if isinstance(graded.given, tuple) else graded.given
    Answer.objects.update_or_create(vote=vote, participant=participant, defaults={"given": value})
    news.tell(room.pk)


# ---------------------------------------------------------------- the teacher leads


def step_go(*, room: Room, step: int) -> None:
    """Go to a step; votes that are open are closed. Raises Refused.

    This reveals the cycle that is gone to in a class about a run, and in a lesson what the steps
    before reveal.
    """
    if not is_step(room, step):
        raise Refused(gettext("There is no such step."))
    room.votes.filter(is_open=True).update(is_open=False)
    room.contests.filter(is_on=True).update(is_on=False)
    lesson = lesson_of(room)
    if room.run is not None and (lesson is not None or not room.lesson):
        run_reveal(run=room.run, upto=shown_before(lesson, step) if lesson else Known(step))
    _change(room, step=step, own=None, query="", marks=[])


def moment_go(*, room: Room, query: str) -> None:
    """Show the class another moment of the run, as the Explorer's address has it."""
    _change(room, query=query[:2000], marks=[])


def vote_open(*, room: Room, is_second_try: bool = False) -> None:
    """Put the question to the class, for the first time or again. Raises Refused."""
    place = place_of(room)
    if place.question is None or place.is_answered:
        raise Refused(gettext("There is nothing to ask here."))
    with transaction.atomic():
        room.votes.filter(is_open=True).update(is_open=False)
        number = room.votes.filter(step=place.number).count() + 1
        Vote.objects.create(
            room=room,
            step=place.number,
            own=place.own,
            number=number,
            is_second_try=is_second_try and place.question.answer != "",
        )
        _change(room)


def own_ask(*, room: Room, ask: str, kind: str, options: Sequence[str], answer: str) -> None:
    """Put a question of the teacher's own to the class, at any step. Raises Refused.

    `answer` is what is right, empty where the teacher does not say.
    """
    texts = list(dict.fromkeys(text.strip() for text in options if text.strip()))
    if not ask.strip():
        raise Refused(gettext("Write what you ask."))
    if kind == "choice" and not 2 <= len(texts) <= MAX_OPTIONS:
        raise Refused(gettext("Write two to twelve answers to choose from, one per line."))
    if room.own_questions.count() >= MAX_OWN:
        raise Refused(gettext("No more questions of your own can be asked in this class."))
    own = TeacherQuestion(room=room, ask=ask.strip(), kind=kind)
    own.options = texts if kind == "choice" else []
    if answer.strip():
        own.answer = _right(own, answer.strip())
    own.save()
    _change(room, own=own)
    vote_open(room=room)


def _right(own: TeacherQuestion, answer: str) -> str | int:
    """What the teacher calls right, as an answer to the question. Raises Refused."""
    try:
        given = grade(question_of(own), answer).given
    except NotAnAnswer as error:
        raise Refused(told(error)) from error
    return given if isinstance(given, int) else str(given)


def own_leave(*, room: Room) -> None:
    """Go back to the step's own question; what was answered is kept."""
    room.votes.filter(is_open=True).update(is_open=False)
    _change(room, own=None)


def vote_close(*, room: Room) -> None:
    room.votes.filter(is_open=True).update(is_open=False)
    _change(room)


def step_reveal(*, room: Room) -> None:
    """Show what the step hides: the answer, the votes, and what happens.

    Of a question of the teacher's own only the votes, and its answer if it has one.
    """
    place = place_of(room)
    room.votes.filter(is_open=True).update(is_open=False)
    if place.own is not None:
        place.own.is_shown = True
        place.own.save(update_fields=["is_shown"])
        _change(room)
        return
    if room.run is not None and place.step.reveal is not None:
        run_reveal(run=room.run, upto=place.step.reveal.upto)
    shown = room.shown if place.number in room.shown else [*room.shown, place.number]
    _change(room, shown=shown, query="")


def task_try(*, room: Room, changes: str) -> None:
    """Run the step's task with changes, one per line, for all to see what comes of them.

    Raises Refused, and InvalidInput.
    """
    place = place_of(room)
    if place.step.task is None or room.run is None:
        raise Refused(gettext("There is nothing to try here."))
    name = f"{room.title}: {place.step.title}"
    run = task_run(of=room.run, task=place.step.task, name=name, text=changes)
    _change(room, tried={"step": place.number, "changes": changes, "run": str(run.pk)})


def task_propose(*, room: Room, participant: Participant, changes: str) -> None:
    """Propose changes for the step's task, for the teacher to run. Raises Refused, InvalidInput."""
    task = place_of(room).step.task
    if task is None or room.closed_at is not None:
        raise Refused(gettext("There is nothing to try here."))
    lines = [line_of(change) for change in task_changes(task=task, text=changes)]
    room.proposals.update_or_create(
        step=room.step, participant=participant, defaults={"changes": "\n".join(lines)}
    )
    news.tell(room.pk)


def contest_start(*, room: Room) -> None:
    """Let everybody place the waiting pods of the room's cluster by hand. Raises Refused."""
    if room.run is None:
        raise Refused(gettext("There is nothing to place here: the class is about no cluster."))
    if room.run.is_hidden:
        text = gettext("First reveal what this class still hides: the contest would show it.")
        raise Refused(text)
    if not room.may_play:
        raise Refused(gettext("No placement by hand is as good here as what kube-scheduler does."))
    if selectors.contest_on(room) is not None or room.contests.count() >= MAX_CONTESTS:
        raise Refused(gettext("No more can be placed by hand in this class now."))
    room.votes.filter(is_open=True).update(is_open=False)
    game = _game(room.workspace, room.run, room.title)
    Contest.objects.create(room=room, game=game, step=room.step)
    _change(room)


def _game(workspace: Workspace, run: Run, name: str) -> Game:
    try:
        return game_of_run(workspace=workspace, run=run, name=name, is_for_class=True)
    except CannotPlay as refusal:
        raise Refused(told(refusal)) from refusal
    except InvalidInput as invalid:
        raise Refused(told(invalid)) from invalid


def contest_reveal(*, room: Room) -> None:
    """Show what the scheduler makes of it, and the best there is. Raises Refused."""
    game_reveal(game=_contest(room).game)
    _change(room)


def contest_show(*, room: Room, seat: int) -> None:
    """Show a player's placement next to the scheduler's; 0: none. Raises Refused."""
    contest = _contest(room)
    if not contest.game.is_revealed:
        raise Refused(gettext("First show what the scheduler did."))
    if seat and not contest.game.attempts.filter(player=seat, is_finished=True).exists():
        raise Refused(gettext("Nobody here with this number is done."))
    room.contests.filter(pk=contest.pk).update(shown_seat=seat)
    _change(room)


def contest_stop(*, room: Room) -> None:
    """Go back to the step; what was placed is kept. Raises Refused."""
    room.contests.filter(pk=_contest(room).pk).update(is_on=False)
    _change(room)


def _contest(room: Room) -> Contest:
    found = selectors.contest_on(room)
    if found is None:
        raise Refused(gettext("The class places no pods now."))
    return found


def class_hold(*, room: Room, on: bool) -> None:
    """Freeze what the class sees, or let it follow again."""
    held = None
    if on and room.held is None:
        held = {code: _in_language(room, code) for code, _ in settings.LANGUAGES}
    _change(room, held=held)


def _in_language(room: Room, code: str) -> object:
    with translation.override(code):
        return present_document(room)


def class_black_out(*, room: Room, on: bool) -> None:
    _change(room, is_black=on)


def class_score(*, room: Room, on: bool) -> None:
    """Show the class who had most questions right, or do not."""
    _change(room, is_scored=on)


def pointer_hand(*, room: Room, seat: int) -> None:
    """Give the pointer to somebody by number; 0 takes it back. Raises Refused."""
    if seat and not room.participants.filter(number=seat).exists():
        raise Refused(gettext("Nobody here has this number."))
    _change(room, pointer_seat=seat)


def mark_add(*, room: Room, kind: str, points: Sequence[Sequence[int]]) -> None:
    """Draw on the map: a circle (centre, and a point on it), or a line. Raises Refused."""
    if len(room.marks) >= MAX_MARKS or len(points) > MAX_POINTS:
        raise Refused(gettext("So much cannot be drawn. Wipe it off first."))
    mark = {"kind": kind, "points": [list(point) for point in points]}
    _change(room, marks=[*room.marks, mark])


def marks_wipe(*, room: Room) -> None:
    _change(room, marks=[])


def _change(room: Room, **fields: Any) -> None:
    """Store, count the version up, tell everybody."""
    for name, value in fields.items():
        setattr(room, name, value)
    room.save(update_fields=list(fields))
    Room.objects.filter(pk=room.pk).update(version=F("version") + 1, changed_at=timezone.now())
    room.refresh_from_db(fields=["version"])
    news.tell(room.pk)
