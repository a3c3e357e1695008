"""Writes: a lesson is begun, answered, revealed, tried, left behind."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence

from django.db import transaction

from kviz.accounts.models import Workspace
from kviz.lessons import selectors
from kviz.lessons.enacting import release_of, scenario_of, scheduler_config_of
from kviz.lessons.grading import Graded, NotAnAnswer, grade
from kviz.lessons.lesson import Step, Task
from kviz.lessons.library import StoredLesson
from kviz.lessons.models import Progress
from kviz.lessons.reading import is_allowed
from kviz.runs.inputs import changes_typed, invalid
from kviz.runs.models import Run
from kviz.runs.services import run_create, run_reveal
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import samples
from kviz.snapshots.services import snapshot_create
from scheduler_core.changes import Change, line_of, lines_of_changes
from scheduler_core.config import Problem
from scheduler_core.wording import say, series


class NotYet(Exception):
    """A step is asked for that the learner has not reached."""

    def __init__(self, number: int) -> None:
        super().__init__(f"Step {number} has not been reached.")


def lesson_begin(*, workspace: Workspace, stored_lesson: StoredLesson) -> Progress:
    """Begin a lesson from its first step, with a new run; an earlier way is forgotten."""
    with transaction.atomic():
        Progress.objects.filter(workspace=workspace, slug=stored_lesson.slug).delete()
        run = lesson_run(workspace=workspace, stored_lesson=stored_lesson)
        return Progress.objects.create(
            workspace=workspace, slug=stored_lesson.slug, sha256=stored_lesson.sha256, run=run
        )


def lesson_run(*, workspace: Workspace, stored_lesson: StoredLesson) -> Run:
    """A run of the lesson's cluster, hidden where the lesson wants it."""
    lesson, known = stored_lesson.lesson, stored_lesson.lesson.known
    run = run_create(
        workspace=workspace,
        snapshot=snapshot_of(workspace, stored_lesson),
        scheduler_config=scheduler_config_of(lesson),
        scenario=scenario_of(lesson),
        release=release_of(lesson).name,
        hidden_after=known.cycle if known else None,
        known_part=known.words if known else "",
    )
    run.name = lesson.title
    run.save(update_fields=["name"])
    return run


def snapshot_of(workspace: Workspace, stored_lesson: StoredLesson) -> Snapshot:
    """The lesson's cluster: the sample, or one of the workspace that is stored once."""
    cluster = stored_lesson.lesson.cluster
    if cluster.sample:
        return samples().get(name=cluster.sample)
    data = cluster.objects.encode()
    own = Snapshot.objects.filter(
        workspace=workspace,
        sha256=hashlib.sha256(data).hexdigest(),
        name=stored_lesson.lesson.title,
    )
    files = [(f"{stored_lesson.slug}.yaml", io.BytesIO(data))]
    return own.first() or snapshot_create(
        workspace=workspace, files=files, name=stored_lesson.lesson.title
    )


def question_answer(
    *, progress: Progress, stored_lesson: StoredLesson, number: int, given: object
) -> Graded:
    """Take the answer to a step's question, and reveal what the step reveals.

    A wrong one before the last of its tries is noted, and reveals nothing. Raises NotYet, and
    NotAnAnswer.
    """
    step = _step(progress, stored_lesson, number)
    if step.question is None:
        raise NotAnAnswer(say("lesson.step_asks_nothing", "This step asks nothing."))
    known = progress.answers.get(str(number))
    if known is not None:
        return Graded(known["given"], known["right"])
    graded = grade(step.question, given)
    tried = progress.tried.setdefault(str(number), [])
    if not graded.right and len(tried) + 1 < step.question.tries:
        tried.append(graded.given)
        progress.save(update_fields=["tried", "updated_at"])
        return graded
    answer = {"given": graded.given, "right": graded.right, "tries": len(tried) + 1}
    progress.answers[str(number)] = answer
    progress.save(update_fields=["answers", "updated_at"])
    _show(progress, step, number)
    return graded


def step_reveal(*, progress: Progress, stored_lesson: StoredLesson, number: int) -> None:
    """Show what a step hides, unanswered. Raises NotYet."""
    step = _step(progress, stored_lesson, number)
    if str(number) not in progress.answers:
        progress.answers[str(number)] = {"given": None, "right": False}
        progress.save(update_fields=["answers", "updated_at"])
    _show(progress, step, number)


def step_leave(*, progress: Progress, stored_lesson: StoredLesson, number: int) -> None:
    """Go on to the next step; what this one hides is shown first. Raises NotYet."""
    step = _step(progress, stored_lesson, number)
    if selectors.hides(step):
        step_reveal(progress=progress, stored_lesson=stored_lesson, number=number)
    if progress.reached <= number:
        progress.reached = number + 1
        progress.save(update_fields=["reached", "updated_at"])


def task_try(*, progress: Progress, stored_lesson: StoredLesson, number: int, text: str) -> Run:
    """Run the lesson's cluster with changes, one per line, for a step's task.

    Raises NotYet, and InvalidInput.
    """
    step = _step(progress, stored_lesson, number)
    if step.task is None or progress.run is None:
        raise NotYet(number)
    name = f"{stored_lesson.lesson.title}: {step.title}"
    run = task_run(of=progress.run, task=step.task, name=name, text=text)
    attempt = {"changes": text, "run": str(run.pk)}
    progress.attempts[str(number)] = attempt
    progress.save(update_fields=["attempts", "updated_at"])
    return run


def task_run(*, of: Run, task: Task, name: str, text: str) -> Run:
    """Run the cluster of a lesson's run with changes that a task allows, one per line.

    Raises InvalidInput.
    """
    return _run_with(task_changes(task=task, text=text), of, name)


def task_changes(*, task: Task, text: str) -> list[Change]:
    """Return the changes that are typed, one per line; a task allows them. Raises InvalidInput."""
    changes = list(changes_typed(text))
    _check_allowed(task, [line_of(change) for change in changes], text)
    return changes


def _run_with(changes: Sequence[Change], of: Run, name: str) -> Run:
    """Run the cluster of a lesson's run with changes. Raises InvalidInput."""
    assert of.snapshot is not None  # lessons are simulated
    run = run_create(
        workspace=of.workspace,
        snapshot=of.snapshot,
        scheduler_config=of.scheduler_config,
        scenario=of.scenario,
        release=of.release,
        changes=changes,
    )
    run.name = name[:200]
    run.save(update_fields=["name"])
    return run


def _check_allowed(task: Task, lines: list[str], typed: str) -> None:
    """Raise InvalidInput for changes that the task does not allow."""
    if not lines:
        raise invalid("changes", [Problem((), say("lesson.type_change", "Type a change."))])
    if len(lines) > task.at_most:
        text = say("lesson.one_change", "One change is allowed here; these are {n}.", n=len(lines))
        if task.at_most > 1:
            text = say(
                "lesson.most_changes",
                "{most} changes are allowed here; these are {n}.",
                most=task.at_most,
                n=len(lines),
            )
        raise invalid("changes", [Problem((), text)])
    numbers = [number for number, _ in lines_of_changes(typed)]
    for number, line in zip(numbers, lines, strict=True):
        if not is_allowed(task, line):
            what = say(
                "lesson.allowed_changes",
                "Only this may be changed here: {what}.",
                what=series(task.of),
            )
            problem = Problem((), what, number)
            raise invalid("changes", [problem])


def _step(progress: Progress, stored_lesson: StoredLesson, number: int) -> Step:
    if not 1 <= number <= min(progress.reached, len(stored_lesson.lesson.steps)):
        raise NotYet(number)
    return stored_lesson.lesson.steps[number - 1]


def _show(progress: Progress, step: Step, number: int) -> None:
    """Reveal what a step hides, and run what its question supposes."""
    _reveal(progress, step)
    supposed = step.question.fact.after if step.question else ()
    if supposed and progress.run is not None and str(number) not in progress.attempts:
        changes = changes_typed("\n".join(supposed))
        run = _run_with(changes, progress.run, f"{progress.run.name}: {step.title}")
        progress.attempts[str(number)] = {"changes": "\n".join(supposed), "run": str(run.pk)}
        progress.save(update_fields=["attempts", "updated_at"])


def _reveal(progress: Progress, step: Step) -> None:
    if step.reveal is not None and progress.run is not None:
        run_reveal(run=progress.run, upto=step.reveal.upto)
