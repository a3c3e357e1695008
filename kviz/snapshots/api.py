"""REST: snapshots."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from http import HTTPStatus
from typing import IO, Any, BinaryIO, Final, cast
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.http.response import HttpResponseBase
from django.utils.datastructures import MultiValueDict
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from kviz.accounts.authentication import workspace_in
from kviz.accounts.middleware import share_of
from kviz.accounts.throttling import Scope
from kviz.common.fields import DocumentField
from kviz.common.paging import MAX_LIMIT
from kviz.common.problems import Problem
from kviz.common.streaming import attachment
from kviz.run_file import MEDIA_TYPE, SUFFIX
from kviz.snapshots import progress, selectors, services
from kviz.snapshots.models import Snapshot
from kviz.snapshots.policies import policies_of
from kviz.snapshots.spooling import unnamed_file
from kviz.snapshots.yaml_file import MEDIA_TYPE as YAML
from kviz.snapshots.yaml_file import yaml_pieces
from scheduler_core.wording import say

SHARE = OpenApiParameter("share", str, description="A share token, instead of the workspace's.")


class SnapshotSerializer(serializers.ModelSerializer[Snapshot]):
    release_text = serializers.CharField(
        help_text="The release that runs follow unless another is chosen, and why that one; empty "
        "for older uploads."
    )

    class Meta:
        model = Snapshot
        fields = [
            "id",
            "name",
            "counts",
            "ignored",
            "warnings",
            "problems",
            "sha256",
            "release_text",
            "is_sample",
            "created_at",
        ]


class CoveredPodSerializer(serializers.Serializer[object]):
    pod = serializers.CharField(help_text="namespace/name")
    node = serializers.CharField(help_text="Empty for a pod without a node.")


class BudgetSerializer(serializers.Serializer[object]):
    namespace = serializers.CharField()
    name = serializers.CharField()
    selector = serializers.CharField(help_text="As kubectl writes it; empty covers no pod.")
    min_available = serializers.CharField(help_text="A number or a percentage; empty if not given.")
    max_unavailable = serializers.CharField(help_text="As `min_available`.")
    disruptions_allowed = serializers.IntegerField()
    current_healthy = serializers.IntegerField()
    desired_healthy = serializers.IntegerField()
    expected_pods = serializers.IntegerField()
    n_pods = serializers.IntegerField(help_text="How many it covers; `pods` has the first.")
    pods = CoveredPodSerializer(many=True)


class ClassSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    value = serializers.IntegerField(allow_null=True, help_text="null for an unknown class.")
    global_default = serializers.BooleanField()
    preemption_policy = serializers.CharField()
    description = serializers.CharField()
    built_in = serializers.BooleanField(help_text="Every cluster has it.")
    is_known = serializers.BooleanField(
        help_text="false for a name that pods use and nothing in the upload defines."
    )
    n_pods = serializers.IntegerField(help_text="How many name it; `pods` has the first.")
    pods = serializers.ListField(child=serializers.CharField(), help_text="namespace/name")


class RawBody(BaseParser):
    """A body that is itself the file: YAML, JSON, an archive, a run; spooled to disk when large."""

    media_type = "*/*"
    names: Final = {
        "application/json": "body.json",
        "application/yaml": "body.yaml",
        "application/x-yaml": "body.yaml",
        "text/yaml": "body.yaml",
        "text/x-yaml": "body.yaml",
        "text/plain": "body.txt",
        "application/gzip": "body.gz",
        "application/x-gzip": "body.gz",
        "application/zip": "body.zip",
        "application/octet-stream": "body",
        MEDIA_TYPE: f"body{SUFFIX}",
    }

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> DataAndFiles[str, UploadedFile]:
        plain_type = (media_type or "").partition(";")[0].strip().lower()
        if plain_type not in self.names:
            raise UnsupportedMediaType(plain_type)
        file = unnamed_file()
        shutil.copyfileobj(stream, file, 1 << 20)
        upload = UploadedFile(file, self.names[plain_type], plain_type, file.tell())
        file.seek(0)
        files = MultiValueDict({"files": [upload]})
        return DataAndFiles(QueryDict(), files)  # type: ignore[arg-type]


class YamlRenderer(BaseRenderer):
    """Names the media type; the view answers with ready bytes."""

    media_type = YAML
    format = "yaml"


class UploadSerializer(serializers.Serializer[Snapshot]):
    files = serializers.ListField(child=serializers.FileField())
    name = serializers.CharField(required=False, max_length=200)


class SnapshotViewSet(GenericViewSet[Snapshot]):
    queryset = Snapshot.objects.none()
    serializer_class = SnapshotSerializer
    parser_classes = [MultiPartParser, RawBody]
    lookup_url_kwarg = "snapshot_id"
    lookup_value_converter = "uuid"

    @property
    def throttle_scope(self) -> Scope | None:
        return "upload" if self.action == "create" else None

    @extend_schema(responses=SnapshotSerializer(many=True))
    def list(self, request: Request) -> Response:
        """The workspace's snapshots and the samples, newest first."""
        snapshots = selectors.snapshots_visible(workspace=workspace_in(request))[:MAX_LIMIT]
        return Response(SnapshotSerializer(snapshots, many=True).data)

    @extend_schema(
        request={
            "multipart/form-data": UploadSerializer,
            "application/yaml": OpenApiTypes.STR,
            "application/json": OpenApiTypes.OBJECT,
        },
        parameters=[OpenApiParameter("name", str, description="Of the snapshot.")],
        responses={201: SnapshotSerializer},
    )
    def create(self, request: Request) -> Response:
        """Upload what kubectl printed: files, or one document as the body."""
        workspace = workspace_in(request)
        files = files_in(request)
        try:
            snapshot = services.snapshot_upload(
                workspace=workspace,
                files=[named_stream(file) for file in files],
                name=request.data.get("name", "") or request.query_params.get("name", ""),
                progress=progress.reporter(
                    workspace=workspace, upload_id=request.headers.get("X-Upload-Id", "")
                ),
            )
        except services.UploadRejected as rejected:
            raise Problem(
                HTTPStatus.BAD_REQUEST,
                say("snapshot.unusable", "Nothing in this upload can be used."),
                rejected.errors,
            ) from rejected
        finally:
            for file in files:
                file.close()
        return Response(SnapshotSerializer(snapshot).data, status=HTTPStatus.CREATED)

    @extend_schema(parameters=[SHARE], responses=SnapshotSerializer)
    def retrieve(self, request: Request, snapshot_id: UUID) -> Response:
        """What was recognised in an upload."""
        return Response(SnapshotSerializer(_snapshot(request, snapshot_id)).data)

    @extend_schema(parameters=[SHARE], responses=BudgetSerializer(many=True))
    @action(detail=True, url_path="disruption-budgets")
    def disruption_budgets(self, request: Request, snapshot_id: UUID) -> Response:
        """The PodDisruptionBudgets, as uploaded, with the pods that they cover."""
        found = policies_of(_snapshot(request, snapshot_id)).budgets
        return Response(BudgetSerializer(found, many=True).data)

    @extend_schema(parameters=[SHARE], responses=ClassSerializer(many=True))
    @action(detail=True, url_path="priority-classes")
    def priority_classes(self, request: Request, snapshot_id: UUID) -> Response:
        """The PriorityClasses, built-in ones included, with the pods that name them."""
        found = policies_of(_snapshot(request, snapshot_id)).classes
        return Response(ClassSerializer(found, many=True).data)

    @extend_schema(parameters=[SHARE], responses={(200, YAML): OpenApiTypes.STR})
    @action(detail=True, url_path="yaml", renderer_classes=[YamlRenderer])
    def as_yaml(self, request: Request, snapshot_id: UUID) -> HttpResponseBase:
        """The objects as YAML, with the fields that kviz reads, for kubectl and kviz."""
        snapshot = _snapshot(request, snapshot_id)
        name = f"{slugify(snapshot.name) or 'cluster'}.yaml"
        return attachment(yaml_pieces(snapshot), name=name, media_type=YAML)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, snapshot_id: UUID) -> Response:
        """Delete a snapshot and every run over it."""
        snapshot = _snapshot(request, snapshot_id)
        if snapshot.workspace_id != workspace_in(request).pk:
            raise Problem(
                HTTPStatus.FORBIDDEN,
                say("snapshot.of_other_workspace", "This snapshot is not this workspace's."),
            )
        services.snapshot_delete(snapshot=snapshot)
        return Response(status=HTTPStatus.NO_CONTENT)


def files_in(request: Request) -> list[UploadedFile]:
    """What was sent, at least one file. Raises Problem."""
    files = [file for name in request.FILES for file in request.FILES.getlist(name)]
    if not files:
        raise Problem(
            HTTPStatus.BAD_REQUEST,
            say("snapshot.no_file", "The upload holds no file."),
            [{"field": "files", "message": say("snapshot.send_a_file", "Send at least one file.")}],
        )
    return files


def named_stream(file: UploadedFile) -> services.File:
    """An uploaded file as `snapshot_create` takes it."""
    return file.name or "upload", stream_of(file)


def stream_of(file: UploadedFile) -> BinaryIO:
    """Its bytes, from wherever the upload was put."""
    return cast("BinaryIO", file.file)


def _snapshot(request: Request, snapshot_id: UUID) -> Snapshot:
    workspace, share = workspace_in(request), share_of(request._request)
    snapshot = selectors.snapshot_get(snapshot_id=snapshot_id, workspace=workspace, share=share)
    if snapshot is None:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            say("snapshot.none", "There is no such snapshot in this workspace."),
        )
    return snapshot


class UploadProgressSerializer(serializers.Serializer[object]):
    done_bytes = serializers.IntegerField()
    total_bytes = serializers.IntegerField(help_text="0 while the upload has not arrived.")


class UploadProgress(APIView):
    @extend_schema(responses=UploadProgressSerializer)
    def get(self, request: Request, upload_id: UUID) -> Response:
        """How much of an upload sent with `X-Upload-Id: ID` has been read."""
        done, total = progress.read_so_far(workspace=workspace_in(request), upload_id=upload_id)
        return Response({"done_bytes": done, "total_bytes": total})


class TextSerializer(serializers.Serializer[object]):
    text = DocumentField()


class TextProblemSerializer(serializers.Serializer[object]):
    document = serializers.IntegerField(required=False)
    line = serializers.IntegerField(required=False, help_text="Counted from 1, where it is known.")
    subject = serializers.CharField(required=False, help_text="The object.")
    path = serializers.CharField(required=False, help_text="The field within the object.")
    message = serializers.CharField(help_text="With the path, where there is one.")


class TextCheckedSerializer(serializers.Serializer[object]):
    problems = TextProblemSerializer(many=True)
    counts = serializers.DictField(child=serializers.IntegerField())
    ignored = serializers.DictField(child=serializers.IntegerField())


class SnapshotCheck(APIView):
    """Objects, read as in an upload; nothing is stored."""

    throttle_scope: Scope = "check"

    @extend_schema(request=TextSerializer, responses=TextCheckedSerializer)
    def post(self, request: Request) -> Response:
        """Say what is wrong with objects as YAML or JSON, line by line."""
        wanted = TextSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        found, counts, ignored = services.text_check(text=wanted.validated_data.get("text", ""))
        problems = [{k: v for k, v in each.items() if k != "file"} for each in found]
        for each in problems:
            if path := each.get("path"):
                each["message"] = f"{path}: {each['message']}"
        return Response({"problems": problems, "counts": counts, "ignored": ignored})
