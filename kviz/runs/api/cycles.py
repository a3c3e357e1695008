"""REST: the cycles of a run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, Protocol, TypeVar
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from django.template.loader import render_to_string
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from kviz.accounts.authentication import workspace_in
from kviz.common.paging import NumberPagination
from kviz.common.problems import Problem
from kviz.common.wording import TranslatingJSONRenderer
from kviz.runs.api.access import SHARE, readable_run
from kviz.runs.api.evidence_serializers import NodeEvidenceSerializer, PodEvidenceSerializer
from kviz.runs.api.release_field import RELEASE_TEXT
from kviz.runs.api.serializers import (
    AlsoSerializer,
    CycleSerializer,
    DevicesSerializer,
    LabInputsSerializer,
    PreviewSerializer,
    StateSerializer,
)
from kviz.runs.models import Cycle, Run
from kviz.runs.reading import evidence, reenactment, trace
from kviz.runs.reading import preview as reading
from kviz.runs.reading.cluster import cluster_at
from kviz.runs.reading.formal import formal_document, formal_model
from kviz.runs.reading.formal_rows import formal_context
from kviz.runs.reading.held_cycles import CannotReenact
from kviz.runs.reading.lab_inputs import lab_inputs
from kviz.runs.reading.projection import CycleDocument
from kviz.runs.titles import run_title
from kviz.snapshots.api import SnapshotSerializer
from kviz.snapshots.services import snapshot_keep
from scheduler_core.analysis.model.cycle import CycleModel, tla_module, tla_name
from scheduler_core.changes import Change
from scheduler_core.wording import say, told

NODE = OpenApiParameter("node", str, description="Only the devices that this node can use.")
AGAINST = OpenApiParameter("against", str, description="A second node, to compare the first with.")

MODEL_NODE = OpenApiParameter("node", str, description="The node whose Feasibility is written out.")

CHANGES = OpenApiParameter(
    "changes",
    str,
    description="A list of changes as JSON (docs/changes.md): the cycle as they would have it.",
)

_Document = TypeVar("_Document", covariant=True)


class CyclePagination(NumberPagination):
    rows = "cycles"

    said: ClassVar = {
        "not_modelled": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What the run's input asks for and the engine does not do.",
        },
        "release_text": RELEASE_TEXT,
    }


class MessagePackRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = "application/vnd.msgpack"
    format = "msgpack"


class TlaRenderer(BaseRenderer):
    """Names the media type; the view answers with ready text."""

    media_type = "text/x-tla"
    format = "tla"


class HtmlRenderer(BaseRenderer):
    """Names the media type; the view answers with a ready piece of a page."""

    media_type = "text/html"
    format = "html"


class CycleViewSet(GenericViewSet[Cycle]):
    queryset = Cycle.objects.none()
    serializer_class = CycleSerializer
    pagination_class = CyclePagination
    lookup_field = "number"
    lookup_url_kwarg = "cycle"
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[Cycle]:
        run_id: UUID | None = self.kwargs.get("run_id")
        if run_id is None:  # while the schema is made
            return super().get_queryset()
        return readable_run(self.request, run_id).cycle_rows.all()

    @extend_schema(parameters=[SHARE])
    def list(self, request: Request, run_id: UUID) -> Response:
        """One line per scheduling cycle, in order."""
        rows = self.paginate_queryset(self.get_queryset())
        response = self.get_paginated_response(self.get_serializer(rows, many=True).data)
        response.data.update(readable_run(request, run_id).said_of_all)
        return response

    @extend_schema(parameters=[SHARE], responses=OpenApiTypes.OBJECT)
    def retrieve(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """Everything about one cycle, in names; of a hidden run's next what may be known."""
        run = readable_run(request, run_id)
        document = trace.cycle_or_part(run=run, cycle=cycle)
        if document is None:
            raise _not_recorded(run, cycle)
        return Response(document)

    @extend_schema(parameters=[SHARE], responses=AlsoSerializer)
    @action(detail=True)
    def also(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """Which plugins would also have rejected each node: more than the scheduler computes.

        The run is simulated again up to the cycle, which may take seconds; 409 where it cannot be,
        503 while another cycle is.
        """
        return _answer(reenactment.also, readable_run(request, run_id), cycle)

    @extend_schema(parameters=[SHARE], responses=StateSerializer)
    @action(detail=True)
    def state(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """What the cycle's plugins prepared: the run is simulated again, as for `also/`."""
        return _answer(reenactment.cycle_state, readable_run(request, run_id), cycle)

    @extend_schema(parameters=[SHARE, NODE], responses=DevicesSerializer)
    @action(detail=True)
    def devices(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """Who holds each device, and why each was given or refused: again a simulation."""
        node = request.query_params.get("node", "")
        answer = partial(reenactment.devices, node=node)
        return _answer(answer, readable_run(request, run_id), cycle)

    @extend_schema(parameters=[SHARE], responses=PodEvidenceSerializer)
    @action(detail=True)
    def evidence(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """Why the cycle found no node, in one sentence with values; and what the pod requests.

        The run is simulated again, as for `also/`.
        """
        return _answer(evidence.pod_evidence, readable_run(request, run_id), cycle)

    @extend_schema(parameters=[SHARE, AGAINST, CHANGES], responses=NodeEvidenceSerializer)
    @action(detail=True, url_path="nodes/<str:node>", url_name="node")
    def node(self, request: Request, run_id: UUID, cycle: int, node: str) -> Response:
        """Why each plugin takes or rejects a node, with the values, and its scores written out.

        The run is simulated again, as for `also/`; further nodes then take little time.
        """
        run, against = readable_run(request, run_id), request.query_params.get("against", "")
        try:
            changes = _changes_in(request)
            answer = partial(evidence.node_evidence, node=node, against=against, changes=changes)
            document = _reenacted(answer, run, cycle)
        except evidence.UnknownNode as unknown:
            raise _no_node(cycle, against) from unknown
        except reading.BadChanges as error:
            raise Problem(HTTPStatus.BAD_REQUEST, told(error), error.errors) from error
        if document is None:
            raise _no_node(cycle, node)
        return _with_release(document, run)

    @extend_schema(parameters=[SHARE, MODEL_NODE], responses=OpenApiTypes.OBJECT)
    @action(detail=True, url_path="model", url_name="model")
    def formal(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """The formal model of a cycle (docs/model.md): sets, predicates and their values.

        The run is simulated again, as for `also/`. Where it cannot be, `unknown` says why, and only
        what the trace holds is there.
        """
        return Response(formal_document(_formal(request, run_id, cycle)))

    @extend_schema(
        parameters=[SHARE, MODEL_NODE],
        responses={(200, HtmlRenderer.media_type): OpenApiTypes.STR},
    )
    @action(
        detail=True, url_path="model/html", url_name="model-html", renderer_classes=[HtmlRenderer]
    )
    def formal_html(self, request: Request, run_id: UUID, cycle: int) -> HttpResponse:
        """The same as a piece of a page: what the Explorer's tab shows."""
        found = _formal(request, run_id, cycle)
        run = readable_run(request, run_id)
        context = {
            **formal_context(found),
            "run": run,
            "cycle": {"cycle": cycle},
            "share": request.query_params.get("share", ""),
            "in_explorer": True,
        }
        text = render_to_string("runs/model_parts.html", context, request._request)
        return HttpResponse(text, content_type="text/html; charset=utf-8")

    @extend_schema(parameters=[SHARE], responses={(200, TlaRenderer.media_type): OpenApiTypes.STR})
    @action(detail=True, url_path="model/tla", url_name="tla", renderer_classes=[TlaRenderer])
    def formal_tla(self, request: Request, run_id: UUID, cycle: int) -> HttpResponse:
        """The cycle as a TLA+ module, a file; 409 where the values are not known."""
        found = _formal(request, run_id, cycle)
        if found.cluster is None:
            raise Problem(HTTPStatus.CONFLICT, found.unknown, kind="cannot-reenact")
        response = HttpResponse(
            tla_module(found), content_type=f"{TlaRenderer.media_type}; charset=utf-8"
        )
        response["Content-Disposition"] = f'attachment; filename="{tla_name(cycle)}.tla"'
        return response

    @extend_schema(parameters=[SHARE], responses=LabInputsSerializer)
    @action(detail=True)
    def lab(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """What the forms of the Lab begin with: the pod's fields, and how its profile scores.

        The run is simulated again, as for `also/`.
        """
        return _answer(lab_inputs, readable_run(request, run_id), cycle)

    @extend_schema(
        parameters=[SHARE],
        request=PreviewSerializer,
        responses={
            200: OpenApiTypes.OBJECT,
            (200, MessagePackRenderer.media_type): OpenApiTypes.BINARY,
        },
    )
    @action(
        detail=True,
        methods=["post"],
        renderer_classes=[TranslatingJSONRenderer, MessagePackRenderer],
    )
    def preview(self, request: Request, run_id: UUID, cycle: int) -> HttpResponse:
        """The cycle as it would have gone with something changed; nothing of it is stored.

        `changes` are documents or lines (docs/changes.md), carried out in order. The run is
        simulated again, as for `also/`; further previews of the cycle then take little time.
        """
        run = readable_run(request, run_id)
        asked = PreviewSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            changes = reading.changes_of(asked.validated_data["changes"])
            found = _reenacted(partial(reading.preview, changes=changes), run, cycle)
        except reading.BadChanges as error:
            raise Problem(HTTPStatus.BAD_REQUEST, told(error), error.errors) from error
        accepted = request.accepted_renderer
        if isinstance(accepted, MessagePackRenderer):
            return HttpResponse(found.packed(), content_type=accepted.media_type)
        return Response(reading.preview_document(run=run, found=found))

    @extend_schema(parameters=[SHARE], request=None, responses={201: SnapshotSerializer})
    @action(detail=True, methods=["post"])
    def snapshot(self, request: Request, run_id: UUID, cycle: int) -> Response:
        """Keep the cluster as the cycle found it as a new snapshot.

        A pod on its way to a node is still pending in it. The run is simulated again, as for
        `also/`.
        """
        run = readable_run(request, run_id)
        objects = _reenacted(cluster_at, run, cycle)
        assert run.snapshot is not None
        kept = snapshot_keep(
            workspace=workspace_in(request),
            objects=objects,
            name=f"{run_title(run)}, cycle {cycle}",
            of=run.snapshot,
        )
        return Response(SnapshotSerializer(kept).data, status=HTTPStatus.CREATED)

    @extend_schema(
        parameters=[SHARE],
        responses={(200, MessagePackRenderer.media_type): OpenApiTypes.BINARY},
    )
    @action(
        detail=True,
        url_path="detail",
        url_name="columns",
        renderer_classes=[MessagePackRenderer],
    )
    def columns(self, request: Request, run_id: UUID, cycle: int) -> HttpResponse:
        """The per-node columns of one cycle as the trace holds them: `[detail event, ...]`."""
        run = readable_run(request, run_id)
        packs = "gzip" in request.headers.get("Accept-Encoding", "")
        read = trace.packed_details if packs else trace.cycle_details
        details = read(run_id=run.pk, cycle=cycle)
        if details is None:
            raise _not_recorded(run, cycle)
        response = HttpResponse(content_type=MessagePackRenderer.media_type)
        response["Vary"] = "Accept-Encoding"
        is_whole = cycle <= run.cycles
        response["Cache-Control"] = "private, max-age=3600" if is_whole else "no-store"
        if packs:
            response["Content-Encoding"] = "gzip"
        response.content = details
        return response


def _changes_in(request: Request) -> tuple[Change, ...]:
    """Return the changes that the query asks for. Raises BadChanges."""
    text = request.query_params.get("changes", "")
    try:
        values = msgspec.json.decode(text, type=list[Any]) if text else []
    except (msgspec.DecodeError, RecursionError) as error:
        raise reading.BadChanges([{"field": "changes", "message": told(error)}]) from error
    return reading.changes_of(values)


def _formal(request: Request, run_id: UUID, cycle: int) -> CycleModel:
    node = request.query_params.get("node", "")
    answer = partial(formal_model, node=node)
    try:
        return _reenacted(answer, readable_run(request, run_id), cycle)
    except evidence.UnknownNode as unknown:
        raise _no_node(cycle, node) from unknown


class _Reenactment(Protocol[_Document]):
    def __call__(self, *, run: Run, recorded: CycleDocument) -> _Document: ...


def _reenacted(reenact: _Reenactment[_Document], run: Run, cycle: int) -> _Document:
    try:
        return reenact(run=run, recorded=_recorded(run, cycle))
    except CannotReenact as refused:
        raise refusal(refused) from refused


def _answer(reenact: _Reenactment[Mapping[str, Any]], run: Run, cycle: int) -> Response:
    return _with_release(_reenacted(reenact, run, cycle), run)


def _with_release(document: Mapping[str, Any], run: Run) -> Response:
    return Response({**document, "release_text": run.release_text})


def refusal(refused: CannotReenact) -> Problem:
    if refused.busy:
        return Busy(told(refused))
    return Problem(HTTPStatus.CONFLICT, told(refused), kind="cannot-reenact")


def _recorded(run: Run, cycle: int) -> CycleDocument:
    document = trace.cycle_get(run=run, cycle=cycle)
    if document is None:
        raise _not_recorded(run, cycle)
    return document


def _no_node(cycle: int, node: str) -> Problem:
    return Problem(
        HTTPStatus.NOT_FOUND,
        say("cycle.no_node", "Cycle {cycle} saw no node {node}.", cycle=cycle, node=node),
    )


def _not_recorded(run: Run, cycle: int) -> Problem:
    if run.hidden_after is not None and cycle > run.hidden_after:
        return hidden(
            say("cycle.hidden", "Cycle {cycle} is hidden until it is revealed.", cycle=cycle)
        )
    return Problem(
        HTTPStatus.NOT_FOUND,
        say("cycle.not_recorded", "Cycle {cycle} is not recorded (yet).", cycle=cycle),
    )


def hidden(text: str) -> Problem:
    return Problem(HTTPStatus.CONFLICT, text, kind="veiled")


class Busy(Problem):
    """A request that may be served a few seconds from now."""

    def __init__(self, detail: str) -> None:
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, detail, kind="busy")
