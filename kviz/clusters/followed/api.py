"""REST: followed clusters, and whether kviz decides as their schedulers do."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, BinaryIO, cast
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from kviz.accounts.authentication import workspace_in
from kviz.accounts.throttling import Scope
from kviz.clusters.followed import live, selectors, services
from kviz.clusters.followed.models import FollowedCluster
from kviz.common.json_body import JsonBody
from kviz.common.paging import MAX_LIMIT
from kviz.common.problems import Problem
from kviz.runs.api.release_field import ReleaseField
from kviz.runs.inputs import InvalidInput
from scheduler_core.releases.choosing import AUTO
from scheduler_core.wording import say, told


class FollowedSerializer(serializers.ModelSerializer[FollowedCluster]):
    name = serializers.CharField(source="run.name")
    cluster = serializers.CharField(source="context", help_text="Empty for a recording.")
    decisions = serializers.IntegerField(source="run.cycles")
    is_over = serializers.BooleanField(source="run.is_over")
    stop_reason = serializers.SerializerMethodField()
    release_text = serializers.CharField(
        help_text="The release it is compared with, and what that was chosen by."
    )

    class Meta:
        model = FollowedCluster
        fields = [
            "id",
            "name",
            "run",
            "cluster",
            "protection",
            "decisions",
            "is_over",
            "stop_reason",
            "scheduler_config",
            "config_origin",
            "release",
            "release_text",
            "refused",
            "created_at",
        ]

    def get_stop_reason(self, followed: FollowedCluster) -> str:
        return followed.run.stop_reason


class TroubleSerializer(serializers.Serializer[object]):
    resource = serializers.CharField()
    sentence = serializers.CharField()


class FollowedStateSerializer(FollowedSerializer):
    is_followed = serializers.BooleanField(help_text="By this server or another one.")
    changes = serializers.IntegerField(help_text="That were told so far.")
    gaps = serializers.IntegerField(
        allow_null=True,
        help_text="How often a kind had to be listed again; null unless this server follows it.",
    )
    troubles = TroubleSerializer(many=True, help_text="Kinds that cannot be watched now.")
    problem = serializers.CharField(help_text="Why it is followed no longer, if that is known.")

    class Meta(FollowedSerializer.Meta):
        fields = [
            *FollowedSerializer.Meta.fields,
            *("is_followed", "changes", "gaps", "troubles", "problem"),
        ]


class FollowSerializer(serializers.Serializer[object]):
    cluster = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=200,
        default="",
        help_text="Its name in `clusters/`; without one, in local mode, the current context.",
    )
    recording = serializers.FileField(
        required=False, help_text="Instead of a cluster: what `kviz follow --record` writes."
    )
    scheduler_config = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        trim_whitespace=False,
        help_text="A KubeSchedulerConfiguration. Without one it is guessed from ConfigMaps.",
    )
    config_map = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=320,
        default="",
        help_text="The ConfigMap that has the configuration, `namespace/name`.",
    )
    release = ReleaseField(
        default=AUTO,
        help_text="Of the scheduler; auto: what the API server says, else the newest kubelet, "
        "else the newest that kviz knows.",
    )


class FollowedViewSet(GenericViewSet[FollowedCluster]):
    queryset = FollowedCluster.objects.none()
    serializer_class = FollowedSerializer
    parser_classes = (JsonBody, MultiPartParser)
    lookup_url_kwarg = "followed_id"
    lookup_value_converter = "uuid"

    @property
    def throttle_scope(self) -> Scope | None:
        return "run" if self.action in ("create", "check") else None

    @extend_schema(responses=FollowedSerializer(many=True))
    def list(self, request: Request) -> Response:
        """The clusters that the workspace follows or has followed, newest first."""
        found = selectors.followed_list(workspace=workspace_in(request))[:MAX_LIMIT]
        return Response(FollowedSerializer(found, many=True).data)

    @extend_schema(request=FollowSerializer, responses={201: FollowedStateSerializer})
    def create(self, request: Request) -> Response:
        """Begin to follow a cluster, or follow a recording to its end."""
        wanted = FollowSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            followed = _begun(request, wanted.validated_data)
        except InvalidInput as invalid:
            text = say("following.cannot", "It cannot be followed.")
            raise Problem(HTTPStatus.BAD_REQUEST, text, invalid.errors) from None
        return Response(_state(followed), status=HTTPStatus.CREATED)

    @extend_schema(responses=FollowedStateSerializer)
    def retrieve(self, request: Request, followed_id: UUID) -> Response:
        """How following goes."""
        return Response(_state(_own(request, followed_id)))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, followed_id: UUID) -> Response:
        """Stop following, and delete the run and all that was told."""
        followed = _own(request, followed_id)
        live.live_stop(followed=followed)
        services.followed_delete(followed=followed)
        return Response(status=HTTPStatus.NO_CONTENT)

    @extend_schema(request=None, responses=FollowedStateSerializer)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, followed_id: UUID) -> Response:
        """Stop following; the run is over, and stays."""
        live.live_stop(followed=_own(request, followed_id))
        return Response(_state(_own(request, followed_id)))

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    @action(detail=True, methods=["post"])
    def check(self, request: Request, followed_id: UUID) -> Response:
        """Set kviz's verdict beside every decision; as `kviz follow --check --json` prints it."""
        followed = _own(request, followed_id)
        try:
            services.followed_check(followed=followed)
        except InvalidInput as invalid:
            raise Problem(HTTPStatus.CONFLICT, told(invalid), invalid.errors) from None
        return Response(followed.checked)


def _begun(request: Request, wanted: dict[str, Any]) -> FollowedCluster:
    """Follow what is wanted. Raises InvalidInput."""
    workspace, config = workspace_in(request), wanted["scheduler_config"]
    upload = wanted.get("recording")
    if isinstance(upload, UploadedFile):
        return services.recording_follow(
            workspace=workspace,
            stream=cast("BinaryIO", upload.file),
            name=str(upload.name or ""),
            scheduler_config=config,
            release=wanted["release"],
        )
    return live.live_follow(
        workspace=workspace,
        context=wanted["cluster"],
        scheduler_config=config,
        config_map=wanted["config_map"],
        release=wanted["release"],
    )


def _own(request: Request, followed_id: UUID) -> FollowedCluster:
    found = selectors.followed_get(followed_id=followed_id, workspace=workspace_in(request))
    if found is None:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            say("following.no_cluster", "There is no such followed cluster in this workspace."),
        )
    return found


def _state(followed: FollowedCluster) -> dict[str, object]:
    followed.refresh_from_db()
    following = live.of(followed)
    troubles = following.watched.troubles.values() if following else ()
    return dict(FollowedSerializer(followed).data) | {
        "is_followed": following is not None or selectors.is_followed(followed=followed),
        "changes": selectors.n_changes(followed=followed),
        "gaps": following.watched.n_gaps if following else None,
        "troubles": [
            {"resource": each.resource, "sentence": each.sentence} for each in list(troubles)
        ],
        "problem": live.problem_of(followed),
    }
