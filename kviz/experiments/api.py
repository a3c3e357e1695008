"""REST: experiments, their progress and their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import chain
from typing import Any, ClassVar, Final, cast
from uuid import UUID

import msgspec
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from kviz.accounts.authentication import workspace_in
from kviz.accounts.middleware import share_of
from kviz.accounts.throttling import Scope
from kviz.common import csv_file
from kviz.common.paging import MAX_LIMIT, NumberPagination
from kviz.common.problems import Problem
from kviz.common.streaming import attachment
from kviz.experiments import selectors, services
from kviz.experiments.kinds import kinds
from kviz.experiments.models import Experiment, Result
from kviz.experiments.reading.report import columns_of, csv_rows, result_batches
from kviz.runs import inputs
from kviz.runs.api.release_field import RELEASE_TEXT
from kviz.runs.api.serializers import RunInputsSerializer
from kviz.runs.models import Run
from kviz.runs.selectors import run_get
from kviz.runs.services import run_prepare
from kviz.snapshots.selectors import snapshot_get
from scheduler_core.wording import say, told

THROTTLED: Final[dict[str, Scope]] = {"create": "experiment"}


class ExperimentCreateSerializer(RunInputsSerializer):
    """The inputs of a run, and what is asked about it."""

    run = serializers.UUIDField(
        required=False,
        help_text="The run at whose beginning the experiment starts, instead of a snapshot; the "
        "other inputs are the run's.",
    )
    kind = serializers.ChoiceField(choices=[each.name for each in kinds()])
    asked = serializers.DictField(
        required=False, help_text="What the question is about, by kind (docs/experiments.md)."
    )
    name = serializers.CharField(
        required=False, allow_blank=True, max_length=services.MAX_NAME_CHARS
    )


class ExperimentSerializer(serializers.ModelSerializer[Experiment]):
    error = serializers.SerializerMethodField()
    release_text = serializers.CharField(
        help_text="The release that its runs follow, and what it was chosen by."
    )

    def get_error(self, experiment: Experiment) -> str:
        return experiment.error

    class Meta:
        model = Experiment
        fields = [
            "id",
            "name",
            "snapshot",
            "run",
            "kind",
            "asked",
            "status",
            "n_variants",
            "n_done",
            "doing",
            "answer",
            "engine_version",
            "release_text",
            "error",
            "created_at",
            "started_at",
            "finished_at",
        ]


class ResultSerializer(serializers.ModelSerializer[Result]):
    class Meta:
        model = Result
        fields = ["number", "variant", "name", "outcome"]


class ResultPagination(NumberPagination):
    rows = "results"
    said: ClassVar = {"release_text": RELEASE_TEXT}


class CsvRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = "text/csv"
    format = "csv"


class ExperimentViewSet(GenericViewSet[Experiment]):
    queryset = Experiment.objects.none()
    serializer_class = ExperimentSerializer
    lookup_url_kwarg = "experiment_id"
    lookup_value_converter = "uuid"

    @property
    def throttle_scope(self) -> Scope | None:
        return THROTTLED.get(self.action)

    @extend_schema(responses=ExperimentSerializer(many=True))
    def list(self, request: Request) -> Response:
        """The workspace's experiments, newest first."""
        found = selectors.experiments_visible(workspace=workspace_in(request))[:MAX_LIMIT]
        return Response(ExperimentSerializer(found, many=True).data)

    @extend_schema(request=ExperimentCreateSerializer, responses={201: ExperimentSerializer})
    def create(self, request: Request) -> Response:
        """Queue an experiment over a snapshot, or over a run at its beginning.

        413 where it would have too many variants, 429 where too many are waiting or running.
        """
        wanted = ExperimentCreateSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = dict(cast("Mapping[str, Any]", wanted.validated_data))
        kind, asked, name = values.pop("kind"), values.pop("asked", {}), values.pop("name", "")
        try:
            experiment = services.experiment_create(
                workspace=workspace_in(request),
                beginning=_beginning(request, values),
                kind=kind,
                asked=asked,
                name=name,
            )
        except inputs.InvalidInput as invalid:
            detail = say("experiment.cannot_start", "The experiment cannot be started like this.")
            raise Problem(HTTPStatus.BAD_REQUEST, detail, invalid.errors) from invalid
        except services.TooManyVariants as refused:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            raise Problem(status, told(refused), kind="too-large") from refused
        return Response(ExperimentSerializer(experiment).data, status=HTTPStatus.CREATED)

    @extend_schema(responses=ExperimentSerializer)
    def retrieve(self, request: Request, experiment_id: UUID) -> Response:
        """How far an experiment is, and what it came to."""
        return Response(ExperimentSerializer(_own(request, experiment_id)).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, experiment_id: UUID) -> Response:
        """Delete an experiment and its results."""
        services.experiment_delete(experiment=_own(request, experiment_id))
        return Response(status=HTTPStatus.NO_CONTENT)

    @extend_schema(request=None, responses=ExperimentSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, experiment_id: UUID) -> Response:
        """Stop an experiment; its results so far stay."""
        if not services.experiment_cancel(experiment=_own(request, experiment_id)):
            raise Problem(
                HTTPStatus.CONFLICT,
                say("experiment.already_over", "The experiment is over already."),
            )
        return Response(ExperimentSerializer(_own(request, experiment_id)).data)

    @extend_schema(responses=ResultSerializer(many=True))
    @action(detail=True, pagination_class=ResultPagination)
    def results(self, request: Request, experiment_id: UUID) -> Response:
        """Results in the order in which they come; read on after the last number you have."""
        experiment = _own(request, experiment_id)
        results = selectors.results_of(experiment=experiment)
        pages = ResultPagination()
        page = pages.paginate_queryset(results, request)
        response = pages.get_paginated_response(list(ResultSerializer(page, many=True).data))
        response.data["release_text"] = experiment.release_text
        return response

    @extend_schema(responses={(200, CsvRenderer.media_type): OpenApiTypes.STR})
    @action(detail=True, url_path="results.csv", renderer_classes=[CsvRenderer])
    def csv(self, request: Request, experiment_id: UUID) -> HttpResponseBase:
        """All results so far as a table."""
        experiment = _own(request, experiment_id)
        pieces = csv_file.csv_pieces(columns_of(experiment), csv_rows(experiment))
        return attachment(
            pieces, name=f"experiment-{experiment.pk}.csv", media_type=csv_file.MEDIA_TYPE
        )

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    @action(detail=True, url_path="results.json", url_name="json")
    def json(self, request: Request, experiment_id: UUID) -> HttpResponseBase:
        """The experiment and all results so far as one document."""
        experiment = _own(request, experiment_id)
        name = f"experiment-{experiment.pk}.json"
        return attachment(_document(experiment), name=name, media_type="application/json")


def _beginning(request: Request, values: Mapping[str, Any]) -> Run:
    """The run that the variants differ from. Raises InvalidInput and Problem."""
    workspace, share = workspace_in(request), share_of(request._request)
    if "run" in values:
        run = run_get(run_id=values["run"], workspace=workspace, share=share)
        if run is None:
            raise inputs.InvalidInput(
                [{"field": "run", "message": say("list.not_found", "Not found.")}]
            )
        text = say(
            "experiment.inputs_of_run", "An experiment over a run has the inputs of the run."
        )
        if more := [name for name in values if name != "run"]:
            raise inputs.InvalidInput([{"field": name, "message": text} for name in more])
        return run
    if "snapshot" not in values:
        text = say("experiment.run_required", "Required, unless there is a run.")
        raise inputs.InvalidInput([{"field": "snapshot", "message": text}])
    snapshot = snapshot_get(snapshot_id=values["snapshot"], workspace=workspace, share=share)
    if snapshot is None:
        raise inputs.InvalidInput(
            [{"field": "snapshot", "message": say("list.not_found", "Not found.")}]
        )
    changes = inputs.changes_given(values.get("changes", ()))
    given = {**values, "snapshot": snapshot, "changes": changes}
    return run_prepare(workspace=workspace, **given)


def _own(request: Request, experiment_id: UUID) -> Experiment:
    """An experiment of the workspace. Raises Problem."""
    workspace = workspace_in(request)
    found = selectors.experiment_get(experiment_id=experiment_id, workspace=workspace)
    if found is None:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            say("experiment.none", "There is no such experiment in this workspace."),
        )
    return found


def _document(experiment: Experiment) -> Iterator[bytes]:
    head = msgspec.json.encode(dict(ExperimentSerializer(experiment).data), enc_hook=str)
    yield head[:-1] + b',"results":['
    for i, result in enumerate(chain.from_iterable(result_batches(experiment))):
        yield (b"," if i else b"") + msgspec.json.encode(
            dict(ResultSerializer(result).data), enc_hook=str
        )
    yield b"]}"
