"""kviz's own plugin on the pages: the sample that needs it, the form, the run, the reference."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kviz.cli import main
from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot
from kviz.snapshots.samples import GANGS
from kviz.snapshots.services import samples_load
from tests.web.cast import Person, execute


@pytest.fixture
def snapshot(db: None) -> Snapshot:
    samples_load()
    return Snapshot.objects.get(name="gangs")


def html_of(person: Person, address: str) -> str:
    response = person.client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def hidden_inputs(html: str, of: str) -> dict[str, str]:
    """What the form that runs a snapshot posts."""
    forms = re.findall(r'<form[^>]* action="/runs/new".*?</form>', html, re.DOTALL)
    (form,) = (form for form in forms if of in form)
    fields = re.findall(r'type="hidden" name="(\w+)" value="(.*?)"', form, re.DOTALL)
    return {name: unescape(value) for name, value in fields}


@pytest.mark.parametrize("address", ["/", "/teach", "/snapshots/{}"])
def test_the_sample_runs_with_what_it_brings(
    owner: Person, snapshot: Snapshot, address: str
) -> None:
    html = html_of(owner, address.format(snapshot.pk))
    posted = hidden_inputs(html, str(snapshot.pk))
    assert owner.client.post("/runs/new", posted).status_code == 302
    run = execute(worker="test")
    run.refresh_from_db()
    assert (run.status, run.pending, run.scenario) == (Run.Status.FINISHED, 0, GANGS.scenario)
    page = html_of(owner, f"/runs/{run.pk}")
    assert "Runs plugin TeachingGang, kviz's own for teaching" in page
    rest = owner.get(f"/runs/{run.pk}/").json()
    assert [plugin["package"] for plugin in rest["out_of_tree_plugins"]] == ["kviz"]


def test_waits_on_permit_and_binding_are_measured_in_virtual_time(
    owner: Person, snapshot: Snapshot
) -> None:
    posted = hidden_inputs(html_of(owner, f"/snapshots/{snapshot.pk}"), str(snapshot.pk))
    assert owner.client.post("/runs/new", posted).status_code == 302
    run = execute(worker="test")
    text = owner.get(f"/runs/{run.pk}/metrics/").content.decode()
    assert "No virtual time passes within a scheduling cycle" in text
    found = {
        (sample.name, sample.labels.get("result", sample.labels.get("extension_point"))): sample
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    wait, point = "scheduler_permit_wait", "scheduler_framework_extension_point"
    assert found[f"{wait}_duration_seconds_count", "Unschedulable"].value > 0
    assert found[f"{wait}_duration_seconds_sum", "Unschedulable"].value > 10
    assert found[f"{wait}_duration_seconds_count", "Success"].value > 0
    bound = run.cycle_rows.filter(result="scheduled").count()
    assert found[f"{point}_duration_seconds_count", "Bind"].value == bound
    assert found[f"{point}_duration_seconds_sum", "Bind"].value > 0
    assert found[f"{point}_duration_seconds_sum", "PreBind"].value == 0


def test_rest_and_the_command_line_say_how_each_cycle_ended(
    owner: Person, snapshot: Snapshot, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "sample:gangs", "--format", "json"]) == 0
    printed = [each["result"] for each in json.loads(capsys.readouterr().out)["cycles"]]
    assert printed.count("waiting") == 0, "nobody waits any more"

    created = owner.post("/runs/", {"snapshot": str(snapshot.pk)})
    assert (created.status_code, created.json()["warnings"]) == (201, [])
    run = execute(worker="test")
    rows = owner.get(f"/runs/{run.pk}/cycles/?limit=50").json()["cycles"]
    assert [row["result"] for row in rows] == printed
    documents = [owner.get(f"/runs/{run.pk}/cycles/{row['cycle']}/").json() for row in rows]
    assert [document["result"] for document in documents] == printed


def test_rest_says_what_of_the_sample_is_not_used(owner: Person, snapshot: Snapshot) -> None:
    body = {"snapshot": str(snapshot.pk), "scheduler_config": ""}
    created = owner.post("/runs/", body).json()
    assert [each["field"] for each in created["warnings"]] == ["scheduler_config"]
    run = Run.objects.get(pk=created["id"])
    assert (run.scheduler_config, run.scenario) == ("", GANGS.scenario)


def test_the_form_starts_with_what_the_sample_brings(owner: Person, snapshot: Snapshot) -> None:
    html = unescape(html_of(owner, f"/runs/new?snapshot={snapshot.pk}"))
    assert GANGS.scheduler_config in html
    assert GANGS.scenario in html


def test_a_preset_goes_before_what_the_sample_brings(owner: Person, snapshot: Snapshot) -> None:
    html = unescape(html_of(owner, f"/runs/new?snapshot={snapshot.pk}&preset=no-preemption"))
    (config,) = re.findall(r'<textarea id="scheduler_config".*?>(.*?)</textarea>', html, re.DOTALL)
    assert "DefaultPreemption" in config
    assert "TeachingGang" not in config


def test_a_shared_server_runs_it(owner: Person, snapshot: Snapshot, settings: Any) -> None:
    settings.ALLOWED_PLUGINS = []
    body = {"snapshot": str(snapshot.pk), "scheduler_config": GANGS.scheduler_config}
    assert owner.post("/runs/", body).status_code == 201


def test_the_reference_says_whose_it_is(owner: Person) -> None:
    assert "/plugins/TeachingGang" in html_of(owner, "/plugins/")
    page = html_of(owner, "/plugins/TeachingGang")
    assert "none: kviz's own plugin, for teaching" in page
    assert "kubernetes v1.36, pkg" not in page
