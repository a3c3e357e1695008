"""Traces by OpenTelemetry, of requests and of runs, where `KVIZ_OTEL_ENDPOINT` says whereto.

Without it, and without the packages of the extra `otel`, nothing of this costs anything.
"""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import Any

_tracer: Any = None
"""OpenTelemetry's; None as long as nobody wants traces."""


def start(endpoint: str, *, service: str) -> None:
    """Send traces to an OTLP endpoint (HTTP), such as `http://collector:4318/v1/traces`.

    Raises ModuleNotFoundError without the extra `otel`.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    send_to(provider)


def send_to(provider: Any) -> None:
    """Make spans with a provider of OpenTelemetry's; with None no more are made."""
    global _tracer
    _tracer = provider.get_tracer("kviz") if provider is not None else None


def span(name: str, **attributes: str) -> AbstractContextManager[object]:
    """Measure what is done inside, as part of what is under way already."""
    if _tracer is None:
        return contextlib.nullcontext()
    found: AbstractContextManager[object] = _tracer.start_as_current_span(
        name, attributes={f"kviz.{key}": value for key, value in attributes.items()}
    )
    return found
