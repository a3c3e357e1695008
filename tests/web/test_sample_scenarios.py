"""The run form offers the sample scenarios, and says where one cannot be played."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from kviz.runs import selectors
from kviz.runs.models import Run
from kviz.runs.presets import SAMPLE_SCENARIOS, SampleScenario, sample_text, scenario_meant
from kviz.runs.scenario_fit import misfits
from kviz.snapshots.samples import SAMPLES
from scheduler_core.sim import RunOptions, load_scenario, simulate
from scheduler_core.trace.events import Bound, PodAdded, PodEvicted, ScenarioStepped
from tests.web.cast import CLUSTER, NODES, Person, execute, pod
from tests.web.test_sample_lessons import objects_of

CLUSTERS = [sample.slug for sample in SAMPLES]
TAKEN = CLUSTER.replace("north", "rack-2")


def played(sample: SampleScenario, cluster: str) -> tuple[Counter[str], int, list[str]]:
    """Which pods were bound, how many evicted, and what the flags say; no step is refused."""
    objects = objects_of(cluster) if cluster else ()
    trace = list(simulate(objects, RunOptions(scenario=load_scenario(sample.text))))  # type: ignore[arg-type]
    names = {event.pod: event.name for event in trace if isinstance(event, PodAdded)}
    bound = Counter(names[event.pod] for event in trace if isinstance(event, Bound))
    n_evicted = sum(isinstance(event, PodEvicted) for event in trace)
    steps = [event for event in trace if isinstance(event, ScenarioStepped)]
    assert [step.text for step in steps if step.refused] == [], cluster
    return bound, n_evicted, [step.text for step in steps]


@pytest.mark.parametrize("sample", SAMPLE_SCENARIOS, ids=lambda sample: sample.slug)
def test_a_sample_tells_its_story_in_the_clusters_it_fits(sample: SampleScenario) -> None:
    bound, n_evicted, flags = played(sample, "")
    for cluster in sample.fits:
        there = played(sample, cluster)
        assert bound <= there[0], cluster
        assert there[1:] == (n_evicted, flags), cluster


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_samples_can_be_played_in_every_sample_cluster(cluster: str) -> None:
    objects = objects_of(cluster)
    assert [s.slug for s in SAMPLE_SCENARIOS if misfits(s.text, objects)] == []  # type: ignore[arg-type]


def test_the_form_describes_each_sample_and_names_its_clusters(owner: Person) -> None:
    html = owner.client.get("/runs/new").content.decode()
    for sample in SAMPLE_SCENARIOS:
        clusters = " · ".join(map(str, sample.clusters))
        assert f"{sample.title}: {sample.shows}</option>" in html
        assert f"<li>{sample.title}: {clusters}</li>" in html


def test_a_chosen_sample_is_used_while_the_editor_is_empty(owner: Person) -> None:
    fields = {"snapshot": owner.snapshot().pk, "sample": "gates-lifted", "scenario": " "}
    assert owner.client.post("/runs/new", fields).status_code == 302
    assert Run.objects.get().scenario == sample_text("gates-lifted")


def test_what_was_written_counts_more_than_the_sample() -> None:
    assert scenario_meant("steps: []", "gates-lifted") == "steps: []"
    sent = sample_text("node-failure").replace("\n", "\r\n")
    assert scenario_meant(sent, "gates-lifted") == sample_text("gates-lifted")
    assert scenario_meant(sent, "") == sent


def test_a_sample_that_cannot_apply_is_refused_at_its_line(owner: Person) -> None:
    fields = {"snapshot": owner.snapshot(TAKEN).pk, "sample": "node-failure"}
    response = owner.client.post("/runs/new", fields)
    html = response.content.decode()
    assert response.status_code == 400
    assert "Node rack-2 already exists in this cluster" in html
    assert 'class="is-bad"' in html
    assert re.search('<option value="node-failure" [^>]*selected>', html)
    assert not Run.objects.exists()


def test_the_line_is_that_of_the_file_not_that_of_the_time(owner: Person) -> None:
    text = "steps:\n- {at: 9s, drain: nowhere}\n- {at: 1s, cordon: south}\n"
    fields = {"snapshot": owner.snapshot().pk, "sample": "node-failure", "scenario": text}
    html = owner.client.post("/runs/new", fields).content.decode()
    assert 'id="scenario-line-2" class="is-bad"' in html
    assert 'id="scenario-line-3" class="is-bad"' not in html


def test_a_scenario_of_ones_own_runs_and_its_page_says_what_was_refused(owner: Person) -> None:
    text = "steps:\n- {at: 1s, drain: nowhere}\n- {at: 20s, drain: north}\n"
    owner.client.post("/runs/new", {"snapshot": owner.snapshot().pk, "scenario": text})
    run = execute(worker="test")
    html = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert "One step of the scenario could not be carried out" in html
    assert "Drain node nowhere: there is none" in html
    assert "evicted by a drain or taint" in html
    why = owner.client.get(f"/runs/{run.pk}/pods/shop/old/why").content.decode()
    assert "It was evicted by a drain or taint." in why


def test_a_pod_evicted_before_the_first_cycle_was_evicted_not_deleted(owner: Person) -> None:
    only_old = NODES + pod("old", nodeName="north")
    run = owner.finished(only_old, scenario="steps:\n- {at: 1s, drain: north}\n")
    assert run.cycles == 0
    why = owner.client.get(f"/runs/{run.pk}/pods/shop/old/why").content.decode()
    assert "It was evicted by a drain or taint." in why
    assert [pod.pod for pod in selectors.pods_evicted(run=run)] == ["shop/old"]
