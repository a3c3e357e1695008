"""REST: rules checked on the cluster of a run, or on a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.authentication import workspace_in
from kviz.accounts.throttling import Scope
from kviz.common.problems import Problem
from kviz.questions.rules.read import verdicts_of
from kviz.questions.rules.text import rules_json
from kviz.runs.api.access import SHARE, readable_run, readable_snapshot
from kviz.runs.api.serializers import RunInputsSerializer
from kviz.runs.inputs import InvalidInput, changes_given
from kviz.runs.models import Run
from kviz.runs.selectors import sentence_of
from kviz.runs.services import run_prepare
from scheduler_core.config import JsonValue
from scheduler_core.wording import say


class RulesSerializer(serializers.Serializer[object]):
    rules = serializers.JSONField(help_text="A list of rules, or YAML text (docs/rules.md).")


class SnapshotCheckSerializer(RulesSerializer, RunInputsSerializer):
    """Rules, and the inputs of a run by which they are checked."""

    snapshot = None  # type: ignore[assignment]  # the address names it


class RunRules(APIView):
    """Rules checked on the cluster of a run."""

    throttle_scope: Scope = "run"

    @extend_schema(
        parameters=[SHARE], request=RulesSerializer, responses={200: OpenApiTypes.OBJECT}
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Check rules, and say what each verdict rests on: the shape of `kviz check --json`."""
        run = readable_run(request, run_id)
        wanted = RulesSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        rules: Any = wanted.validated_data["rules"]
        try:
            return Response(_checked(run, rules))
        except InvalidInput as invalid:
            text = say("rules.cannot_check", "These rules cannot be checked.")
            raise Problem(HTTPStatus.BAD_REQUEST, text, invalid.errors) from invalid


class SnapshotCheck(APIView):
    """Rules checked on a cluster, without a run of it."""

    throttle_scope: Scope = "run"

    @extend_schema(
        operation_id="snapshots_rules_check",
        parameters=[SHARE],
        request=SnapshotCheckSerializer,
        responses={200: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request, snapshot_id: UUID) -> Response:
        """Check rules by the inputs of a run: the shape of `kviz check --json`."""
        snapshot = readable_snapshot(request, snapshot_id)
        wanted = SnapshotCheckSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = dict(cast("Mapping[str, Any]", wanted.validated_data))
        rules = values.pop("rules")
        try:
            changes = changes_given(values.get("changes", ()))
            given = {**values, "snapshot": snapshot, "changes": changes}
            run = run_prepare(workspace=workspace_in(request), **given)
            return Response(_checked(run, rules))
        except InvalidInput as invalid:
            text = say("rules.cannot_check", "These rules cannot be checked.")
            raise Problem(HTTPStatus.BAD_REQUEST, text, invalid.errors) from invalid


def _checked(run: Run, rules: JsonValue) -> dict[str, object]:
    """What `kviz check --json` prints. Raises InvalidInput."""
    changes = list(map(sentence_of, run.changes))
    return rules_json(verdicts_of(run=run, rules=rules)) | {
        "changes": changes,
        "release_text": run.release_text,
    }
