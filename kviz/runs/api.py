"""REST: runs, their cycles, and why a pod is pending."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Protocol, TypeVar, cast
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz import run_file
from kviz.accounts.authentication import workspace_in
from kviz.accounts.middleware import share_of
from kviz.common.fields import DocumentField
from kviz.common.problems import Problem
from kviz.common.streaming import attachment
from kviz.runs import inputs, selectors, services
from kviz.runs.models import Cycle, Run
from kviz.runs.portable import offline, saved
from kviz.runs.reading import reenactment, trace
from kviz.runs.reading.projection import CycleDocument
from kviz.snapshots.api import RawBody, files_in, stream_of
from kviz.snapshots.selectors import snapshot_get

SHARE = OpenApiParameter("share", str, description="A share token, instead of the workspace's.")
MAX_LIMIT = 1_000

_Document = TypeVar("_Document", covariant=True)


class RunCreateSerializer(serializers.Serializer[Run]):
    snapshot = serializers.UUIDField()
    scheduler_config = DocumentField()
    scenario = DocumentField()
    seed = serializers.IntegerField(required=False, min_value=-(2**63), max_value=2**63 - 1)


class RunSerializer(serializers.ModelSerializer[Run]):
    class Meta:
        model = Run
        fields = [
            "id",
            "kind",
            "name",
            "snapshot",
            "status",
            "cycles",
            "bound",
            "pending",
            "last_seq",
            "trace_hash",
            "seed",
            "engine_version",
            "not_modelled",
            "out_of_tree_plugins",
            "stop_reason",
            "error",
            "created_at",
            "started_at",
            "finished_at",
        ]


class RunCreatedSerializer(RunSerializer):
    warnings = serializers.ListField(
        child=serializers.DictField(),
        help_text="What will go wrong, and where: `field`, `path`, `line`, `message`.",
    )

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "warnings"]


class CycleSerializer(serializers.ModelSerializer[Cycle]):
    cycle = serializers.IntegerField(source="number")

    class Meta:
        model = Cycle
        fields = [
            "cycle",
            "seq",
            "now_ns",
            "pod",
            "attempt",
            "result",
            "node",
            "nominated_node",
            "message",
            "n_nodes",
            "n_examined",
            "n_feasible",
            "n_tied",
            "n_victims",
            "first_cause",
        ]


class CyclePageQuery(serializers.Serializer[object]):
    after = serializers.IntegerField(default=0, min_value=0, help_text="Cycles after this one.")
    limit = serializers.IntegerField(default=100, min_value=1, max_value=MAX_LIMIT)


class CyclePageSerializer(serializers.Serializer[object]):
    cycles = CycleSerializer(many=True)
    next_after = serializers.IntegerField(
        allow_null=True, help_text="`after` of the next page; null if there are no more so far."
    )


def _run(request: Request, run_id: UUID) -> Run:
    workspace, share = workspace_in(request), share_of(request._request)
    run = selectors.run_get(run_id=run_id, workspace=workspace, share=share)
    if run is None:
        raise Problem(HTTPStatus.NOT_FOUND, "There is no such run in this workspace.")
    return run


def _own_run(request: Request, run_id: UUID) -> Run:
    """A run that may be changed: a share token is not enough."""
    run = _run(request, run_id)
    if run.workspace_id != workspace_in(request).pk:
        raise Problem(HTTPStatus.FORBIDDEN, "This run belongs to another workspace.")
    return run


class RunList(APIView):
    throttle_scope = "run"

    @extend_schema(responses=RunSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The workspace's runs, newest first."""
        runs = selectors.runs_visible(workspace=workspace_in(request))[:MAX_LIMIT]
        return Response(RunSerializer(runs, many=True).data)

    @extend_schema(request=RunCreateSerializer, responses={201: RunCreatedSerializer})
    def post(self, request: Request) -> Response:
        """Queue a run of the scheduler over a snapshot."""
        wanted = RunCreateSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = cast("Mapping[str, Any]", wanted.validated_data)
        workspace, share = workspace_in(request), share_of(request._request)
        snapshot = snapshot_get(snapshot_id=values["snapshot"], workspace=workspace, share=share)
        if snapshot is None:
            raise Problem(
                HTTPStatus.BAD_REQUEST,
                "There is no such snapshot in this workspace.",
                [{"field": "snapshot", "message": "Not found."}],
            )
        try:
            run = services.run_create(workspace=workspace, **{**values, "snapshot": snapshot})
            warnings = inputs.extender_warnings(run.scheduler_config)
        except inputs.InvalidInput as invalid:
            raise Problem(
                HTTPStatus.BAD_REQUEST, "The run cannot be started like this.", invalid.errors
            ) from invalid
        created = RunSerializer(run).data | {"warnings": warnings}
        return Response(created, status=HTTPStatus.CREATED)


class RunDetail(APIView):
    @extend_schema(parameters=[SHARE], responses=RunSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """State and figures of a run."""
        return Response(RunSerializer(_run(request, run_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Delete a run and its trace."""
        services.run_delete(run=_own_run(request, run_id))
        return Response(status=HTTPStatus.NO_CONTENT)


class RunPause(APIView):
    @extend_schema(request=None, responses=RunSerializer)
    def post(self, request: Request, run_id: UUID) -> Response:
        """Hold a run that waits or runs; what was recorded so far can be read meanwhile."""
        run = _own_run(request, run_id)
        if not services.run_pause(run=run):
            raise Problem(HTTPStatus.CONFLICT, f"The run is {run.status}, so it cannot be paused.")
        return Response(RunSerializer(_own_run(request, run_id)).data)


class RunResume(APIView):
    @extend_schema(request=None, responses=RunSerializer)
    def post(self, request: Request, run_id: UUID) -> Response:
        """Let a paused run go on where it stopped."""
        run = _own_run(request, run_id)
        if not services.run_resume(run=run):
            raise Problem(HTTPStatus.CONFLICT, f"The run is {run.status}, not paused.")
        return Response(RunSerializer(_own_run(request, run_id)).data)


class ShareSerializer(serializers.Serializer[object]):
    token = serializers.CharField()
    url = serializers.URLField(help_text="Opens the run for whoever has it.")


class RunShare(APIView):
    @extend_schema(request=None, responses=ShareSerializer)
    def post(self, request: Request, run_id: UUID) -> Response:
        """Make the link by which others can read the run; asked again, it is the same."""
        run = _own_run(request, run_id)
        token = services.run_share(run=run)
        page = reverse("run-detail", args=[run.pk])
        url = request.build_absolute_uri(f"{page}?{urlencode({'share': token})}")
        return Response({"token": token, "url": url})


class RunCancel(APIView):
    @extend_schema(request=None, responses=RunSerializer)
    def post(self, request: Request, run_id: UUID) -> Response:
        """Stop a run; what was recorded so far stays."""
        run = _own_run(request, run_id)
        if not services.run_cancel(run=run):
            raise Problem(HTTPStatus.CONFLICT, "The run is over already.")
        return Response(RunSerializer(_own_run(request, run_id)).data)


class RunFileRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = run_file.MEDIA_TYPE
    format = "kviz"


class RunFile(APIView):
    renderer_classes = [RunFileRenderer]

    @extend_schema(
        parameters=[SHARE], responses={(200, RunFileRenderer.media_type): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """The run as a file: its inputs without secrets, its whole trace, and the trace's hash.

        409 while the run goes on.
        """
        run = _run(request, run_id)
        try:
            pieces = saved.pieces(run)
        except saved.NotOver as too_early:
            raise Problem(HTTPStatus.CONFLICT, str(too_early)) from too_early
        return attachment(pieces, name=saved.file_name(run), media_type=run_file.MEDIA_TYPE)


class PageRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = "text/html"
    format = "html"


class RunPage(APIView):
    renderer_classes = [PageRenderer]

    @extend_schema(parameters=[SHARE], responses={(200, PageRenderer.media_type): OpenApiTypes.STR})
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """The run as one HTML page that shows it without a server, opened from a disk.

        409 while the run goes on, 413 when the page would be too large.
        """
        run = _run(request, run_id)
        try:
            pieces = offline.pieces(run)
        except saved.NotOver as too_early:
            raise Problem(HTTPStatus.CONFLICT, str(too_early)) from too_early
        except offline.TooLarge as refused:
            raise Problem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(refused), kind="too-large"
            ) from refused
        except offline.NotBuilt as missing:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, str(missing)) from missing
        name = saved.file_name(run, offline.SUFFIX)
        return attachment(pieces, name=name, media_type=offline.MEDIA_TYPE)


class RunFileSerializer(serializers.Serializer[Run]):
    file = serializers.FileField()


class RunOpen(APIView):
    parser_classes = [MultiPartParser, RawBody]
    throttle_scope = "upload"

    @extend_schema(
        request={
            "multipart/form-data": RunFileSerializer,
            run_file.MEDIA_TYPE: OpenApiTypes.BINARY,
        },
        responses={201: RunSerializer},
    )
    def post(self, request: Request) -> Response:
        """Open a run that was saved as a file: it becomes a run of this workspace.

        The file is checked to its end, its hash included, before anything is stored.
        """
        files = files_in(request)
        try:
            run = services.run_open(workspace=workspace_in(request), file=stream_of(files[0]))
        except run_file.RunFileError as refused:
            raise Problem(HTTPStatus.BAD_REQUEST, str(refused), kind="run-file") from refused
        finally:
            for file in files:
                file.close()
        return Response(RunSerializer(run).data, status=HTTPStatus.CREATED)


class CycleList(APIView):
    @extend_schema(parameters=[CyclePageQuery, SHARE], responses=CyclePageSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """One line per scheduling cycle, in order."""
        query = CyclePageQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        page = cast("Mapping[str, int]", query.validated_data)
        run, limit = _run(request, run_id), page["limit"]
        cycles = list(selectors.cycles_after(run=run, after=page["after"], limit=limit))
        next_after = cycles[-1].number if len(cycles) == limit else None
        rows = CycleSerializer(cycles, many=True).data
        return Response({"cycles": rows, "next_after": next_after})


class CycleDetail(APIView):
    @extend_schema(parameters=[SHARE], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """Everything about one cycle, in names."""
        document = trace.cycle_get(run=_run(request, run_id), cycle=cycle)
        if document is None:
            raise Problem(HTTPStatus.NOT_FOUND, f"Cycle {cycle} is not recorded (yet).")
        return Response(document)


class StatusSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    code = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())


class AlsoSerializer(serializers.Serializer[object]):
    cycle = serializers.IntegerField()
    pod = serializers.CharField()
    note = serializers.CharField()
    pre_filter = StatusSerializer(many=True, help_text="Plugins that reject the pod as a whole.")
    also = serializers.DictField(
        child=StatusSerializer(many=True), help_text="By node, in the order of the plugins."
    )


class PreparedSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    skipped = serializers.BooleanField(help_text="Takes no part in what follows.")
    state = serializers.JSONField(help_text="Null if the plugin prepared nothing.")


class StateSerializer(serializers.Serializer[object]):
    cycle = serializers.IntegerField()
    pod = serializers.CharField()
    note = serializers.CharField()
    pre_filter = PreparedSerializer(many=True)
    pre_score = PreparedSerializer(many=True)


class CycleAlso(APIView):
    @extend_schema(parameters=[SHARE], responses=AlsoSerializer)
    def get(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """Which plugins would also have rejected each node: more than the scheduler computes.

        The run is simulated again up to the cycle, which may take seconds; 409 where it cannot be,
        503 while another cycle is.
        """
        return Response(_reenacted(reenactment.also, _run(request, run_id), cycle))


class CycleState(APIView):
    @extend_schema(parameters=[SHARE], responses=StateSerializer)
    def get(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """What the cycle's plugins prepared: the run is simulated again, as for `also/`."""
        return Response(_reenacted(reenactment.cycle_state, _run(request, run_id), cycle))


class _Question(Protocol[_Document]):
    def __call__(self, *, run: Run, recorded: CycleDocument) -> _Document: ...


def _reenacted(ask: _Question[_Document], run: Run, cycle: int) -> _Document:
    recorded = trace.cycle_get(run=run, cycle=cycle)
    if recorded is None:
        raise Problem(HTTPStatus.NOT_FOUND, f"Cycle {cycle} is not recorded (yet).")
    try:
        return ask(run=run, recorded=recorded)
    except reenactment.CannotReenact as refused:
        if refused.busy:
            raise Busy(str(refused)) from refused
        raise Problem(HTTPStatus.CONFLICT, str(refused), kind="cannot-reenact") from refused


class Busy(Problem):
    """A request that may be served a few seconds from now."""

    wait = 5

    def __init__(self, detail: str) -> None:
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, detail, kind="busy")


class MessagePackRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = "application/vnd.msgpack"
    format = "msgpack"


class CycleColumns(APIView):
    renderer_classes = [MessagePackRenderer]

    @extend_schema(
        parameters=[SHARE],
        responses={(200, MessagePackRenderer.media_type): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, run_id: UUID, cycle: int) -> HttpResponse:
        """The per-node columns of one cycle as the trace holds them: `[detail event, ...]`."""
        details = trace.cycle_details(run=_run(request, run_id), cycle=cycle)
        if details is None:
            raise Problem(HTTPStatus.NOT_FOUND, f"Cycle {cycle} is not recorded (yet).")
        response = HttpResponse(content_type=MessagePackRenderer.media_type)
        response["Vary"] = "Accept-Encoding"
        response["Cache-Control"] = "private, max-age=3600"
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            response["Content-Encoding"] = "gzip"
            details = gzip.compress(details, compresslevel=4, mtime=0)
        response.content = details
        return response


class PodWhy(APIView):
    @extend_schema(parameters=[SHARE], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, run_id: UUID, namespace: str, name: str) -> Response:
        """Why a pod is pending, or where it went."""
        run = _run(request, run_id)
        document = trace.pod_why(run=run, namespace=namespace, name=name)
        if document is None:
            raise Problem(HTTPStatus.NOT_FOUND, f"This run knows no pod {namespace}/{name}.")
        return Response(document)
