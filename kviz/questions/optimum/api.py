"""REST: the best placement of a run's pods, and how far the run is from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast, get_args
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.throttling import Scope
from kviz.common.problems import Problem
from kviz.questions.optimum import services
from kviz.runs.api.access import SHARE, own_run, readable_run
from kviz.runs.models import Optimum
from scheduler_core.analysis.model import Viability
from scheduler_core.wording import say

MODE = OpenApiParameter("mode", str, enum=get_args(Viability), default="classic")
AT_CYCLE = OpenApiParameter(
    "at_cycle", int, default=1, description="Of what there is when this cycle begins."
)


class OptimumAskSerializer(serializers.Serializer[object]):
    mode = serializers.ChoiceField(choices=get_args(Viability), default="classic")
    at_cycle = serializers.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        default=1,
        help_text="The cluster as it is when this cycle begins, and the pods that wait then.",
    )
    time_limit_s = serializers.FloatField(
        min_value=1.0,
        max_value=services.MAX_OPTIMUM_LIMIT_S,
        default=services.OPTIMUM_LIMIT_S,
        help_text="How long to search; as long again to find the cycle that lost the optimum.",
    )


class StepOfSearchSerializer(serializers.Serializer[object]):
    objective = serializers.CharField()
    incumbent = serializers.IntegerField(allow_null=True)
    bound = serializers.IntegerField(allow_null=True)
    elapsed_s = serializers.FloatField()


class OptimumSerializer(serializers.ModelSerializer[Optimum]):
    progress = StepOfSearchSerializer(many=True)
    answer = serializers.JSONField(
        allow_null=True, help_text="As `kviz optimum --json` prints it, and more (docs/optimum.md)."
    )
    error = serializers.SerializerMethodField()
    release_text = serializers.CharField(
        source="run.release_text",
        help_text="The release that the run follows, and what it was chosen by.",
    )

    def get_error(self, found: Optimum) -> str:
        return found.error

    class Meta:
        model = Optimum
        fields = (
            "mode",
            "at_cycle",
            "status",
            "time_limit_s",
            "asked_at",
            "progress",
            "answer",
            "error",
            "release_text",
        )


class RunOptimum(APIView):
    """The optimum of a run, in one mode."""

    @property
    def throttle_scope(self) -> Scope | None:
        return "run"

    @extend_schema(parameters=[SHARE, MODE, AT_CYCLE], responses=OptimumSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """How far the search is, and what it found; 404 if it was not asked for in this mode."""
        run = readable_run(request, run_id)
        mode = request.query_params.get("mode", "classic")
        found = run.optima.filter(mode=mode, at_cycle=_cycle(request)).first()
        if found is None:
            text = say(
                "optimum.not_asked",
                "The optimum of this run was not asked for in mode {mode}.",
                mode=mode,
            )
            raise Problem(HTTPStatus.NOT_FOUND, text)
        return Response(OptimumSerializer(found).data)

    @extend_schema(request=OptimumAskSerializer, responses={202: OptimumSerializer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Queue the search; a second request searches again. 409 while the run is not over."""
        run = own_run(request, run_id)
        wanted = OptimumAskSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        found = services.optimum_ask(run=run, **cast("Mapping[str, Any]", wanted.validated_data))
        if found is None:
            text = say(
                "optimum.not_over",
                "Only a simulated run that is over has an optimum to search for.",
            )
            raise Problem(HTTPStatus.CONFLICT, text)
        return Response(OptimumSerializer(found).data, status=HTTPStatus.ACCEPTED)

    @extend_schema(parameters=[MODE, AT_CYCLE], responses={204: None})
    def delete(self, request: Request, run_id: UUID) -> Response:
        """End a search that waits or is under way; 409 if there is none."""
        run = own_run(request, run_id)
        mode = cast("Viability", request.query_params.get("mode", "classic"))
        if not services.optimum_cancel(run=run, mode=mode, at_cycle=_cycle(request)):
            raise Problem(
                HTTPStatus.CONFLICT,
                say("optimum.no_search", "No search is under way in this mode."),
            )
        return Response(status=HTTPStatus.NO_CONTENT)


def _cycle(request: Request) -> int:
    text = request.query_params.get("at_cycle", "1")
    return int(text) if re.fullmatch(r"[1-9]\d{0,8}", text) else 0
