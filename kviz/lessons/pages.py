"""Pages of lessons: the list, one lesson, its steps; they work without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.problems import ErrorItem
from kviz.lessons import course, selectors, services
from kviz.lessons.access import begun, lesson_named
from kviz.lessons.documents import (
    AnsweredDocument,
    StepDocument,
    answered_document,
    moment_document,
    step_document,
)
from kviz.lessons.grading import NotAnAnswer, grade
from kviz.lessons.handles import handle_documents, lines_moved, moved_by
from kviz.lessons.lesson import Lesson, Moment, Task
from kviz.lessons.library import StoredLesson
from kviz.lessons.models import Progress
from kviz.lessons.picture import Picture, View, picture_of
from kviz.lessons.services import NotYet
from kviz.runs.inputs import InvalidInput, at_lines
from kviz.runs.models import Run
from kviz.runs.pages.access import run_context
from kviz.runs.reading import trace
from kviz.runs.reading.preemption_table import preemption_table
from kviz.runs.reading.score_table import score_table
from kviz.snapshots.selectors import cluster_of, samples
from scheduler_core.wording import told

ROWS_SHOWN = 50
AT_WORK = (Run.Status.QUEUED, Run.Status.RUNNING)


@require_GET
def lesson_list(request: HttpRequest) -> HttpResponse:
    entries = selectors.entries(workspace=workspace_of(request))
    broken = selectors.lessons().broken
    context = {
        "section": "learn",
        "entries": entries,
        "chapters": list(course.by_chapter(entries, lambda entry: entry.stored_lesson.slug)),
        "n_done": sum(entry.done for entry in entries),
        "broken": [(path.name, problem) for path, problems in broken for problem in problems],
    }
    return render(request, "lessons/list.html", context)


@require_GET
def lesson_detail(request: HttpRequest, slug: str) -> HttpResponse:
    stored_lesson = lesson_named(slug)
    if stored_lesson is None:
        raise Http404(slug)
    progress = selectors.progress_get(workspace=workspace_of(request), stored_lesson=stored_lesson)
    n_steps = len(stored_lesson.lesson.steps)
    context = {
        "section": "learn",
        "stored_lesson": stored_lesson,
        "lesson": stored_lesson.lesson,
        "step": min(progress.reached, n_steps) if progress else 0,
        "done": progress is not None and progress.reached > n_steps,
        "before": [known for each in course.BEFORE.get(slug, ()) if (known := lesson_named(each))],
        "samples": [sample for sample in samples() if sample.name in stored_lesson.lesson.samples],
    }
    return render(request, "lessons/detail.html", context)


@require_POST
def lesson_begin(request: HttpRequest, slug: str) -> HttpResponse:
    stored_lesson = lesson_named(slug)
    if stored_lesson is None:
        raise Http404(slug)
    if too_often(request, "run"):
        return redirect("lesson-detail", slug)
    services.lesson_begin(workspace=workspace_of(request), stored_lesson=stored_lesson)
    return redirect("lesson-step", slug, 1)


@require_GET
def lesson_step(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    found = begun(workspace_of(request), slug)
    if found is None:
        return redirect("lesson-detail", slug)
    stored_lesson, progress = found
    last = min(progress.reached, len(stored_lesson.lesson.steps))
    if not 1 <= number <= last:
        return redirect("lesson-step", slug, last)
    return _step_page(request, stored_lesson, progress, number)


@require_POST
def lesson_answer(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    stored_lesson, progress = _begun(request, slug)
    try:
        if "again" in request.POST and selectors.is_shown(progress, number):
            return _answered_again(request, stored_lesson, progress, number)
        services.question_answer(
            progress=progress, stored_lesson=stored_lesson, number=number, given=_given(request)
        )
    except NotYet:
        raise Http404(slug) from None
    except NotAnAnswer as error:
        errors: list[ErrorItem] = [{"field": "answer", "message": told(error)}]
        return _step_page(request, stored_lesson, progress, number, errors)
    return redirect("lesson-step", slug, number)


def _answered_again(
    request: HttpRequest, stored_lesson: StoredLesson, progress: Progress, number: int
) -> HttpResponse:
    """Say whether a further answer is right; the first one stays. Raises NotAnAnswer."""
    question = stored_lesson.lesson.steps[number - 1].question
    if question is None:
        raise Http404(number)
    graded = grade(question, _given(request))
    answered = answered_document(question, graded.given, right=graded.right)
    return _step_page(request, stored_lesson, progress, number, answered=answered)


def _given(request: HttpRequest) -> object:
    """What a form answers: one value, or the places that were given to items."""
    items = request.POST.getlist("item")
    if not items:
        return request.POST.get("answer", "")
    places = request.POST.getlist("place")
    ranked = dict(zip(places, items, strict=False))
    return [ranked[place] for place in sorted(ranked)] if len(ranked) == len(items) else []


@require_POST
def lesson_reveal(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    stored_lesson, progress = _begun(request, slug)
    try:
        services.step_reveal(progress=progress, stored_lesson=stored_lesson, number=number)
    except NotYet:
        raise Http404(slug) from None
    return redirect("lesson-step", slug, number)


@require_POST
def lesson_next(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    stored_lesson, progress = _begun(request, slug)
    try:
        services.step_leave(progress=progress, stored_lesson=stored_lesson, number=number)
    except NotYet:
        raise Http404(slug) from None
    if number >= len(stored_lesson.lesson.steps):
        return redirect("lesson-done", slug)
    return redirect("lesson-step", slug, number + 1)


@require_POST
def lesson_try(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    stored_lesson, progress = _begun(request, slug)
    text = _changes(request, stored_lesson.lesson.steps[number - 1].task, progress)
    errors: Sequence[ErrorItem] = ()
    if refused := too_often(request, "run"):
        errors = [refused]
    else:
        try:
            services.task_try(
                progress=progress, stored_lesson=stored_lesson, number=number, text=text
            )
        except NotYet:
            raise Http404(slug) from None
        except InvalidInput as invalid:
            errors = at_lines(invalid.errors, text)
    if errors:
        return _step_page(request, stored_lesson, progress, number, errors, text)
    return redirect("lesson-step", slug, number)


def _changes(request: HttpRequest, task: Task | None, progress: Progress) -> str:
    """The changes of a form: those of its handles, and the lines that were typed."""
    typed = request.POST.get("changes", "").strip()
    if task is None or progress.run is None or "handles" not in request.POST:
        return typed
    given = {name: str(value) for name, value in request.POST.items()}
    return "\n".join(filter(None, (*lines_moved(progress.run, task, given), typed)))


def _begun(request: HttpRequest, slug: str) -> tuple[StoredLesson, Progress]:
    """Raise Http404 unless the workspace has begun the lesson."""
    found = begun(workspace_of(request), slug)
    if found is None:
        raise Http404(slug)
    return found


def _step_page(
    request: HttpRequest,
    stored_lesson: StoredLesson,
    progress: Progress,
    number: int,
    errors: Sequence[ErrorItem] = (),
    typed: str = "",
    answered: AnsweredDocument | None = None,
) -> HttpResponse:
    if number > min(progress.reached, len(stored_lesson.lesson.steps)):
        raise Http404(number)
    step = step_document(progress=progress, stored_lesson=stored_lesson, number=number)
    again = "again" in request.GET or "again" in request.POST
    if again and step["question"]:
        step["question"]["answered"] = answered
    is_shown = step["shown"] and not (again and answered is None)
    if not is_shown:
        step["at"] = moment_document(stored_lesson.lesson.steps[number - 1].at)
        step["explains"] = ""
    run = progress.run
    assert run is not None
    run.refresh_from_db()
    picture = _picture(run, stored_lesson.lesson, number, is_shown=is_shown)
    context = {
        **run_context(request, run),
        "section": "learn",
        "step": step,
        "steps": range(1, step["n_steps"] + 1),
        "waits": _waits(step, run) or (picture is None and run.status in AT_WORK),
        "errors": errors,
        "again": again,
        **_moved(run, stored_lesson.lesson.steps[number - 1].task, typed or _tried(step)),
        **_tables(run, step),
        "picture": picture,
    }
    status = HTTPStatus.BAD_REQUEST if errors else HTTPStatus.OK
    return render(request, "lessons/step.html", context, status=status)


def _moved(run: Run, task: Task | None, changes: str) -> dict[str, object]:
    """Where changes put the handles of a task, and the lines that say something else."""
    if task is None:
        return {}
    moved, typed = moved_by(run, task, changes)
    handles = [
        {**each, "value": moved.get(each["id"], each["now"])}
        for each in handle_documents(run, task)
    ]
    return {"handles": handles, "typed": typed}


def _tried(step: StepDocument) -> str:
    """The changes of the latest attempt, to go on from."""
    attempt = step["task"]["attempt"] if step["task"] else None
    return attempt["changes"] if attempt else ""


def _waits(step: StepDocument, run: Run) -> bool:
    """Whether a worker is still at what the step shows, or tries."""
    at = step["at"]
    wanted = at is not None and at["cycle"] > run.cycles and run.status in AT_WORK
    answered = step["question"]["answered"] if step["question"] else None
    other = answered["other"] if answered else None
    attempt = step["task"]["attempt"] if step["task"] else None
    return wanted or any(each["status"] in Run.LIVE for each in (attempt, other) if each)


def _picture(run: Run, lesson: Lesson, number: int, *, is_shown: bool) -> Picture | None:
    """What a class is shown at this step, once it is stored."""
    step, topic = lesson.steps[number - 1], lesson.topic(number)
    at = step.moment(is_shown=is_shown) or Moment()
    is_open = step.question is not None and not is_shown
    return picture_of(run, View(at.cycle, at.point, at.pod, topic, is_open=is_open))


def _tables(run: Run, step: StepDocument) -> dict[str, object]:
    """The cluster before the first cycle, or the cycle that the step opens, as tables."""
    at = step["at"]
    cycle = trace.cycle_or_part(run=run, cycle=at["cycle"]) if at and at["cycle"] else None
    assert run.snapshot is not None
    return {
        "cluster": cluster_of(run.snapshot),
        "cycle": cycle,
        "rejected": list(cycle["filter"].items())[:ROWS_SHOWN] if cycle else [],
        "scores": score_table(cycle, ROWS_SHOWN) if cycle else None,
        "candidates": preemption_table(cycle) if cycle else None,
    }
