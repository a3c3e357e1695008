"""Fields of REST documents that more than one app uses."""

from __future__ import annotations

import json
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


@extend_schema_field(OpenApiTypes.STR)
class DocumentField(serializers.CharField):
    """YAML or JSON text; a JSON object is accepted, too, and stored as text."""

    def __init__(self, help_text: str = "") -> None:
        super().__init__(
            required=False,
            allow_blank=True,
            trim_whitespace=False,
            max_length=1_000_000,
            help_text=help_text,
        )

    def to_internal_value(self, data: Any) -> str:
        return super().to_internal_value(json.dumps(data) if isinstance(data, dict) else data)
