"""REST: lessons, and the steps of those that the workspace has begun (docs/lessons.md)."""

from __future__ import annotations

from http import HTTPStatus

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.authentication import workspace_in
from kviz.accounts.throttling import Scope
from kviz.common.problems import Problem
from kviz.lessons import selectors, services
from kviz.lessons.access import begun, lesson_named
from kviz.lessons.documents import StepDocument, step_document
from kviz.lessons.grading import NotAnAnswer
from kviz.lessons.library import StoredLesson
from kviz.lessons.models import Progress
from kviz.lessons.selectors import Entry
from kviz.lessons.services import NotYet
from kviz.runs.inputs import InvalidInput, at_lines
from scheduler_core.wording import say, told


class AnswerSerializer(serializers.Serializer[object]):
    answer = serializers.JSONField(help_text="A text, a number, or a list in order.")


class TrySerializer(serializers.Serializer[object]):
    changes = serializers.CharField(help_text="Changes, one per line (docs/changes.md).")


class LessonList(APIView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """All lessons in order, and how far the workspace is in each."""
        found = selectors.entries(workspace=workspace_in(request))
        return Response({"lessons": [_entry(each) for each in found]})


class LessonBegin(APIView):
    throttle_scope: Scope = "run"

    @extend_schema(request=None, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str) -> Response:
        """Begin a lesson from its first step, which is the answer; an earlier way is forgotten."""
        stored_lesson = lesson_named(slug)
        if stored_lesson is None:
            raise _no_lesson(slug)
        progress = services.lesson_begin(
            workspace=workspace_in(request), stored_lesson=stored_lesson
        )
        document = step_document(progress=progress, stored_lesson=stored_lesson, number=1)
        return Response(document, status=HTTPStatus.CREATED)


class _OfStep(APIView):
    """What asks for a step, which may not have been reached."""

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, NotYet):
            exc = Problem(HTTPStatus.CONFLICT, str(exc), kind="veiled")
        return super().handle_exception(exc)


class LessonStep(_OfStep):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A step that was reached; what it hides is in it once it is answered or revealed."""
        stored_lesson, progress = _begun(request, slug)
        if not 1 <= number <= min(progress.reached, len(stored_lesson.lesson.steps)):
            raise NotYet(number)
        return _step(progress, stored_lesson, number)


class LessonAnswer(_OfStep):
    @extend_schema(request=AnswerSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Answer a step's question; only the first answer counts. The step, with what is right."""
        stored_lesson, progress = _begun(request, slug)
        asked = AnswerSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        given = asked.validated_data["answer"]
        try:
            services.question_answer(
                progress=progress, stored_lesson=stored_lesson, number=number, given=given
            )
        except NotAnAnswer as error:
            errors = [{"field": "answer", "message": told(error)}]
            raise Problem(HTTPStatus.BAD_REQUEST, told(error), errors) from error
        return _step(progress, stored_lesson, number)


class LessonReveal(_OfStep):
    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Show what a step hides, unanswered."""
        stored_lesson, progress = _begun(request, slug)
        services.step_reveal(progress=progress, stored_lesson=stored_lesson, number=number)
        return _step(progress, stored_lesson, number)


class LessonNext(_OfStep):
    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Leave a step; the next one, or the last if there is none. What it hides is shown."""
        stored_lesson, progress = _begun(request, slug)
        services.step_leave(progress=progress, stored_lesson=stored_lesson, number=number)
        return _step(progress, stored_lesson, min(number + 1, len(stored_lesson.lesson.steps)))


class LessonTry(_OfStep):
    throttle_scope: Scope = "run"

    @extend_schema(request=TrySerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Try changes for a step's task: a run is queued, whose end the step then tells."""
        stored_lesson, progress = _begun(request, slug)
        asked = TrySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        text = asked.validated_data["changes"]
        try:
            services.task_try(
                progress=progress, stored_lesson=stored_lesson, number=number, text=text
            )
        except InvalidInput as invalid:
            errors = at_lines(invalid.errors, text)
            raise Problem(
                HTTPStatus.BAD_REQUEST, say("lesson.cannot_try", "This cannot be tried."), errors
            ) from invalid
        return _step(progress, stored_lesson, number)


def _entry(entry: Entry) -> dict[str, object]:
    lesson = entry.stored_lesson.lesson
    counts = {"step": entry.step, "n_steps": entry.n_steps, "right": entry.right}
    named = {"lesson": entry.stored_lesson.slug, "title": lesson.title, "about": lesson.about}
    return {**named, "minutes": lesson.minutes, **counts, "asked": entry.asked, "done": entry.done}


def _step(progress: Progress, stored_lesson: StoredLesson, number: int) -> Response:
    document: StepDocument = step_document(
        progress=progress, stored_lesson=stored_lesson, number=number
    )
    return Response(document)


def _begun(request: Request, slug: str) -> tuple[StoredLesson, Progress]:
    found = begun(workspace_in(request), slug)
    if found is None:
        raise _no_lesson(slug)
    return found


def _no_lesson(slug: str) -> Problem:
    return Problem(
        HTTPStatus.NOT_FOUND,
        say("lesson.none", 'There is no lesson "{slug}" here, or it has not begun.', slug=slug),
    )
