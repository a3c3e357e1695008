"""A lesson held against the engine: every moment exists, every right answer is what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kviz.lessons.enacting import Enacted, enact
from kviz.lessons.facts import POINTS, NoSuchFact, agrees, fact_of
from kviz.lessons.goals import reached
from kviz.lessons.lesson import Lesson, Moment, Question, Task, Upto
from kviz.lessons.texts import n_texts, read_texts
from kviz.runs.reading.projection import CycleDocument
from scheduler_core.config.problems import ConfigError, Path, Problem
from scheduler_core.config.source import located


@dataclass(frozen=True)
class Checked:
    """What was proved of a lesson, and what is wrong with it."""

    moments: int
    answers: int
    tasks: int
    problems: list[Problem]
    texts: int = 0
    """Of a file that has a lesson's texts in another language."""


def check_lesson(lesson: Lesson, text: str = "") -> Checked:
    """Run a lesson: its moments, its answers, its tasks; `text` is what it was read from."""
    try:
        run = enact(lesson)
    except ConfigError as error:
        return Checked(0, 0, 0, list(error.problems))
    problems = list(_problems(lesson, run))
    steps = lesson.steps
    moments = [each.at for each in steps] + [each.reveal and each.reveal.at for each in steps]
    return Checked(
        moments=len([each for each in moments if each]),
        answers=len([each for each in steps if each.question]),
        tasks=len([each for each in steps if each.task]),
        problems=located(problems, text) if text else problems,
    )


def check_texts(lesson: Lesson, text: str) -> Checked:
    """See whether a file has every text of a lesson. Raises ConfigError for what it has besides."""
    _, missing = read_texts(lesson, text)
    return Checked(0, 0, 0, missing, texts=n_texts(lesson) - len(missing))


def _problems(lesson: Lesson, run: Enacted) -> Iterator[Problem]:
    field, hidden_after = lesson.hidden_from
    if lesson.known is not None and lesson.known.cycle >= len(run.cycles):
        yield Problem((field,), f"hides nothing: the run has {len(run.cycles)} cycles")
    yield from _of_upto(hidden_after, run, (field,))
    for i, step in enumerate(lesson.steps):
        path: Path = ("steps", i)
        if step.at:
            yield from problems_of_moment(step.at, run, (*path, "at"))
        if step.reveal:
            yield from _of_upto(step.reveal.to, run, (*path, "reveal", "to"))
        if step.reveal and step.reveal.at:
            yield from problems_of_moment(step.reveal.at, run, (*path, "reveal", "at"))
        if step.question:
            yield from _of_question(lesson, step.question, run, (*path, "question"))
        if step.task:
            yield from _of_task(lesson, step.task, run, (*path, "task"))


def _of_upto(upto: object, run: Enacted, path: Path) -> Iterator[Problem]:
    """What is wrong with the part of a cycle that may be known."""
    if not isinstance(upto, Upto) or upto.cycle not in run.cycles:
        return
    cycle = run.document(upto.cycle)
    came = {
        "DryRun": bool(cycle["preemption"] and cycle["preemption"]["candidates"]),
        "Score": bool(cycle["scores"]),
        "NormalizeScore": bool(cycle["scores"]),
    }
    if not came.get(upto.after, True):
        yield Problem((*path, "after"), f"cycle {upto.cycle} does not come to it")
    elif upto.plugin and upto.plugin not in cycle["scores"]:
        text = f'"{upto.plugin}" does not score in cycle {upto.cycle}'
        yield Problem((*path, "plugin"), text)


def problems_of_moment(at: Moment, run: Enacted, path: Path) -> Iterator[Problem]:
    """Yield what a moment names and its run does not have."""
    if at.cycle and at.cycle not in run.cycles:
        text = f"the run has {len(run.cycles)} cycles, no cycle {at.cycle}"
        yield Problem((*path, "cycle"), text)
    if at.point and at.point not in POINTS:
        yield Problem((*path, "point"), f'there is no extension point "{at.point}"')
    elif at.point and at.cycle in run.cycles and not _comes_to(at.point, run.document(at.cycle)):
        yield Problem((*path, "point"), f"cycle {at.cycle} does not come to {at.point}")
    if at.plugin and at.plugin not in run.names.plugins:
        yield Problem((*path, "plugin"), f'the run has no plugin "{at.plugin}"')
    if at.node and at.node not in run.nodes:
        yield Problem((*path, "node"), f'the cluster has no node "{at.node}"')
    if at.pod and at.pod not in run.ends().nodes and at.pod not in run.ends().evicted:
        yield Problem((*path, "pod"), f'the run knows no pod "{at.pod}"')


def _comes_to(point: str, cycle: CycleDocument) -> bool:
    """Tell whether the record of a cycle shows anything at a point."""
    if point in ("Score", "NormalizeScore"):
        return bool(cycle["scores"])
    if point in ("Reserve", "Permit", "PreBind", "Bind", "PostBind"):
        return any(each["point"] == point for each in cycle["points"])
    return True


def _of_question(lesson: Lesson, question: Question, run: Enacted, path: Path) -> Iterator[Problem]:
    try:
        after = question.fact.after
        found = fact_of(question, enact(lesson, after) if after else run)
    except (NoSuchFact, ConfigError) as error:
        yield Problem((*path, "fact"), str(error))
        return
    if not agrees(question.answer, found):
        yield Problem((*path, "answer"), f"is {question.answer!r}; the engine says {found!r}")
    if question.kind == "node" and question.answer not in run.nodes:
        yield Problem((*path, "answer"), f'the cluster has no node "{question.answer}"')


def _of_task(lesson: Lesson, task: Task, run: Enacted, path: Path) -> Iterator[Problem]:
    if all(each.met for each in reached(task, run.ends())):
        yield Problem((*path, "goals"), "are reached without any change")
    try:
        ends = enact(lesson, task.solution).ends()
    except ConfigError as error:
        yield Problem((*path, "solution"), str(error))
        return
    for goal in reached(task, ends):
        if not goal.met:
            text = f"does not reach that {goal.goal}: {goal.instead}"
            yield Problem((*path, "solution"), text)
