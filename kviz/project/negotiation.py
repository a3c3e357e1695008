"""Which media type a REST answer has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from kviz.common.wording import TranslatingJSONRenderer


class Negotiation(DefaultContentNegotiation):
    """What was asked for, of what the view has; an address describes itself (OPTIONS) as JSON."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> Any:
        if request.method == "OPTIONS":
            return TranslatingJSONRenderer(), TranslatingJSONRenderer.media_type
        return super().select_renderer(request, renderers, format_suffix)
