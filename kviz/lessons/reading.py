"""Reading a lesson: YAML, strictly; every problem names its line and its field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kviz.lessons.lesson import Goal, Lesson, Question, Step, Task, Upto, shown_after
from kviz.reference.form import read
from kviz.runs.known import Known
from kviz.samples import sample_named
from scheduler_core.changes import ChangeError, read_lines
from scheduler_core.config.problems import ConfigError, Path, Problem
from scheduler_core.config.source import located

MAX_STEPS: Final = 40
MAX_TRIES: Final = 3


def read_lesson(text: str) -> Lesson:
    """Return the lesson in a text. Raises ConfigError."""
    lesson = read(text, Lesson)
    problems = list(_wrong(lesson))
    if problems:
        raise ConfigError(located(problems, text))
    return lesson


def _wrong(lesson: Lesson) -> Iterator[Problem]:
    """What the types do not say."""
    cluster = lesson.cluster
    if bool(cluster.sample) == bool(cluster.objects):
        yield Problem(("cluster",), "names a sample, or holds objects: one of them")
    elif cluster.sample and sample_named(cluster.sample) is None:
        yield Problem(("cluster", "sample"), f'there is no sample "{cluster.sample}"')
    for i, slug in enumerate(lesson.samples):
        if sample_named(slug) is None:
            yield Problem(("samples", i), f'there is no sample "{slug}"')
    if not 0 < len(lesson.steps) <= MAX_STEPS:
        yield Problem(("steps",), f"a lesson has 1 to {MAX_STEPS} steps")
    if lesson.minutes < 1:
        yield Problem(("minutes",), "must be at least 1")
    shown = lesson.known
    field, hidden_after = lesson.hidden_from
    if None not in (lesson.veil, lesson.hidden_after):
        yield Problem((field,), "is the older name of hidden_after: give one of them")
    if isinstance(hidden_after, Upto):
        yield from _wrong_upto(hidden_after, (field,))
    for i, step in enumerate(lesson.steps):
        yield from _wrong_in(step, ("steps", i), shown)
        shown = shown_after(shown, step)
    if shown is not None:
        yield Problem((field,), 'no step reveals the end: give the last one "reveal: {to: end}"')


def _wrong_in(step: Step, path: Path, shown: Known | None) -> Iterator[Problem]:
    if step.at and shown is not None and step.at.cycle > shown.reach:
        text = (
            f"cycle {step.at.cycle} is hidden at this step, which shows cycles up to {shown.reach}"
        )
        yield Problem((*path, "at", "cycle"), text)
    if step.question is not None:
        yield from _wrong_question(step.question, (*path, "question"))
        if step.question.fact.after and shown_after(shown, step) is not None:
            text = "what is supposed runs to its end: reveal all of it before"
            yield Problem((*path, "question", "fact", "after"), text)
    if step.reveal is not None:
        if isinstance(step.reveal.to, Upto):
            yield from _wrong_upto(step.reveal.to, (*path, "reveal", "to"))
        after, at = shown_after(shown, step), step.reveal.at
        if at and after is not None and at.cycle > after.reach:
            text = f"cycle {at.cycle} is hidden here, too"
            yield Problem((*path, "reveal", "at", "cycle"), text)
    if step.task is not None:
        if shown is not None:
            yield Problem((*path, "task"), "what is tried runs to its end: reveal all of it before")
        yield from _wrong_task(step.task, (*path, "task"))


def _wrong_upto(upto: Upto, path: Path) -> Iterator[Problem]:
    if upto.cycle < 1:
        yield Problem((*path, "cycle"), "must be at least 1")
    if upto.plugin and upto.after not in ("Score", "NormalizeScore"):
        yield Problem((*path, "plugin"), "is for Score and NormalizeScore")


def _wrong_question(question: Question, path: Path) -> Iterator[Problem]:
    answer, values = question.answer, [option.value for option in question.options]
    kinds = {"node": str, "number": int, "choice": str, "order": tuple}
    if not isinstance(answer, kinds[question.kind]) or isinstance(answer, bool):
        text = {"order": "a list", "number": "a whole number"}.get(question.kind, "a text")
        yield Problem((*path, "answer"), f"the answer to this kind of question is {text}")
    elif question.kind == "choice" and answer not in values:
        yield Problem((*path, "answer"), "is none of the options")
    elif question.kind == "order" and sorted(map(str, _items(answer))) != sorted(values):
        yield Problem((*path, "answer"), "has each of the options once")
    if question.kind in ("choice", "order") and len(set(values)) < 2:
        yield Problem((*path, "options"), "at least two different ones are required")
    for i, each in enumerate(question.wrong):
        if str(each.given) == str(answer):
            yield Problem((*path, "wrong", i, "given"), "is the right answer")
        elif question.kind == "choice" and each.given not in values:
            yield Problem((*path, "wrong", i, "given"), "is none of the options")
    if not 1 <= question.tries <= MAX_TRIES:
        yield Problem((*path, "tries"), f"must be 1 to {MAX_TRIES}")
    yield from _wrong_changes(question.fact.after, (*path, "fact", "after"))


def _items(answer: str | int | tuple[str, ...]) -> tuple[str, ...]:
    return answer if isinstance(answer, tuple) else ()


def _wrong_task(task: Task, path: Path) -> Iterator[Problem]:
    if not task.goals:
        yield Problem((*path, "goals"), "at least one is required")
    for i, goal in enumerate(task.goals):
        if sum(map(bool, wanted(goal))) != 1:
            text = "one of bound, pending, evicted and apart is required"
            yield Problem((*path, "goals", i), text)
    if not 1 <= len(task.solution) <= task.at_most:
        text = f"must be 1 to {task.at_most} changes, as the task allows"
        yield Problem((*path, "solution"), text)
    yield from _wrong_changes(task.solution, (*path, "solution"))
    for i, line in enumerate(task.solution):
        if not is_allowed(task, line):
            yield Problem(
                (*path, "solution", i), f"the task allows changes of {', '.join(task.of)}"
            )


def wanted(goal: Goal) -> tuple[object, ...]:
    """The alternatives of a goal; one of them is given."""
    return goal.bound, goal.pending, goal.evicted, goal.apart


def is_allowed(task: Task, line: str) -> bool:
    """Whether a task lets a change in one line be made."""
    return not task.of or line.split(" ", 1)[0].split("=", 1)[0] in task.of


def _wrong_changes(lines: tuple[str, ...], path: Path) -> Iterator[Problem]:
    for i, line in enumerate(lines):
        try:
            read_lines(line)
        except ChangeError as error:
            for problem in error.problems:
                yield Problem((*path, i), problem.message)
