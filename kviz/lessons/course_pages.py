"""Pages around a lesson: its end, what a learner has done, and a handout to print."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from kviz.accounts.middleware import workspace_of
from kviz.common.csv_file import MEDIA_TYPE, csv_pieces
from kviz.lessons import course, homework, record, selectors
from kviz.lessons.access import begun, lesson_named
from kviz.lessons.enacting import cluster_text
from kviz.lessons.marking_up import html_of


@require_GET
def lesson_done(request: HttpRequest, slug: str) -> HttpResponse:
    """The end of a lesson: what was right, what was missed, and the next one."""
    found = begun(workspace_of(request), slug)
    if found is None:
        return redirect("lesson-detail", slug)
    stored_lesson, progress = found
    answers = list(record.answered(stored_lesson, progress.answers))
    following = course.after(slug)
    context = {
        "section": "learn",
        "stored_lesson": stored_lesson,
        "lesson": stored_lesson.lesson,
        "summary": html_of(stored_lesson.lesson.summary),
        "answers": answers,
        "n_right": sum(each.right for each in answers),
        "missed": [each for each in answers if not each.right],
        "homework": homework.open_for(progress.workspace, stored_lesson),
        "next": selectors.lessons().get(following) if following else None,
    }
    return render(request, "lessons/done.html", context)


@require_GET
def learning_record(request: HttpRequest) -> HttpResponse:
    """What was answered in all lessons, as a page or, with `csv`, as a file."""
    rows = record.record(workspace_of(request))
    if "csv" in request.GET:
        headers = {"Content-Disposition": 'attachment; filename="lessons.csv"'}
        pieces = csv_pieces(record.COLUMNS, [map(record.row_of, rows)])
        return HttpResponse(b"".join(pieces), MEDIA_TYPE, headers=headers)
    context = {"section": "learn", "rows": rows, "n_right": sum(row.right for row in rows)}
    return render(request, "lessons/record.html", context)


@require_GET
def lesson_handout(request: HttpRequest, slug: str) -> HttpResponse:
    """A lesson on paper: texts and questions, without what is right."""
    stored_lesson = lesson_named(slug)
    if stored_lesson is None:
        raise Http404(slug)
    lesson = stored_lesson.lesson
    steps = [
        {"step": each, "text": html_of(each.text), "task": each.task and html_of(each.task.text)}
        for each in lesson.steps
    ]
    objects = "" if lesson.cluster.sample else cluster_text(lesson).decode()
    context = {"section": "learn", "lesson": lesson, "steps": steps, "objects": objects}
    return render(request, "lessons/handout.html", context)
