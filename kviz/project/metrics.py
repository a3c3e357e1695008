"""`/metrics` for Prometheus: this process, and what the database says of all of them.

Runs, queue and experiments are read on request: right for all workers, even dead ones. In local
mode everyone who can reach kviz may read them; in server mode a client with `KVIZ_METRICS_TOKEN`,
and nobody if there is none.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min, QuerySet, Sum
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import REGISTRY, GaugeMetricFamily, Metric

from kviz.common.claiming import QUEUED
from kviz.common.mode import Mode
from kviz.experiments.models import Experiment
from kviz.live.alive import workers_alive
from kviz.live.origin import Application, Receive, Scope, Send, header
from kviz.runs.models import ExtenderAnswer, Optimum, Run

ADDRESS: Final = "/metrics"


class Metrics:
    """Answers Prometheus; hands on everything else. Any host name will do, with a token."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != ADDRESS:
            await self.application(scope, receive, send)
            return
        status = may_read(header(scope, "authorization"), header(scope, "host"))
        body = await asyncio.to_thread(_measured) if status is HTTPStatus.OK else b""
        kind = CONTENT_TYPE_LATEST.encode() if body else b"text/plain"
        headers = [
            (b"content-type", kind),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        if status is HTTPStatus.UNAUTHORIZED:
            headers.append((b"www-authenticate", b'Bearer realm="kviz metrics"'))
        await send({"type": "http.response.start", "status": status.value, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def may_read(authorization: str, host: str) -> HTTPStatus:
    """Whether a request with these headers may: OK, or what to answer instead."""
    if settings.METRICS_TOKEN:
        scheme, _, token = authorization.partition(" ")
        given = token.strip().encode() if scheme.lower() == "bearer" else b""
        is_right = hmac.compare_digest(given, settings.METRICS_TOKEN.encode())
        return HTTPStatus.OK if is_right else HTTPStatus.UNAUTHORIZED
    domain, _ = split_domain_port(host.lower())
    is_local = settings.MODE == Mode.LOCAL and validate_host(domain, settings.ALLOWED_HOSTS)
    return HTTPStatus.OK if is_local else HTTPStatus.NOT_FOUND


def _measured() -> bytes:
    stored = CollectorRegistry()
    stored.register(Stored())
    try:
        return generate_latest(REGISTRY) + generate_latest(stored)
    finally:
        connection.close()  # that of this thread


class Stored:
    """What the database says, at the moment somebody asks."""

    def collect(self) -> Iterator[Metric]:
        runs = Run.objects.all()
        yield _by_status("kviz_runs", "Runs there are, by state.", runs, Run.Status.values)
        yield _by_status(
            "kviz_experiments",
            "Experiments there are, by state.",
            Experiment.objects.filter(by_itself=False),
            Experiment.Status.values,
        )
        yield from self._waiting()
        yield GaugeMetricFamily(
            "kviz_workers_alive", "Workers that work or look for work.", workers_alive()
        )
        totals = runs.aggregate(cycles=Sum("cycles"), bound=Sum("bound"))
        yield GaugeMetricFamily(
            "kviz_cycles_recorded", "Scheduling cycles of all runs.", totals["cycles"] or 0
        )
        yield GaugeMetricFamily("kviz_pods_bound", "Pods bound in all runs.", totals["bound"] or 0)
        yield GaugeMetricFamily(
            "kviz_variants_recorded",
            "Variants carried out of all experiments.",
            Experiment.objects.aggregate(n=Sum("n_done"))["n"] or 0,
        )
        yield GaugeMetricFamily(
            "kviz_extender_calls_recorded",
            "Calls of runs to scheduler extenders.",
            ExtenderAnswer.objects.count(),
        )

    def _waiting(self) -> Iterator[Metric]:
        length = GaugeMetricFamily("kviz_queue_length", "What waits for a worker.", labels=["kind"])
        oldest = GaugeMetricFamily(
            "kviz_queue_oldest_seconds", "How long the first of them waits.", labels=["kind"]
        )
        waiting: dict[str, tuple[QuerySet[Run] | QuerySet[Experiment] | QuerySet[Optimum], str]] = {
            "run": (Run.objects.filter(status=QUEUED), "created_at"),
            "experiment": (
                Experiment.objects.filter(status=QUEUED, by_itself=False),
                "created_at",
            ),
            "luck": (Experiment.objects.filter(status=QUEUED, by_itself=True), "created_at"),
            "optimum": (Optimum.objects.filter(status=QUEUED), "asked_at"),
        }
        for kind, (rows, came) in waiting.items():
            found = rows.aggregate(n=Count("pk"), first=Min(came))
            length.add_metric([kind], found["n"])
            waits = timezone.now() - found["first"] if found["first"] else None
            oldest.add_metric([kind], waits.total_seconds() if waits else 0.0)
        yield length
        yield oldest


def _by_status(
    name: str, text: str, rows: QuerySet[Run] | QuerySet[Experiment], states: list[str]
) -> Metric:
    metric = GaugeMetricFamily(name, text, labels=["state"])
    found = dict(rows.order_by().values_list("status").annotate(n=Count("pk")))
    for state in states:
        metric.add_metric([state], found.get(state, 0))
    return metric
