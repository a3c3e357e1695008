"""The cause of pending pods, with values, on a run's page, on the why page and over REST."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kviz.runs.execution.causes import causes_store
from kviz.runs.models import PodOutcome, Run
from kviz.runs.reading.evidence import lead_of_outcome
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


def test_few_pods_with_a_cause_each_are_said_at_once(owner: Person) -> None:
    run = owner.finished(CLUSTER + PICKY)
    page = owner.client.get(f"/runs/{run.pk}").content.decode()
    first = page.split('<ul class="cause-first">')[1].split("</ul>")[0]
    assert first.count("<li>") == 3
    assert ">shop/picky</a> selects nodes with disk=ssd, the node has no label disk" in first
    assert ">shop/giant</a> needs 64 cpu, the whole node has" in first


def test_pods_of_one_owner_are_one_group_on_the_runs_page(owner: Person, run: Run) -> None:
    page = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert page.count("selects nodes with disk=ssd, the node has no label disk") == 1
    assert page.count("needs 64 cpu, the whole node has") >= 1
    assert page.count("Pods of ReplicaSet/web:") == 1
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
    page = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert page.count("Pods of Job/batch:") == 1
    lead = page.split('class="cause-first"', 1)[1].split("</p>", 1)[0]
    assert "The main cause, for 3 of them: each needs 48 cpu" in lead
    assert f"/runs/{run.pk}/pods/shop/batch-1/why" in lead


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


def test_of_causes_that_weigh_the_same_none_is_picked(owner: Person) -> None:
    other = pod("other", "1", schedulerName="elsewhere")
    run = owner.finished(CLUSTER + PICKY + other)
    page = owner.client.get(f"/runs/{run.pk}").content.decode()
    lead = page.split('class="cause-first"', 1)[1].split("</p>", 1)[0]
    assert "4 causes of 1 pod each." in lead
    assert 'href="#pending"' in lead
    assert "Why is" not in lead


def test_the_why_page_leads_with_the_cause(owner: Person, run: Run) -> None:
    page = owner.client.get(f"/runs/{run.pk}/pods/shop/picky/why").content.decode()
    assert 'leading__sentence"><span class="mono">picky</span> selects nodes with disk=ssd' in page
    assert page.index("leading__sentence") < page.index('id="funnel"') < page.index('id="message"')
    page = owner.client.get(f"/runs/{run.pk}/pods/shop/web-1/why").content.decode()
    assert "A pod of ReplicaSet/web." in page


def test_over_rest(owner: Person, run: Run) -> None:
    document = owner.get(f"/runs/{run.pk}/pods/shop/web-1/why/").json()
    assert document["owner"] == "ReplicaSet/web"
    assert document["lead"]["plugin"] == "NodeResourcesFit"


def test_a_run_without_them_works_them_out_for_the_page(owner: Person, run: Run) -> None:
    run.pod_outcomes.update(lead=None)
    page = owner.client.get(f"/runs/{run.pk}/pods/shop/picky/why").content.decode()
    assert "leading__sentence" in page
    assert "leading__sentence" not in owner.client.get(f"/runs/{run.pk}").content.decode()


def test_a_run_that_is_too_long_to_simulate_again(owner: Person, settings: Any) -> None:
    settings.MAX_REENACTED_CYCLES = 0
    run = owner.finished(CLUSTER + PICKY)
    assert outcome(run, "picky").lead is None
    page = owner.client.get(f"/runs/{run.pk}/pods/shop/picky/why").content.decode()
    assert "leading__sentence" not in page


def test_what_cannot_be_simulated_again_keeps_what_it_has(run: Run) -> None:
    before = outcome(run, "picky").lead
    run.scheduler_config = "no configuration at all"
    causes_store(run=run)
    assert outcome(run, "picky").lead == before


def test_nothing_is_pending(owner: Person) -> None:
    run = owner.finished(NODES + pod("small", "1"))
    causes_store(run=run)
    assert outcome(run, "small").lead is None
