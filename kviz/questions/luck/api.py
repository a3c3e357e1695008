"""REST: which placements of a run hold."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.throttling import Scope
from kviz.common.problems import Problem
from kviz.questions.luck.read import luck_document
from kviz.questions.luck.services import luck_find
from kviz.runs.api.access import SHARE, own_run, readable_run
from kviz.runs.inputs import InvalidInput
from scheduler_core.wording import say


class RunLuck(APIView):
    """Which placements of a run hold whatever coins come up (docs/luck.md)."""

    throttle_scope: Scope = "run"

    @extend_schema(parameters=[SHARE], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, run_id: UUID) -> Response:
        """What was found out; 404 if nobody has asked. The shape is that of `kviz luck --json`."""
        run = readable_run(request, run_id)
        if run.luck is None:
            raise Problem(
                HTTPStatus.NOT_FOUND, say("run.not_asked", "Nobody has asked yet: POST finds out.")
            )
        return Response(luck_document(run))

    @extend_schema(request=None, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Find out, in 100 runs; 400 for a cluster that takes longer than a request waits."""
        run = own_run(request, run_id)
        try:
            luck_find(run=run)
        except InvalidInput as invalid:
            text = say("run.cannot_find_out", "It cannot be found out here.")
            raise Problem(HTTPStatus.BAD_REQUEST, text, invalid.errors) from invalid
        return Response(luck_document(run), status=HTTPStatus.CREATED)
