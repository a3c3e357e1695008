"""A step as those see it who learn: never more than they have reached.

What is right, and why, is in it once the step is shown; the lesson's notes are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict
from urllib.parse import urlencode

from kviz.lessons.enacting import Ends, placed_before
from kviz.lessons.goals import Reached, reached
from kviz.lessons.handles import HandleDocument, handle_documents
from kviz.lessons.lesson import Moment, Question, Step, Task
from kviz.lessons.library import StoredLesson
from kviz.lessons.marking_up import html_of
from kviz.lessons.models import Progress
from kviz.lessons.selectors import attempt_run, hides, is_shown
from kviz.runs.execution.engine import cluster_of
from kviz.runs.models import Run
from scheduler_core.api import Node

# Whether a stored run reached what a task asks for.


def reached_by(task: Task, run: Run) -> list[Reached] | None:
    """The goals of a task, held against a run; None while it is not over, or if it failed."""
    return reached(task, _ends(run)) if run.status == Run.Status.FINISHED else None


def _ends(run: Run) -> Ends:
    objects, _ = cluster_of(run)
    rows = list(run.pod_outcomes.all())
    nodes = placed_before(objects) | {row.pod: row.node for row in rows}
    for row in rows:
        if row.deleted:
            del nodes[row.pod]
    evicted = frozenset(row.pod for row in rows if row.evicted_in_cycle is not None)
    labels = {
        each.metadata.name: dict(each.metadata.labels) for each in objects if isinstance(each, Node)
    }
    return Ends(nodes, evicted, labels)


class MomentDocument(TypedDict):
    """What to open; `query` is the deep link's."""

    cycle: int
    query: str


class OptionDocument(TypedDict):
    value: str
    text: str


class OtherRunDocument(TypedDict):
    """The run in which what a question supposes is so; `changes` are lines."""

    changes: list[str]
    run: str
    status: str


class AnsweredDocument(TypedDict):
    """`given` is null where the answer was shown unasked; `other` is for a question "what if".

    `says` is what the lesson says to this wrong answer, `because` to the right one: HTML.
    """

    given: str | int | list[str] | None
    given_text: str
    right: bool
    answer: str | int | list[str]
    answer_text: str
    because: str
    says: str
    other: OtherRunDocument | None


class TriedDocument(TypedDict):
    """A wrong answer that may be followed by another; `says` is HTML."""

    given_text: str
    says: str


class QuestionDocument(TypedDict):
    """`tried` are the wrong answers so far, `tries` how many may be given."""

    ask: str
    kind: str
    unit: str
    options: list[OptionDocument]
    tries: int
    tried: list[TriedDocument]
    answered: AnsweredDocument | None


class GoalDocument(TypedDict):
    goal: str
    met: bool
    instead: str


class AttemptDocument(TypedDict):
    """`goals` is null while the run is not over."""

    changes: str
    run: str
    status: str
    error: str
    goals: list[GoalDocument] | None
    met: bool


class TaskDocument(TypedDict):
    text: str
    at_most: int
    of: list[str]
    hint: str
    handles: list[HandleDocument]
    attempt: AttemptDocument | None


class StepDocument(TypedDict):
    """`number` is from 1; `text` and what explains are HTML; `hides` says that more is to come."""

    lesson: str
    lesson_title: str
    number: int
    n_steps: int
    reached: int
    title: str
    text: str
    picture: str
    run: str
    at: MomentDocument | None
    question: QuestionDocument | None
    hides: bool
    shown: bool
    reveals: bool
    explains: str
    task: TaskDocument | None


def step_document(*, progress: Progress, stored_lesson: StoredLesson, number: int) -> StepDocument:
    """A step that was reached, as pages and scripts have it."""
    step = stored_lesson.lesson.steps[number - 1]
    shown = is_shown(progress, number)
    return {
        "lesson": stored_lesson.slug,
        "lesson_title": stored_lesson.lesson.title,
        "number": number,
        "n_steps": len(stored_lesson.lesson.steps),
        "reached": progress.reached,
        "title": step.title,
        "text": html_of(step.text),
        "picture": step.picture or "",
        "run": str(progress.run_id),
        "at": moment_document(step.moment(is_shown=shown)),
        "question": _question(progress, step, number),
        "hides": hides(step),
        "shown": shown,
        "reveals": step.reveal is not None,
        "explains": html_of(step.reveal.text) if step.reveal and shown else "",
        "task": _task(progress, step.task, number) if step.task else None,
    }


def moment_document(at: Moment | None) -> MomentDocument | None:
    """What a moment of a lesson opens."""
    if at is None:
        return None
    named = {"c": at.cycle, "p": at.point, "g": at.plugin, "pod": at.pod, "n": at.node}
    query = {
        key: value for key, value in {**named, "tab": at.tab}.items() if value not in ("", None)
    }
    return {"cycle": at.cycle, "query": urlencode(query, safe="/")}


def _question(progress: Progress, step: Step, number: int) -> QuestionDocument | None:
    question = step.question
    if question is None:
        return None
    return {
        "ask": question.ask,
        "kind": question.kind,
        "unit": question.unit,
        "options": [{"value": each.value, "text": each.text} for each in question.options],
        "tries": question.tries,
        "tried": [
            {
                "given_text": given_in_words(question, given),
                "says": html_of(question.says_to(given)),
            }
            for given in progress.tried.get(str(number), ())
        ],
        "answered": _answered(progress, question, number),
    }


def _answered(progress: Progress, question: Question, number: int) -> AnsweredDocument | None:
    known = progress.answers.get(str(number))
    if known is None:
        return None
    other = _other(progress, question, number)
    return answered_document(question, known["given"], right=known["right"], other=other)


def answered_document(
    question: Question,
    given: str | int | Sequence[str] | None,
    *,
    right: bool,
    other: OtherRunDocument | None = None,
) -> AnsweredDocument:
    """An answer to a question, and what is right."""
    answer = question.answer
    return {
        "given": list(given) if isinstance(given, list | tuple) else given,  # type: ignore[typeddict-item]
        "given_text": "" if given is None else given_in_words(question, given),
        "right": right,
        "answer": list(answer) if isinstance(answer, tuple) else answer,
        "answer_text": answer_in_words(question),
        "because": html_of(question.because),
        "says": "" if right else html_of(question.says_to(given)),
        "other": other,
    }


def _other(progress: Progress, question: Question, number: int) -> OtherRunDocument | None:
    run = attempt_run(progress=progress, number=number) if question.fact.after else None
    if run is None:
        return None
    return {"changes": list(question.fact.after), "run": str(run.pk), "status": run.status}


def answer_in_words(question: Question) -> str:
    """The right answer, as its options word it."""
    return given_in_words(question, question.answer)


def given_in_words(question: Question, given: str | int | Sequence[str]) -> str:
    """An answer, as the question's options word it."""
    texts = {option.value: option.text for option in question.options}
    if isinstance(given, str | int):
        return texts.get(str(given), f"{given} {question.unit}".strip())
    return " → ".join(texts.get(each, each) for each in given)


def _task(progress: Progress, task: Task, number: int) -> TaskDocument:
    return {
        "text": html_of(task.text),
        "at_most": task.at_most,
        "of": list(task.of),
        "hint": task.hint,
        "handles": handle_documents(progress.run, task) if progress.run else [],
        "attempt": _attempt(progress, task, number),
    }


def _attempt(progress: Progress, task: Task, number: int) -> AttemptDocument | None:
    run = attempt_run(progress=progress, number=number)
    if run is None:
        return None
    return attempt_document(task, run, progress.attempts[str(number)]["changes"])


def attempt_document(task: Task, run: Run, changes: str) -> AttemptDocument:
    """A try of a task: a run with changes, and which goals it reached."""
    goals = reached_by(task, run)
    return {
        "changes": changes,
        "run": str(run.pk),
        "status": run.status,
        "error": run.error,
        "goals": None if goals is None else [_goal(each) for each in goals],
        "met": bool(goals) and all(each.met for each in goals or ()),
    }


def _goal(found: Reached) -> GoalDocument:
    return {"goal": found.goal, "met": found.met, "instead": "" if found.met else found.instead}
