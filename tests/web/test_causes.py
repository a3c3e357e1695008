"""The cause of pending pods, with values, on a run's page, on the why page and over REST."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kviz.runs.execution.causes import causes_store
from kviz.runs.models import PodOutcome, Run
from kviz.runs.reading.evidence import lead_of_outcome
from kviz.runs.reading.findings import pending_causes
from tests.web.cast import CLUSTER, NODES, Person, pod
from tests.web.test_also import PICKY

OWNED = "ownerReferences: [{kind: ReplicaSet, name: web, uid: u, controller: true}]"


def replica(name: str) -> str:
    return pod(name, "64").replace("metadata: {", f"metadata: {{{OWNED}, ", 1)


@pytest.fixture
def run(owner: Person) -> Run:
    gated = pod("gated", "1", schedulingGates="[{name: quota}]")
    other = pod("other", "1", schedulerName="elsewhere")
    return owner.finished(CLUSTER + PICKY + replica("web-0") + replica("web-1") + gated + other)


def outcome(run: Run, name: str) -> PodOutcome:
    return run.pod_outcomes.get(pod=f"shop/{name}")


def sentence_of(pod: PodOutcome) -> str:
    lead = lead_of_outcome(pod)
    assert lead is not None
    return lead.sentence


def test_a_finished_run_has_them(run: Run) -> None:
    picky, first, second = (outcome(run, name) for name in ("picky", "web-0", "web-1"))
    assert sentence_of(picky) == "selects nodes with disk=ssd, the node has no label disk"
    assert picky.owner == ""
    assert first.owner == second.owner == "ReplicaSet/web"
    assert first.lead == second.lead
    assert first.lead is not None
    assert first.lead["plugin"] == "NodeResourcesFit"
    other = outcome(run, "other")
    assert sentence_of(other) == "asks for scheduler elsewhere, which no profile here has"
    gated = outcome(run, "gated")
    assert sentence_of(gated) == "is held back by the scheduling gate quota"


def page_of(owner: Person, run: Run) -> str:
    return owner.client.get(f"/runs/{run.pk}").content.decode()


def headline(page: str) -> str:
    found: list[str] = re.findall("<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
    return found[0]


def test_the_page_begins_with_what_became_of_the_pods_and_one_table_of_causes(
    owner: Person,
) -> None:
    page = page_of(owner, owner.finished(CLUSTER + PICKY))
    assert headline(page) == (
        "4 of 7 waiting pods got a node; 3 stay pending, each for a different cause."
    )
    assert page.count('<table class="causes"') == 1
    kinds = re.findall('scope="rowgroup"[^>]*>([^·]*) · ([^<]*)<', page)
    assert kinds == [("Every node rejects the pod", "2 pods"), ("Never attempted", "1 pod")]
    assert "selects nodes with disk=ssd, the node has no label disk" in page
    assert "needs 64 cpu, the whole node has" in page
    assert page.count('class="strip__pod strip__pod--scheduled"') == 4


def test_pods_of_one_owner_are_one_group_on_the_runs_page(owner: Person, run: Run) -> None:
    page = page_of(owner, run)
    assert page.count("selects nodes with disk=ssd, the node has no label disk") == 1
    assert page.count("needs 64 cpu, the whole node has") == 2
    assert page.count("of ReplicaSet/web<") == 1
    assert "is held back by the scheduling gate quota" in page


CREATED = """
steps:
- at: 1s
  create:
    apiVersion: v1
    kind: Pod
    metadata:
      name: batch
      namespace: shop
      ownerReferences: [{apiVersion: batch/v1, kind: Job, name: batch, uid: b, controller: true}]
    spec: {containers: [{name: main, resources: {requests: {cpu: 48}}}]}
  copies: 3
"""


def test_pods_that_a_scenario_created_are_one_group_with_their_owner(owner: Person) -> None:
    run = owner.finished(CLUSTER + PICKY, scenario=CREATED)
    page = page_of(owner, run)
    assert headline(page).endswith(", 3 of them for one cause.")
    assert page.count("of Job/batch<") == 1
    assert f"/runs/{run.pk}/pods/shop/batch-1/why" in page


def test_without_values_a_cause_is_what_most_nodes_say(owner: Person, run: Run) -> None:
    run.pod_outcomes.update(lead=None)
    assert "2 of 2 nodes: Insufficient cpu" in page_of(owner, run)


@pytest.mark.parametrize(
    ("plugin", "says"),
    [
        ("NodeResourcesFit", "1 of 2 nodes: Insufficient cpu"),
        ("NodeAffinity", "1 of 2 nodes: didn't match Pod's node affinity/selector"),
    ],
)
def test_without_values_a_plugin_stands_beside_its_own_reason(
    run: Run, plugin: str, says: str
) -> None:
    of_both = "1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector"
    run.pod_outcomes.update(lead=None)
    run.cycle_rows.update(first_cause=plugin, message=f"0/2 nodes are available: {of_both}.")
    told = {(each.plugin, each.sentence) for each in pending_causes(run=run) if each.sentence}
    assert told == {(plugin, says)}


def test_causes_that_are_still_looked_for_are_put_in_place_when_they_come(
    owner: Person, run: Run
) -> None:
    def page() -> str:
        return owner.client.get(f"/runs/{run.pk}").content.decode()

    expected = "data-causes-expected"
    assert expected not in page()
    run.pod_outcomes.update(lead=None)
    assert expected in page()
    assert page().count("data-causes=") == 2
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(minutes=2))
    assert expected not in page()


def test_the_why_page_leads_with_the_cause(owner: Person, run: Run) -> None:
    page = owner.client.get(f"/runs/{run.pk}/pods/shop/picky/why").content.decode()
    assert headline(page).startswith("picky selects nodes with disk=ssd, the node has no label")
    assert len(headline(page)) <= 120
    assert page.index('id="nodes"') < page.index('id="funnel"') < page.index('id="message"')
    [row] = re.findall("<tr>.*?</tr>", page[page.index('id="nodes"') :], re.DOTALL)[1:2]
    assert "2 nodes" in row
    assert "selects nodes with disk=ssd, the node has no label disk" in row
    page = owner.client.get(f"/runs/{run.pk}/pods/shop/web-1/why").content.decode()
    assert "A pod of ReplicaSet/web." in page


def test_over_rest(owner: Person, run: Run) -> None:
    document = owner.get(f"/runs/{run.pk}/pods/shop/web-1/why/").json()
    assert document["owner"] == "ReplicaSet/web"
    assert document["lead"]["plugin"] == "NodeResourcesFit"


def test_a_run_without_them_works_them_out_for_the_page(owner: Person, run: Run) -> None:
    run.pod_outcomes.update(lead=None)
    page = owner.client.get(f"/runs/{run.pk}/pods/shop/picky/why").content.decode()
    assert "selects nodes with disk=ssd" in headline(page)
    assert "selects nodes" not in page_of(owner, run)


def test_a_run_that_is_too_long_to_simulate_again(owner: Person, settings: Any) -> None:
    settings.MAX_REENACTED_CYCLES = 0
    run = owner.finished(CLUSTER + PICKY)
    assert outcome(run, "picky").lead is None
    page = owner.client.get(f"/runs/{run.pk}/pods/shop/picky/why").content.decode()
    assert headline(page) == "Why picky is pending"


def test_what_cannot_be_simulated_again_keeps_what_it_has(run: Run) -> None:
    before = outcome(run, "picky").lead
    run.scheduler_config = "no configuration at all"
    causes_store(run=run)
    assert outcome(run, "picky").lead == before


def test_nothing_is_pending(owner: Person) -> None:
    run = owner.finished(NODES + pod("small", "1"))
    causes_store(run=run)
    assert outcome(run, "small").lead is None
