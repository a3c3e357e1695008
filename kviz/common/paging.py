"""Pages of numbered rows over REST: `?after=&limit=`, and where the next page begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, cast

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

MAX_LIMIT = 1_000


class Numbered(Protocol):
    """A row that has a `number`, unique among those that are paged through."""

    number: int


class PageQuery(serializers.Serializer[object]):
    after = serializers.IntegerField(default=0, min_value=0)
    limit = serializers.IntegerField(default=100, min_value=1, max_value=MAX_LIMIT)


class NumberPagination(BasePagination):
    """Up to `limit` rows with a `number` above `after`, in order.

    Rows that are added meanwhile come at the end; none is seen twice.
    """

    rows = "rows"
    """What the document calls the list."""
    said: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """What the document says beside the list: its schema by name."""
    next_after: int | None = None

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: Request, view: APIView | None = None
    ) -> list[Any]:
        query = PageQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        page = cast("Mapping[str, int]", query.validated_data)
        after, limit = page["after"], page["limit"]
        found: list[Numbered] = list(queryset.filter(number__gt=after).order_by("number")[:limit])
        self.next_after = found[-1].number if len(found) == limit else None
        return found

    def get_paginated_response(self, data: Sequence[object]) -> Response:
        return Response({self.rows: data, "next_after": self.next_after})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        next_after = {
            "type": "integer",
            "nullable": True,
            "description": "`after` of the next page; null if there are no more so far.",
        }
        return {
            "type": "object",
            "required": [self.rows, "next_after", *self.said],
            "properties": {self.rows: schema, "next_after": next_after, **self.said},
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        return [
            _parameter("after", "Rows after the one of this number.", default=0, minimum=0),
            _parameter("limit", "Of rows.", default=100, minimum=1, maximum=MAX_LIMIT),
        ]


def _parameter(name: str, description: str, **bounds: int) -> dict[str, Any]:
    schema = {"type": "integer", **bounds}
    return {"name": name, "in": "query", "description": description, "schema": schema}
