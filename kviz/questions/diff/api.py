"""REST: what is different between two runs."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.common.problems import Problem
from kviz.questions.diff.read import CannotCompare, comparison
from kviz.runs.api.access import SHARE, readable_run
from scheduler_core.wording import told


class DivergenceSerializer(serializers.Serializer[object]):
    cycle = serializers.IntegerField()
    cycle_a = serializers.IntegerField(allow_null=True, help_text="Null where A was over.")
    cycle_b = serializers.IntegerField(allow_null=True, help_text="Null where B was over.")
    pod = serializers.CharField()
    attempt = serializers.IntegerField()
    point = serializers.CharField(help_text="The extension point, empty if there is no single one.")
    plugin = serializers.CharField()
    node = serializers.CharField()
    what = serializers.CharField(help_text="The kind of value that `a` and `b` are.")
    a = serializers.JSONField(help_text="A text, or a score.")
    b = serializers.JSONField(help_text="A text, or a score.")
    n_nodes = serializers.IntegerField(help_text="Nodes that differ in this way.")
    luck = serializers.BooleanField(help_text="Both runs picked among the same tied nodes.")
    tied = serializers.ListField(child=serializers.CharField())
    sentence = serializers.CharField()


class FirstDivergenceSerializer(DivergenceSerializer):
    causes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What went in differently and has to do with it; empty where that is not known.",
    )


class EvictedSerializer(serializers.Serializer[object]):
    a = serializers.ListField(child=serializers.CharField())
    b = serializers.ListField(child=serializers.CharField())


class ReleasesSerializer(serializers.Serializer[object]):
    a = serializers.CharField(help_text="`1.37.2 (nodes say v1.37.1)`.")
    b = serializers.CharField()


class RunComparisonSerializer(serializers.Serializer[object]):
    """Docs: comparing."""

    identical = serializers.BooleanField()
    sentence = serializers.CharField()
    first_divergence = FirstDivergenceSerializer(allow_null=True)
    first_outcome = DivergenceSerializer(
        allow_null=True, help_text="The first cycle in which a pod goes elsewhere, or nowhere."
    )
    luck_only = serializers.BooleanField(
        help_text="Only how ties are broken was changed, and a tie is what differs first."
    )
    cycles = serializers.DictField(child=serializers.IntegerField())
    moved = serializers.ListField(child=serializers.DictField())
    newly_bound = serializers.ListField(child=serializers.DictField())
    newly_pending = serializers.ListField(child=serializers.DictField())
    evicted = EvictedSerializer()
    messages = serializers.ListField(child=serializers.DictField())
    utilisation = serializers.ListField(child=serializers.DictField())
    inputs = serializers.DictField()
    releases = ReleasesSerializer()
    changes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What made one run of the other, in words, if it is a variant of it.",
    )


class RunCompare(APIView):
    """Two runs."""

    @extend_schema(parameters=[SHARE], responses=RunComparisonSerializer)
    def get(self, request: Request, run_id: UUID, other_id: UUID) -> Response:
        """Hold this run, A, against another one, B: where they part, and what is different.

        409 while one of them is not over, and where one is a live session.
        """
        a, b = readable_run(request, run_id), readable_run(request, other_id)
        try:
            releases = {"a": a.release_text, "b": b.release_text}
            return Response(comparison(a=a, b=b).as_json() | {"releases": releases})
        except CannotCompare as refused:
            raise Problem(HTTPStatus.CONFLICT, told(refused)) from refused
