"""REST: runs."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, cast
from uuid import UUID

from django.http.response import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from kviz import run_file
from kviz.accounts.authentication import workspace_in
from kviz.accounts.middleware import share_of
from kviz.accounts.throttling import Scope
from kviz.common.paging import MAX_LIMIT
from kviz.common.problems import ErrorItem, Problem
from kviz.common.streaming import attachment
from kviz.runs import inputs, selectors, services
from kviz.runs.api.access import SHARE, own_run, readable_run
from kviz.runs.api.serializers import (
    RunCreatedSerializer,
    RunCreateSerializer,
    RunFileSerializer,
    RunSerializer,
)
from kviz.runs.models import Run
from kviz.runs.portable import offline, saved
from kviz.runs.reading.scheduler_metrics import scheduler_metrics
from kviz.snapshots.api import RawBody, files_in, stream_of
from kviz.snapshots.selectors import snapshot_get
from scheduler_core.wording import say, told

THROTTLED: Final[dict[str, Scope]] = {"create": "run", "open": "upload"}
"""Actions that a workspace may call only so often, and what they count as."""
OF_A_VARIANT: Final = ("parent", "snapshot", "changes", "cycle")
"""What may be said of a variant; all else is its parent's."""


class RunFileRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = run_file.MEDIA_TYPE
    format = "kviz"


class PageRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = "text/html"
    format = "html"


class MetricsRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = "text/plain"
    format = "prometheus"


def _created(request: Request, values: Mapping[str, Any]) -> Run:
    """A run of a snapshot. Raises InvalidInput and Problem."""
    if "cycle" in values:
        raise inputs.InvalidInput(
            [
                _error(
                    "cycle",
                    say("run.cycle_without_parent", "Only a variant of a run begins at a cycle."),
                )
            ]
        )
    if "snapshot" not in values:
        raise inputs.InvalidInput(
            [
                _error(
                    "snapshot", say("run.snapshot_required", "Required, unless there is a parent.")
                )
            ]
        )
    workspace, share = workspace_in(request), share_of(request._request)
    snapshot = snapshot_get(snapshot_id=values["snapshot"], workspace=workspace, share=share)
    if snapshot is None:
        raise Problem(
            HTTPStatus.BAD_REQUEST,
            say("snapshot.none", "There is no such snapshot in this workspace."),
            [_error("snapshot", say("list.not_found", "Not found."))],
        )
    changes = inputs.changes_given(values.get("changes", ()))
    given = {**values, "snapshot": snapshot, "changes": changes}
    return services.run_create(workspace=workspace, **given)


def _varied(request: Request, values: Mapping[str, Any]) -> Run:
    """A variant of a run. Raises InvalidInput and Problem."""
    workspace, share = workspace_in(request), share_of(request._request)
    parent = selectors.run_get(run_id=values["parent"], workspace=workspace, share=share)
    if parent is None:
        raise Problem(
            HTTPStatus.BAD_REQUEST,
            say("run.none", "There is no such run in this workspace."),
            [_error("parent", say("list.not_found", "Not found."))],
        )
    text = say(
        "run.inputs_of_parent",
        "A variant has the inputs of its parent. Say what is different as changes.",
    )
    errors = [_error(name, text) for name in values if name not in OF_A_VARIANT]
    if values.get("snapshot", parent.snapshot_id) != parent.snapshot_id:
        errors.append(
            _error(
                "snapshot", say("run.snapshot_of_parent", "A variant is of its parent's snapshot.")
            )
        )
    if errors:
        raise inputs.InvalidInput(errors)
    changes = inputs.changes_given(values.get("changes", ()))
    cycle = values.get("cycle", 0)
    return services.run_vary(workspace=workspace, parent=parent, changes=changes, cycle=cycle)


def _error(field: str, message: str) -> ErrorItem:
    return {"field": field, "message": message}


class RunViewSet(GenericViewSet[Run]):
    queryset = Run.objects.none()
    serializer_class = RunSerializer
    lookup_url_kwarg = "run_id"
    lookup_value_converter = "uuid"

    @property
    def throttle_scope(self) -> Scope | None:
        return THROTTLED.get(self.action)

    @extend_schema(responses=RunSerializer(many=True))
    def list(self, request: Request) -> Response:
        """The workspace's runs, newest first."""
        runs = selectors.runs_visible(workspace=workspace_in(request))[:MAX_LIMIT]
        return Response(RunSerializer(runs, many=True).data)

    @extend_schema(request=RunCreateSerializer, responses={201: RunCreatedSerializer})
    def create(self, request: Request) -> Response:
        """Queue a run of the scheduler over a snapshot."""
        wanted = RunCreateSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = cast("Mapping[str, Any]", wanted.validated_data)
        try:
            run = _varied(request, values) if "parent" in values else _created(request, values)
            warnings = [
                *inputs.extender_warnings(run.scheduler_config, inputs.gates_of_stored(run)),
                *inputs.sample_warnings(run.snapshot, values),
            ]
        except inputs.InvalidInput as invalid:
            raise Problem(
                HTTPStatus.BAD_REQUEST,
                say("run.cannot_start", "The run cannot be started like this."),
                invalid.errors,
            ) from invalid
        created = RunSerializer(run).data | {"warnings": warnings}
        return Response(created, status=HTTPStatus.CREATED)

    @extend_schema(parameters=[SHARE], responses=RunSerializer)
    def retrieve(self, request: Request, run_id: UUID) -> Response:
        """State and figures of a run."""
        return Response(RunSerializer(readable_run(request, run_id)).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, run_id: UUID) -> Response:
        """Delete a run and its trace."""
        services.run_delete(run=own_run(request, run_id))
        return Response(status=HTTPStatus.NO_CONTENT)

    # ------------------------------------------------------------ control

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, run_id: UUID) -> Response:
        """Hold a run that waits or runs; what was recorded so far can be read meanwhile."""
        run = own_run(request, run_id)
        if not services.run_pause(run=run):
            raise Problem(
                HTTPStatus.CONFLICT,
                say(
                    "run.cannot_pause",
                    "The run is {status}, so it cannot be paused.",
                    status=run.status,
                ),
            )
        return Response(RunSerializer(own_run(request, run_id)).data)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, run_id: UUID) -> Response:
        """Let a paused run go on where it stopped."""
        run = own_run(request, run_id)
        if not services.run_resume(run=run):
            raise Problem(
                HTTPStatus.CONFLICT,
                say("run.not_paused", "The run is {status}, not paused.", status=run.status),
            )
        return Response(RunSerializer(own_run(request, run_id)).data)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, run_id: UUID) -> Response:
        """Stop a run; what was recorded so far stays."""
        run = own_run(request, run_id)
        if not services.run_cancel(run=run):
            raise Problem(HTTPStatus.CONFLICT, say("run.already_over", "The run is over already."))
        return Response(RunSerializer(own_run(request, run_id)).data)

    # ------------------------------------------------------------ files

    @extend_schema(
        parameters=[SHARE], responses={(200, RunFileRenderer.media_type): OpenApiTypes.BINARY}
    )
    @action(detail=True, renderer_classes=[RunFileRenderer])
    def file(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """The run as a file: its inputs without secrets, its whole trace, and the trace's hash.

        409 while the run is not over.
        """
        run = readable_run(request, run_id)
        try:
            pieces = saved.pieces(run)
        except saved.NotOver as too_early:
            raise Problem(HTTPStatus.CONFLICT, told(too_early)) from too_early
        return attachment(pieces, name=saved.file_name(run), media_type=run_file.MEDIA_TYPE)

    @extend_schema(parameters=[SHARE], responses={(200, "text/plain"): OpenApiTypes.STR})
    @action(detail=True, renderer_classes=[MetricsRenderer])
    def metrics(self, request: Request, run_id: UUID) -> HttpResponse:
        """What kube-scheduler's own metrics would have shown, as Prometheus reads it."""
        shown = scheduler_metrics(readable_run(request, run_id))
        return HttpResponse(shown, content_type=CONTENT_TYPE_LATEST)

    @extend_schema(parameters=[SHARE], responses={(200, PageRenderer.media_type): OpenApiTypes.STR})
    @action(detail=True, renderer_classes=[PageRenderer])
    def page(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """The run as one HTML page that shows it without a server, opened from a disk.

        409 while the run is not over, 413 when the page would be too large.
        """
        run = readable_run(request, run_id)
        try:
            pieces = offline.pieces(run)
        except saved.NotOver as too_early:
            raise Problem(HTTPStatus.CONFLICT, told(too_early)) from too_early
        except offline.TooLarge as refused:
            raise Problem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told(refused), kind="too-large"
            ) from refused
        except offline.NotBuilt as missing:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, told(missing)) from missing
        name = saved.file_name(run, offline.SUFFIX)
        return attachment(pieces, name=name, media_type=offline.MEDIA_TYPE)

    @extend_schema(
        request={
            "multipart/form-data": RunFileSerializer,
            run_file.MEDIA_TYPE: OpenApiTypes.BINARY,
        },
        responses={201: RunSerializer},
    )
    @action(
        detail=False, methods=["post"], url_path="file", parser_classes=[MultiPartParser, RawBody]
    )
    def open(self, request: Request) -> Response:
        """Open a run that was saved as a file: it becomes a run of this workspace.

        The file is checked to its end, its hash included, before anything is stored.
        """
        files = files_in(request)
        try:
            run = services.run_open(workspace=workspace_in(request), file=stream_of(files[0]))
        except run_file.RunFileError as refused:
            raise Problem(HTTPStatus.BAD_REQUEST, told(refused), kind="run-file") from refused
        finally:
            for file in files:
                file.close()
        return Response(RunSerializer(run).data, status=HTTPStatus.CREATED)
