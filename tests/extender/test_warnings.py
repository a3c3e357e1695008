"""Who starts a run is told of extenders that may not be called, before they fail it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kviz.accounts.services import local_workspace_ensure, token_create
from kviz.cli import main
from kviz.common.hosts import AllowedHosts
from kviz.runs.models import Run
from tests.extender.recordings import configuration_text
from tests.web.cast import CLUSTER, Person

CONFIGURATION = configuration_text(
    "- urlPrefix: http://listed.example.com/a\n  filterVerb: filter\n"
    "- filterVerb: filter\n  urlPrefix: https://other.example.com\n"
)
REFUSAL = (
    "kviz may not call other.example.com:443: the operator has not listed it in KVIZ_EXTENDER_HOSTS"
)


@pytest.fixture
def ada(db: None, settings: Any) -> Person:
    """Whoever sits at the machine: the browser is in the local workspace at once."""
    settings.EXTENDER_HOSTS = ["listed.example.com"]
    workspace = local_workspace_ensure()
    return Person(workspace, token_create(workspace=workspace))


def test_a_run_made_over_rest_comes_with_warnings(ada: Person) -> None:
    body = {"snapshot": str(ada.snapshot().pk), "scheduler_config": CONFIGURATION}
    answer = ada.post("/runs/", body)
    assert answer.status_code == 201
    (warning,) = answer.json()["warnings"]
    assert (warning["field"], warning["path"]) == ("scheduler_config", "extenders[1].urlPrefix")
    assert (
        warning["line"]
        == CONFIGURATION.splitlines().index("  urlPrefix: https://other.example.com") + 1
    )
    assert REFUSAL in warning["message"]
    assert "docs/operation.md" in warning["message"]
    plain = ada.post("/runs/", {"snapshot": str(ada.snapshot().pk)})
    assert plain.json()["warnings"] == []


def test_the_form_warns_at_the_line_and_lets_one_go_on(ada: Person) -> None:
    fields = {"snapshot": str(ada.snapshot().pk), "scheduler_config": CONFIGURATION}
    page = ada.client.post("/runs/new", fields)
    text = page.content.decode()
    assert page.status_code == 200
    assert "Not started yet: read this first" in text
    assert text.count(REFUSAL) == 2
    assert not Run.objects.exists()
    assert ada.client.post("/runs/new", fields | {"all_the_same": "yes"}).status_code == 302
    assert Run.objects.count() == 1


def test_simulate_warns_and_then_fails_as_the_scheduler_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVIZ_EXTENDER_HOSTS", "listed.example.com")
    cluster, configuration = tmp_path / "cluster.yaml", tmp_path / "config.yaml"
    cluster.write_text(CLUSTER)
    configuration.write_text(
        configuration_text("- {urlPrefix: 'https://other.example.com', filterVerb: filter}")
    )
    arguments = ["simulate", str(cluster), "--config", str(configuration), "--format", "json"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert f"kviz: warning: {REFUSAL} (docs/operation.md)" in printed.err
    assert REFUSAL in json.loads(printed.out)["cycles"][0]["message"]


def test_simulate_calls_a_listed_extender(
    tmp_path: Path,
    port: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KVIZ_EXTENDER_HOSTS", f"127.0.0.1:{port}")
    cluster, configuration = tmp_path / "cluster.yaml", tmp_path / "config.yaml"
    cluster.write_text(CLUSTER)
    entry = (
        f"- {{urlPrefix: 'http://127.0.0.1:{port}/none', filterVerb: f, nodeCacheCapable: true}}"
    )
    configuration.write_text(configuration_text(entry))
    arguments = ["simulate", str(cluster), "--config", str(configuration), "--format", "json"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert "warning" not in printed.err
    assert "no license" in json.loads(printed.out)["cycles"][0]["message"]


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "http://[", "not a url"])
def test_what_is_no_address_is_not_warned_of(url: str) -> None:
    assert AllowedHosts.parse([]).refusal(url) == ""
