"""HTML pages: every link leads somewhere, forms keep what was typed, errors say where."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from kviz.runs.execution.engine import simulate_run
from kviz.runs.models import Run
from kviz.runs.reading.findings import findings
from kviz.runs.services import run_pause
from kviz.snapshots.models import Snapshot
from kviz.snapshots.services import samples_load
from scheduler_core.trace.codec import MAX_CYCLES
from scheduler_core.trace.events import AnyEvent, CycleStarted
from tests.web.cast import CLUSTER, Person, crowd, execute, pod
from tests.web.crawling import Page, crawl

BAD_CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      enabled:
      - name: NoSuchPlugin
"""


@pytest.mark.slow("follows every link")
def test_no_link_is_a_dead_end_and_nothing_is_inline(owner: Person) -> None:
    samples_load()
    owner.finished(CLUSTER)
    pages = crawl(owner.client, "/", re.compile("/static/"))
    for address, found in pages.items():
        assert found.inline == [], address
        assert len(found.ids) == len(set(found.ids)), address
        anchors = [link[1:] for link in found.links if link.startswith("#")]
        assert set(anchors) <= {*found.ids, ""}, address
    templates = {address.split("?")[0].split("/")[-1] for address in pages}
    assert {"why", "cycles", "explore", "fidelity", "teach", "NodeResourcesFit"} <= templates


def test_a_sample_runs_from_the_landing_page(owner: Person) -> None:
    samples_load()
    sample = Snapshot.objects.get(name="why-pending")
    home = owner.client.get("/").content.decode()
    assert str(sample.pk) in home
    response = owner.client.post("/runs/new", {"snapshot": sample.pk, "then": "1"})
    run = Run.objects.get()
    assert response.headers["Location"] == f"/runs/{run.pk}/explore?c=1"
    execute(worker="test")
    html = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert "1 of 13 waiting pods got a node; 12 stay pending" in html


def test_a_preemption_is_shown_criterion_by_criterion(owner: Person) -> None:
    samples_load()
    sample = Snapshot.objects.get(name="preemption-budget")
    owner.client.post("/runs/new", {"snapshot": sample.pk})
    execute(worker="test")
    address = reverse("run-explore", args=[Run.objects.get().pk])
    html = owner.client.get(address, {"c": "1", "view": "tables"}).content.decode()
    section = html.split('id="candidates"')[1].split("</section>")[0]
    rows = {row.split("node-")[1][0]: row for row in section.split("<tr")[2:]}
    assert [rows[n].count("<s>") for n in "12345"] == [1, 1, 1, 1, 0]
    assert "<s>1</s>" in rows["1"]
    assert "<s>1000</s>" in rows["2"]
    assert "batch/thumb-0" in rows["4"]
    assert "2026-03-02 09:00:00" in rows["5"]


def test_good_files_survive_a_broken_one(owner: Person) -> None:
    files = [
        SimpleUploadedFile("good.yaml", CLUSTER.encode()),
        SimpleUploadedFile("bad.yaml", pod("web", "one-and-a-half").encode()),
    ]
    response = owner.client.post("/snapshots/new", {"files": files, "name": "half"}, follow=True)
    assert response.status_code == 200
    html = response.content.decode()
    assert "half" in html
    assert "<strong>bad.yaml</strong>" in html
    assert "spec.containers[0].resources.requests" in html
    assert "shop/giant" in html


def test_an_upload_without_anything_useful_is_refused_and_the_text_kept(owner: Person) -> None:
    response = owner.client.post("/snapshots/new", {"text": "<html>oops</html>", "name": "mine"})
    html = response.content.decode()
    assert response.status_code == 400
    assert "pasted.yaml" in html
    assert "&lt;html&gt;oops&lt;/html&gt;</textarea>" in html
    assert 'value="mine"' in html
    assert not Snapshot.objects.exists()


def test_an_empty_upload_says_what_to_do(owner: Person) -> None:
    response = owner.client.post("/snapshots/new", {})
    assert response.status_code == 400
    assert "Choose a file, or paste text." in response.content.decode()


def test_a_bad_configuration_is_shown_at_its_line(owner: Person) -> None:
    snapshot = owner.snapshot()
    response = owner.client.post(
        "/runs/new", {"snapshot": snapshot.pk, "scheduler_config": BAD_CONFIG, "seed": "7"}
    )
    html = response.content.decode()
    assert response.status_code == 400
    assert 'href="#config-line-8"' in html
    assert 'id="config-line-8" class="is-bad"' in html
    assert "NoSuchPlugin" in html
    assert 'value="7"' in html
    assert not Run.objects.exists()


def test_a_bad_scenario_is_shown_at_its_line(owner: Person) -> None:
    scenario = "steps:\n- at: 10s\n  drain: south\n- at: soon\n  drain: north\n"
    response = owner.client.post(
        "/runs/new", {"snapshot": owner.snapshot().pk, "scenario": scenario}
    )
    html = response.content.decode()
    assert response.status_code == 400
    assert 'id="scenario-line-4" class="is-bad"' in html
    assert not Run.objects.exists()


@pytest.mark.parametrize("seed", ["-1", "many", str(2**70)])
def test_a_bad_seed_is_refused(owner: Person, seed: str) -> None:
    snapshot = owner.snapshot()
    response = owner.client.post("/runs/new", {"snapshot": snapshot.pk, "seed": seed})
    assert response.status_code == 400
    assert not Run.objects.exists()


def test_the_message_of_another_cluster_can_be_decoded(owner: Person) -> None:
    run = owner.finished(CLUSTER)
    address = reverse("run-why", args=[run.pk, "shop", "giant"])
    message = "0/9 nodes are available: 9 node(s) had untolerated taint(s)."
    html = owner.client.get(address, {"message": message}).content.decode()
    assert "Your message, decoded" in html
    assert "TaintToleration" in html
    nonsense = owner.client.get(address, {"message": "please"}).content.decode()
    assert "This is not a message of the form" in nonsense


def test_what_the_engine_does_not_do_is_said_on_the_cluster(owner: Person) -> None:
    grouped = pod("grouped", schedulingGroup="{podGroupName: gang}")
    address = f"/snapshots/{owner.snapshot(CLUSTER + grouped).pk}"
    html = owner.client.get(address).content.decode()
    assert "Not modelled: scheduling groups" in html
    assert "Runs follow Kubernetes v1.37.2 (nothing says which" in html


def test_a_shared_run_can_be_read_but_not_changed(owner: Person, ada: Person) -> None:
    from kviz.runs.sharing import run_share

    run = ada.finished(CLUSTER)
    token = run_share(run=run).token
    html = owner.client.get(f"/runs/{run.pk}?share={token}").content.decode()
    assert "Delete this run" not in html
    inside = [link for link in Page(html).links if link.startswith(f"/runs/{run.pk}")]
    assert inside
    assert all(f"share={token}" in link for link in inside)
    assert owner.client.post(f"/runs/{run.pk}/delete?share={token}").status_code == 404


def test_a_run_can_be_paused_and_resumed_from_its_page(owner: Person) -> None:
    run = owner.queued(CLUSTER)
    paused = owner.client.post(f"/runs/{run.pk}/pause", follow=True).content.decode()
    assert "Paused" in paused
    assert f"/runs/{run.pk}/resume" in paused
    going_on = owner.client.post(f"/runs/{run.pk}/resume", follow=True).content.decode()
    assert "Waiting for a worker" in going_on
    assert f"/runs/{run.pk}/pause" in going_on


def test_a_run_can_be_stopped_and_deleted_from_its_page(owner: Person) -> None:
    run = owner.queued(CLUSTER)
    html = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert "Waiting for a worker" in html
    owner.client.post(f"/runs/{run.pk}/cancel")
    run.refresh_from_db()
    assert run.status == "cancelled"
    owner.client.post(f"/runs/{run.pk}/delete")
    assert not Run.objects.exists()


def test_a_cluster_is_deleted_with_its_runs(owner: Person) -> None:
    run = owner.finished(CLUSTER)
    owner.client.post(f"/snapshots/{run.snapshot_id}/delete")
    assert not Snapshot.objects.exists()
    assert not Run.objects.exists()


@pytest.mark.parametrize("address", ["/nowhere", "/plugins/NoSuchPlugin", "/runs/1/why"])
def test_addresses_that_lead_nowhere_say_so(owner: Person, address: str) -> None:
    response = owner.client.get(address)
    assert response.status_code == 404
    assert "Back to the start" in response.content.decode()


def test_odd_queries_do_no_harm(owner: Person) -> None:
    run = owner.finished(CLUSTER)
    for query in ("c=99999", "c=-1", "c=x", "c=" + "9" * 50, "kind=zzz&after=-3&pod=x"):
        assert owner.client.get(f"/runs/{run.pk}/explore?{query}").status_code == 200
        assert owner.client.get(f"/runs/{run.pk}/cycles?{query}").status_code == 200


def test_pods_still_to_be_tried_are_not_said_to_lack_a_profile(owner: Person) -> None:
    run = owner.queued(crowd(2 * MAX_CYCLES) + pod("foreign", schedulerName="other"))

    def paused(run: Run) -> Iterator[AnyEvent]:
        for event in simulate_run(run):
            if isinstance(event, CycleStarted) and event.cycle == MAX_CYCLES + 2:
                assert run_pause(run=run)
            yield event

    execute(worker="w", engine=paused)
    run.refresh_from_db()
    assert findings(run=run).n_pending == run.pending
    html = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert html.count(f"{run.pending:,} pending") == 1
    untried, foreign = html.split("still in the active queue")[1].split(
        "a scheduler that no profile"
    )
    assert f"{MAX_CYCLES} pods" in untried
    assert "shop/foreign" in foreign
    assert 'data-bound-before="0"' in html
