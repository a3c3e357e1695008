"""REST: why a pod is pending."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.common.problems import Problem
from kviz.questions.why.read import pod_markdown
from kviz.runs.api.access import SHARE, readable_run
from kviz.runs.api.cycles import hidden, refusal
from kviz.runs.inputs import InvalidInput
from kviz.runs.reading import trace
from kviz.runs.reading.held_cycles import CannotReenact
from scheduler_core.wording import say

CYCLE = OpenApiParameter("cycle", int, description="One of the pod's cycles; else its last one.")


class MarkdownRenderer(BaseRenderer):
    """Names the media type; the view answers with ready text."""

    media_type = "text/markdown"
    format = "markdown"


class PodMarkdown(APIView):
    renderer_classes = (MarkdownRenderer,)

    @extend_schema(
        parameters=[SHARE, CYCLE],
        responses={(200, MarkdownRenderer.media_type): OpenApiTypes.STR},
    )
    def get(self, request: Request, run_id: UUID, namespace: str, name: str) -> HttpResponse:
        """Why a pod is pending, as `kviz explain --format markdown` prints it.

        The run is simulated again, as for a cycle's `also/`.
        """
        run, asked = readable_run(request, run_id), request.query_params.get("cycle", "")
        if asked and not (asked.isascii() and asked.isdigit() and len(asked) < 10):
            raise Problem(
                HTTPStatus.BAD_REQUEST,
                say(
                    "cycle.not_a_number",
                    "cycle: {asked} is not the number of a cycle.",
                    asked=asked,
                ),
            )
        try:
            text = pod_markdown(run=run, namespace=namespace, name=name, cycle=int(asked or 0))
        except CannotReenact as refused:
            raise refusal(refused) from refused
        except InvalidInput as invalid:
            why = str(invalid.errors[0]["message"])
            raise Problem(HTTPStatus.CONFLICT, why, kind="cannot-reenact") from invalid
        if text is None:
            unknown = say("run.no_pod", "This run knows no pod {pod}.", pod=f"{namespace}/{name}")
            if asked:
                unknown = say(
                    "run.no_pod_in_cycle",
                    "This run knows no pod {pod} in cycle {cycle}.",
                    pod=f"{namespace}/{name}",
                    cycle=asked,
                )
            raise Problem(HTTPStatus.NOT_FOUND, unknown)
        return HttpResponse(text, content_type="text/markdown; charset=utf-8")


class PodWhy(APIView):
    @extend_schema(parameters=[SHARE], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, run_id: UUID, namespace: str, name: str) -> Response:
        """Why a pod is pending, or where it went."""
        run = readable_run(request, run_id)
        document = trace.pod_why(run=run, namespace=namespace, name=name)
        if document is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                say("run.no_pod", "This run knows no pod {pod}.", pod=f"{namespace}/{name}"),
            )
        if run.is_hidden and document["cycle"] is None:
            raise hidden(
                say("run.pod_hidden", "What becomes of this pod is hidden until it is revealed.")
            )
        return Response(document)
