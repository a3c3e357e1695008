"""REST: the links that open runs to others."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.authentication import access_in, workspace_in
from kviz.common.expiry import in_days
from kviz.common.paging import MAX_LIMIT
from kviz.common.problems import Problem
from kviz.runs import selectors, sharing
from kviz.runs.api.access import own_run
from kviz.runs.models import ShareLink
from scheduler_core.wording import say

MAX_DAYS = 3650


class ShareLinkSerializer(serializers.ModelSerializer[ShareLink]):
    made_by = serializers.CharField(
        source="made_by.username", default=None, allow_null=True,
        help_text="Null where kviz runs without accounts.",
    )  # fmt: skip
    is_open = serializers.BooleanField()
    url = serializers.SerializerMethodField(help_text="Null for who may not share.")

    class Meta:
        model = ShareLink
        fields = ("id", "run", "made_by", "created_at", "expires_at", "opened_at", "revoked_at",
                  "is_open", "url")  # fmt: skip

    def get_url(self, link: ShareLink) -> str | None:
        request = self.context["request"]
        if not access_in(request).may_change:
            return None
        address: str = request.build_absolute_uri(link.get_absolute_url())
        return address


class ShareCreateSerializer(serializers.Serializer[object]):
    days = serializers.IntegerField(
        min_value=1, max_value=MAX_DAYS, required=False,
        help_text="After how many days the link expires; without, never.",
    )  # fmt: skip


class ShareSerializer(serializers.Serializer[object]):
    id = serializers.IntegerField()
    token = serializers.CharField()
    url = serializers.URLField(help_text="Opens the run for whoever has it.")
    expires_at = serializers.DateTimeField(allow_null=True)


class RunShare(APIView):
    @extend_schema(request=ShareCreateSerializer, responses=ShareSerializer)
    def post(self, request: Request, run_id: UUID) -> Response:
        """Make a link by which others can read the run.

        Asked again for one that never expires, it is the same.
        """
        run = own_run(request, run_id)
        asked = ShareCreateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        expires_at = in_days(asked.validated_data.get("days"))
        made_by = access_in(request).person
        link = sharing.run_share(run=run, made_by=made_by, expires_at=expires_at)
        url = request.build_absolute_uri(link.get_absolute_url())
        made = {"id": link.pk, "token": link.token, "url": url, "expires_at": link.expires_at}
        return Response(ShareSerializer(made).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Revoke all links to the run: they no longer open it."""
        sharing.run_unshare(run=own_run(request, run_id))
        return Response(status=HTTPStatus.NO_CONTENT)


class ShareLinks(APIView):
    @extend_schema(responses=ShareLinkSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The links to the workspace's runs, newest first; revoked and expired ones, too."""
        links = selectors.links_of(workspace=workspace_in(request))[:MAX_LIMIT]
        return Response(ShareLinkSerializer(links, many=True, context={"request": request}).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Revoke all of them."""
        sharing.links_revoke(workspace=workspace_in(request))
        return Response(status=HTTPStatus.NO_CONTENT)


class ShareLinkDetail(APIView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, link_id: int) -> Response:
        """Revoke a link."""
        links = selectors.links_of(workspace=workspace_in(request))
        found = links.filter(pk=link_id).first()
        if found is None:
            raise Problem(
                HTTPStatus.NOT_FOUND, say("run.no_link", "There is no such link in this workspace.")
            )
        sharing.link_revoke(link=found)
        return Response(status=HTTPStatus.NO_CONTENT)
