"""What an input asks for and the engine does not do stands wherever an outcome is shown."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from kviz.accounts.services import local_workspace_ensure, token_create
from kviz.cli import main
from kviz.runs.models import Run
from kviz.runs.reading.trace import chunks
from kviz.runs.sharing import run_share
from kviz.snapshots.services import snapshot_share
from scheduler_core.trace.codec import read_headers
from scheduler_core.trace.events import RunStarted
from tests.web.cast import CLUSTER, Person, pod
from tests.web.test_csv import of

GROUP = """\
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: gang}
"""
FAR = """\
---
apiVersion: v1
kind: Node
metadata: {name: far, creationTimestamp: "9999-01-01T00:00:00Z"}
status: {allocatable: {cpu: "64", memory: 4Gi, pods: "10"}}
"""
INPUT = CLUSTER + pod("grouped", schedulingGroup="{podGroupName: gang}") + GROUP + FAR
FEATURES = [
    'Node far left out: metadata.creationTimestamp: "9999-01-01T00:00:00Z" is not between the '
    "years 1700 and 2200",
    "scheduling groups (gangs) of 1 pod: shop/grouped",
    "1 PodGroup",
]
PAGES = (
    "/runs/{run}",
    "/runs/{run}/cycles",
    "/runs/{run}/explore?c=1&view=tables",
    "/runs/{run}/explore",
    "/runs/{run}/pods/shop/giant/why",
    "/runs/{run}/pods/shop/old/why",
)
DOCUMENTS = (
    "/runs/{run}/",
    "/runs/{run}/cycles/",
    "/runs/{run}/cycles/1/",
    "/runs/{run}/pods/shop/giant/why/",
    "/runs/{run}/pods/shop/old/why/",
)


@pytest.fixture
def run(ada: Person) -> Run:
    return ada.finished(INPUT)


def test_every_page_of_the_run_also_by_a_shared_link(ada: Person, ben: Person, run: Run) -> None:
    token = run_share(run=run).token
    for address in PAGES:
        joint = "&" if "?" in address else "?"
        page = ben.client.get(f"{address.format(run=run.pk)}{joint}share={token}", follow=True)
        assert page.status_code == 200, address
        for text in FEATURES:
            assert text in unescape(page.content.decode()), address


def test_the_list_of_runs(db: None) -> None:
    workspace = local_workspace_ensure()
    local = Person(workspace, token_create(workspace=workspace))
    local.finished(INPUT)
    assert FEATURES[0] in unescape(local.client.get("/runs/").content.decode())


def test_every_document(ada: Person, run: Run) -> None:
    for address in DOCUMENTS:
        assert ada.get(address.format(run=run.pk)).json()["not_modelled"] == FEATURES, address


def test_every_row_of_the_tables(ada: Person, run: Run) -> None:
    for path in ("cycles.csv", "pods.csv"):
        rows = of(ada, run, path)
        assert {row["not_modelled"] for row in rows} == {"; ".join(FEATURES)}


def test_the_trace_from_which_the_explorer_has_it(run: Run) -> None:
    _, events = read_headers(next(chunks(run=run)).headers)
    started = events[0]
    assert isinstance(started, RunStarted)
    assert list(started.not_modelled) == FEATURES


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(INPUT)
    explain = ["explain", str(file)]
    for command in (["simulate", str(file)], explain, [*explain, "--pod", "shop/giant"]):
        main([*command, "--format", "json"])
        assert json.loads(capsys.readouterr().out)["notModelled"] == FEATURES
        main(command)
        shown = capsys.readouterr()
        assert all(feature in shown.out for feature in FEATURES)
        assert f"kviz: {file}#" in shown.err
        assert " metadata.creationTimestamp: " in shown.err
    main([*explain, "--format", "markdown"])
    ticket = capsys.readouterr().out
    assert all(feature in ticket for feature in FEATURES)


def test_the_page_of_the_cluster_names_document_line_and_field(ada: Person) -> None:
    snapshot = ada.snapshot(INPUT)
    token = snapshot_share(snapshot=snapshot)
    page = ada.client.get(f"/snapshots/{snapshot.pk}?share={token}").content.decode()
    problem = page[page.index('id="problems"') :]
    for text in ("missing here", "document ", "line ", "metadata.creationTimestamp", "Node far"):
        assert text in problem[: problem.index("</ul>")]


def test_a_run_that_asks_for_nothing_else_says_nothing(ada: Person) -> None:
    run = ada.finished(CLUSTER)
    assert ada.get(f"/runs/{run.pk}/").json()["not_modelled"] == []
    token = run_share(run=run).token
    page = ada.client.get(f"/runs/{run.pk}?share={token}", follow=True)
    assert "Not modelled" not in page.content.decode()
