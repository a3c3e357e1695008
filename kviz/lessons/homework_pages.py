"""Pages of homework: a teacher gives it, students take it by its link and hand it in."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.csv_file import MEDIA_TYPE, csv_pieces
from kviz.lessons import homework
from kviz.lessons.access import begun, lesson_named
from kviz.lessons.library import StoredLesson
from kviz.lessons.models import Homework


@require_POST
def homework_give(request: HttpRequest, slug: str) -> HttpResponse:
    """Give a lesson; the page with its link follows."""
    stored_lesson = lesson_named(slug)
    if stored_lesson is None:
        raise Http404(slug)
    given = homework.homework_give(workspace=workspace_of(request), stored_lesson=stored_lesson)
    return redirect("homework", given.pk)


@require_GET
def homework_detail(request: HttpRequest, homework_id: UUID) -> HttpResponseBase:
    """The link, and what came back; with `csv` as a file."""
    given, stored_lesson = _given(request, homework_id)
    rows = homework.returned(given, stored_lesson)
    if "csv" in request.GET:
        pieces = csv_pieces(homework.TABLE, [homework.table_rows(rows)])
        answer = StreamingHttpResponse(pieces, content_type=MEDIA_TYPE)
        answer["Content-Disposition"] = 'attachment; filename="homework.csv"'
        return answer
    asked = homework.asked_in(stored_lesson, rows)
    context = {
        "section": "teach",
        "homework": given,
        "lesson": stored_lesson.lesson,
        "link": request.build_absolute_uri(reverse("homework-door", args=[given.code])),
        "asked": asked,
        "rows": [(row, [row.answers.get(each.number) for each in asked]) for row in rows],
        "n_handed": sum(row.entry.handed_at is not None for row in rows),
    }
    return render(request, "lessons/homework.html", context)


@require_POST
def homework_delete(request: HttpRequest, homework_id: UUID) -> HttpResponse:
    """Delete homework, with all names and answers."""
    given, stored_lesson = _given(request, homework_id)
    given.delete()
    return redirect("lesson-detail", stored_lesson.slug)


def _given(request: HttpRequest, homework_id: UUID) -> tuple[Homework, StoredLesson]:
    """Raise Http404 for homework of another workspace."""
    own = Homework.objects.filter(pk=homework_id, workspace=workspace_of(request)).first()
    found = homework.homework_named(own.code) if own else None
    if found is None:
        raise Http404(homework_id)
    return found


@require_GET
def homework_door(request: HttpRequest, code: str) -> HttpResponse:
    """Where a link leads: one field, and then the lesson."""
    _, stored_lesson = _behind(code)
    context = {"lesson": stored_lesson.lesson, "code": code, "days": homework.DAYS}
    return render(request, "lessons/homework_door.html", context)


@require_POST
def homework_begin(request: HttpRequest, code: str) -> HttpResponse:
    given, stored_lesson = _behind(code)
    name = request.POST.get("name", "")
    if not name.strip() or too_often(request, "run"):
        return redirect("homework-door", code)
    try:
        homework.homework_begin(
            homework=given,
            stored_lesson=stored_lesson,
            workspace=workspace_of(request),
            name=name,
        )
    except homework.Full:
        raise Http404(code) from None
    return redirect("lesson-step", stored_lesson.slug, 1)


@require_POST
def homework_hand_in(request: HttpRequest, slug: str) -> HttpResponse:
    """Hand a lesson in to all who gave it."""
    found = begun(workspace_of(request), slug)
    if found is None:
        raise Http404(slug)
    stored_lesson, progress = found
    for entry in homework.open_for(progress.workspace, stored_lesson):
        homework.hand_in(entry=entry, progress=progress)
    return redirect("lesson-done", slug)


def _behind(code: str) -> tuple[Homework, StoredLesson]:
    found = homework.homework_named(code)
    if found is None:
        raise Http404(code)
    return found
