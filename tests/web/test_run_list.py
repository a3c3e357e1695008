"""The list of runs says what each was made of, and a run has a name that can be changed."""

from __future__ import annotations

import re
from html import unescape

import pytest

from kviz.runs.models import Run
from kviz.runs.presets import PRESETS, SAMPLE_SCENARIOS
from tests.web.cast import CLUSTER, NODES, Person, pod

OWN = "description: A pod too many\nsteps: []\n"


def row(owner: Person) -> list[str]:
    """The cells of the only run: run, cluster, scenario, configuration."""
    html = owner.client.get("/runs/").content.decode()
    (body,) = re.findall(r"<tbody>(.*?)</tbody>", html, re.DOTALL)
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", body, re.DOTALL)
    return [unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in cells[:4]]


def test_a_run_of_nothing_special(owner: Person) -> None:
    owner.queued(CLUSTER)
    assert row(owner) == ["cluster", "cluster", "", "Default profile"]


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["as written", "as browsers send it"])
def test_presets_and_samples_are_named_by_their_titles(owner: Person, ends: str) -> None:
    preset, sample = PRESETS[1], SAMPLE_SCENARIOS[0]
    owner.queued(
        CLUSTER,
        scheduler_config=preset.text.replace("\n", ends),
        scenario=sample.text.replace("\n", ends),
    )
    assert row(owner)[2:] == [str(sample.title), str(preset.title)]


def test_what_is_of_ones_own_says_so(owner: Person) -> None:
    config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    owner.queued(CLUSTER, scheduler_config=config, scenario=OWN)
    assert row(owner)[2:] == ["A pod too many", "own"]


def test_a_scenario_that_says_nothing_of_itself(owner: Person) -> None:
    run = owner.queued(CLUSTER, scenario="steps: []\n")
    assert row(owner)[2] == "own"
    Run.objects.filter(pk=run.pk).update(scenario="no longer: readable")
    assert row(owner)[2] == "own"


def test_a_run_can_be_renamed_by_its_owner_only(owner: Person, ada: Person) -> None:
    run, other = owner.queued(CLUSTER), ada.queued(CLUSTER)
    name = "  before the upgrade " + "x" * 300
    assert owner.client.post(f"/runs/{run.pk}/rename", {"name": name}).status_code == 302
    run.refresh_from_db()
    assert run.name == name.strip()[:200]
    assert row(owner)[0] == run.name
    owner.client.post(f"/runs/{run.pk}/rename", {"name": ""})
    assert row(owner)[0] == "cluster"
    assert owner.client.post(f"/runs/{other.pk}/rename", {"name": "mine"}).status_code == 404


def test_the_page_of_a_run_leads_with_its_main_cause(owner: Person) -> None:
    run = owner.finished(NODES + pod("giant", "64"))
    html = owner.client.get(f"/runs/{run.pk}").content.decode()
    lead = html[html.index('class="lede"') : html.index('class="stats"')]
    assert "1 pod is pending; 0 scheduled." in lead
    assert "The cause: it needs 64 cpu, the whole node has" in lead
    assert f'href="/runs/{run.pk}/pods/shop/giant/why"' in lead


def test_ties_are_folded(owner: Person) -> None:
    twins = NODES.replace('cpu: "2"', 'cpu: "4"') + pod("web")
    run = owner.finished(twins)
    html = owner.client.get(f"/runs/{run.pk}").content.decode()
    ties = html[html.index('<h2 id="ties"') :]
    assert ties.index("<details") < ties.index("<table") < ties.index("</details>")
