"""Metrics, log lines and traces: what an operator sees of kviz, and who else does."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import DisallowedHost
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from kviz.common import tracing
from kviz.common.observed import FaultsOfSenders, JsonLines, request_id
from kviz.common.work_counts import Worked
from kviz.project.metrics import Stored
from tests.running_server import Server, serving
from tests.waiting import eventually
from tests.web.cast import CLUSTER, Person, crowd, pod
from tests.web.test_serve import call, run_of, wait_for

ROOT = Path(__file__).parents[2]


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def stored() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in Stored().collect()
        for sample in family.samples
    }


def read(server: Server, **headers: str) -> tuple[int, str]:
    return read_at(f"{server.base_url}/metrics", **headers)


def read_at(address: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def test_runs_queue_and_cycles_are_those_of_the_database(ada: Person) -> None:
    ada.finished()
    ada.queued()

    found = stored()

    assert found["kviz_runs", (("state", "finished"),)] == 1
    assert found["kviz_runs", (("state", "queued"),)] == 1
    assert found["kviz_runs", (("state", "failed"),)] == 0
    assert found["kviz_queue_length", (("kind", "run"),)] == 1
    assert found["kviz_queue_oldest_seconds", (("kind", "run"),)] > 0
    assert found["kviz_queue_oldest_seconds", (("kind", "experiment"),)] == 0
    assert found["kviz_cycles_recorded", ()] == 5


@pytest.mark.slow("starts a server")
def test_requests_sockets_and_lag_are_measured(server: Server) -> None:
    run = run_of(server, crowd(50))
    with connect(
        f"{server.ws_url}/ws/runs/{run}/?after=-1",
        additional_headers={"Authorization": f"Bearer {server.token}"},
        compression=None,
    ):
        wait_for(server, run)

        def measured() -> Any:
            found = samples(read(server)[1])
            return found if found["kviz_live_lag_seconds_count", ()] else None

        found = eventually(measured)

    assert found["kviz_sockets", ()] >= 1
    made = (
        "kviz_http_requests_total",
        (("method", "POST"), ("status", "201"), ("view", "run-list")),
    )
    assert [value for key, value in found.items() if key[0] == made[0] and value >= 1]
    assert found["kviz_runs", (("state", "finished"),)] >= 1


def test_a_page_of_another_name_reads_no_metrics(server: Server) -> None:
    assert read(server, Host="rebound.example")[0] == 404
    assert read(server)[0] == 200


@pytest.mark.slow("starts a server")
@pytest.mark.parametrize(("token", "expected"), [("", 404), ("s3cret", 401)])
def test_on_a_server_metrics_want_their_token(data_dir: Path, token: str, expected: int) -> None:
    more = {"KVIZ_MODE": "server", "KVIZ_METRICS_TOKEN": token}
    with serving(data_dir, "--workers", "0", **more) as server:
        assert read(server)[0] == expected
        assert read(server, Authorization="Bearer wrong")[0] == expected
        assert read(server, Authorization=f"Bearer {server.token}")[0] == expected
        if token:
            right = read(server, Authorization=f"Bearer {token}", Host="10.0.0.7:8000")
            assert right[0] == 200


def test_the_dashboard_asks_for_metrics_there_are(server: Server) -> None:
    dashboard = json.loads((ROOT / "deploy/grafana/kviz.json").read_text())
    call(server, "/runs/")  # before the first request there is none to count
    there = {name for name, _ in samples(read(server)[1])}
    there |= {sample.name for family in Worked().collect() for sample in family.samples}
    asked = {
        word
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
        for word in re.findall(r"\bkviz_\w+", target["expr"])
    }

    assert len(asked) >= 8
    assert asked - {name for name in there if name.startswith("kviz_")} == set()


# ---------------------------------------------------------------- log lines


def test_an_answer_carries_the_id_it_is_logged_under(
    ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kviz.requests")

    given = ada.get("/runs/?share=private", HTTP_X_REQUEST_ID="proxy-17")
    forged = ada.get("/runs/", HTTP_X_REQUEST_ID='x"} {"level": "forged"')

    assert given.headers["X-Request-ID"] == "proxy-17"
    assert len(forged.headers["X-Request-ID"]) == 32
    [line, _] = [record for record in caplog.records if record.name == "kviz.requests"]
    assert line.getMessage() == "GET /api/v1/runs/ 200"
    assert "private" not in JsonLines().format(line)


def test_a_line_of_json_says_when_who_and_why() -> None:
    token = request_id.set("abc")
    try:
        raise ValueError("one\ntwo")
    except ValueError as error:
        info = (type(error), error, error.__traceback__)
        record = logging.LogRecord("kviz.x", 40, __file__, 1, "broke: %s", ("ü",), info)
    line = JsonLines().format(record)
    request_id.reset(token)

    said = json.loads(line)
    assert "\n" not in line
    assert (said["level"], said["logger"], said["message"]) == ("ERROR", "kviz.x", "broke: ü")
    assert said["request_id"] == "abc"
    assert "ValueError: one" in said["exception"]


def test_what_a_sender_did_wrong_is_one_line() -> None:
    log = logging.getLogger("django.security.DisallowedHost")
    try:
        raise DisallowedHost("Invalid HTTP_HOST header: 'evil.example'.")
    except DisallowedHost as error:
        info = (type(error), error, error.__traceback__)
        record = log.makeRecord(log.name, logging.ERROR, __file__, 1, str(error), (), info)
    assert FaultsOfSenders().filter(record)
    assert (record.exc_info, record.levelname) == (None, "INFO")


def test_a_server_told_to_logs_lines_of_json(data_dir: Path) -> None:
    with serving(data_dir, "--workers", "0", KVIZ_LOG_FORMAT="json") as server:
        call(server, "/runs/", **{"X-Request-ID": "mine"})

    lines = [json.loads(line) for line in (data_dir / "serve.log").read_text().splitlines()]
    [asked] = [line for line in lines if line.get("request_id") == "mine"]
    assert asked["message"] == "GET /api/v1/runs/ 200"
    assert asked["duration_ms"] > 0


# ---------------------------------------------------------------- traces


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.send_to(provider)
    yield exporter
    tracing.send_to(None)


def test_requests_and_runs_are_traced_where_asked_for(
    ada: Person, spans: InMemorySpanExporter
) -> None:
    run = ada.finished()
    ada.get("/runs/", HTTP_X_REQUEST_ID="mine")

    found = {span.name: dict(span.attributes or {}) for span in spans.get_finished_spans()}
    assert found["run"] == {"kviz.run": str(run.pk)}
    assert found["GET /api/v1/runs/"] == {"kviz.request_id": "mine"}


def test_without_an_endpoint_the_packages_are_not_even_loaded() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import kviz.project.asgi, sys; print('opentelemetry' in sys.modules)",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert loaded.stdout.strip() == "False"


# ---------------------------------------------------------------- a run in kube-scheduler's words


def test_a_run_in_the_words_of_kube_schedulers_own_metrics(ada: Person) -> None:
    run = ada.finished(CLUSTER + pod("later", "64"))

    answer = ada.get(f"/runs/{run.pk}/metrics/")

    assert answer.headers["Content-Type"].startswith("text/plain")
    found = samples(answer.content.decode())
    results = dict.fromkeys(run.cycle_rows.values_list("result", flat=True), 0)
    for result in run.cycle_rows.values_list("result", flat=True):
        results[result] += 1
    for result in ("scheduled", "unschedulable"):
        labels = (("profile", "default-scheduler"), ("result", result))
        assert found["scheduler_schedule_attempts_total", labels] == results[result] > 0
    assert found["scheduler_pod_scheduling_attempts_count", ()] == results["scheduled"]
    took = ("scheduler_pod_scheduling_sli_duration_seconds_count", (("attempts", "1"),))
    assert found[took] == results["scheduled"]
    unschedulable = run.pod_outcomes.filter(queue="unschedulable").count()
    assert found["scheduler_pending_pods", (("queue", "unschedulable"),)] == unschedulable > 0
