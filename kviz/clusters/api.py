"""REST: real clusters, and importing one."""

from __future__ import annotations

from http import HTTPStatus

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.authentication import workspace_in
from kviz.accounts.throttling import Scope
from kviz.clusters import selectors, services
from kviz.common.problems import Problem
from kviz.snapshots.api import SnapshotSerializer
from scheduler_core.wording import told

PROTECTIONS = ("verified", "unverified", "unencrypted")


class ClusterSerializer(serializers.Serializer[object]):
    name = serializers.CharField(help_text="Of the context, or as the operator calls it.")
    server = serializers.CharField(help_text="Empty in server mode.")
    protection = serializers.ChoiceField(
        choices=PROTECTIONS,
        allow_null=True,
        help_text="Whether the server has to prove who it is; null where that is not known yet.",
    )
    is_current = serializers.BooleanField()
    refusal = serializers.CharField(
        help_text="Why kviz does not use it, as far as that is known without asking; else empty."
    )


class ImportSerializer(serializers.Serializer[object]):
    cluster = serializers.CharField(max_length=500, help_text="The name of one of the clusters.")
    name = serializers.CharField(
        required=False, allow_blank=True, max_length=200, help_text="Of the snapshot."
    )


class ImportedSerializer(SnapshotSerializer):
    refused = serializers.ListField(
        child=serializers.CharField(), help_text="Kinds that kviz may not list."
    )
    resource_version = serializers.CharField(help_text="The moment at which all kinds were read.")

    class Meta(SnapshotSerializer.Meta):
        fields = [*SnapshotSerializer.Meta.fields, "refused", "resource_version"]


class Clusters(APIView):
    @extend_schema(responses=ClusterSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The real clusters that may be imported; none of them is asked.

        502 where the kubeconfig, or the operator's list, cannot be read.
        """
        offered = selectors.clusters_offered(workspace=workspace_in(request))
        if offered.problem:
            raise Problem(HTTPStatus.BAD_GATEWAY, offered.problem)
        return Response(ClusterSerializer(offered.offers, many=True).data)


class Imports(APIView):
    throttle_scope: Scope = "upload"

    @extend_schema(request=ImportSerializer, responses={201: ImportedSerializer})
    def post(self, request: Request) -> Response:
        """Read a real cluster, as `kviz import` does, and store it as a snapshot.

        404 for a cluster that is not listed, 502 for one that cannot be read.
        """
        wanted = ImportSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        cluster = wanted.validated_data["cluster"]
        try:
            snapshot, found = services.cluster_import(
                workspace=workspace_in(request),
                cluster=cluster,
                name=wanted.validated_data.get("name", ""),
            )
        except selectors.NotOffered as problem:
            raise Problem(HTTPStatus.NOT_FOUND, told(problem)) from None
        except services.ImportFailed as failed:
            raise Problem(HTTPStatus.BAD_GATEWAY, str(failed)) from None
        more = {"refused": list(found.refused), "resource_version": found.resource_version}
        return Response(SnapshotSerializer(snapshot).data | more, status=HTTPStatus.CREATED)
