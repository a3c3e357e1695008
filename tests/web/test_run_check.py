"""A run's inputs are checked line by line while they are written, and no run is made."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast

import pytest
from django.test import Client

from kviz.runs.models import Run
from kviz.runs.presets import EXAMPLE_SCENARIO, PRESETS, STEP_PRESETS
from scheduler_core.sim import load_scenario

pytestmark = pytest.mark.django_db

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: a
  percentage: 3
"""


def checked(client: Client, **texts: object) -> dict[str, list[dict[str, object]]]:
    answer = client.post("/api/v1/runs/check/", texts, content_type="application/json")
    assert answer.status_code == HTTPStatus.OK, answer.content
    found: dict[str, list[dict[str, object]]] = answer.json()
    assert not Run.objects.exists()
    return found


def test_nothing_is_wrong_with_nothing(client: Client) -> None:
    found = checked(client)
    assert (found["problems"], found["warnings"], found["steps"]) == ([], [], [])


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.slug)
def test_presets_are_fine(client: Client, preset: object) -> None:
    assert checked(client, scheduler_config=getattr(preset, "text", ""))["problems"] == []


def test_problems_stand_at_their_lines(client: Client) -> None:
    found = checked(client, scheduler_config=CONFIG, scenario="steps:\n- at: 1s\n  dran: a\n")
    lines = {(each["field"], each["line"]) for each in found["problems"]}
    assert lines == {("scheduler_config", 5), ("scenario", 3)} or lines == {
        ("scheduler_config", 5),
        ("scenario", 3),
        ("scenario", 2),
    }
    assert found["steps"] == []


def test_steps_are_told_in_order_of_time(client: Client) -> None:
    scenario = "steps:\n- at: 20s\n  cordon: b\n- at: 1s\n  note: first\n  drain: a\n"
    assert checked(client, scenario=scenario)["steps"] == [
        {"place": 1, "at_ns": 10**9, "sentence": "drain node a", "note": "first", "line": 4},
        {"place": 0, "at_ns": 20 * 10**9, "sentence": "cordon node b", "note": "", "line": 2},
    ]
    assert len(checked(client, scenario=EXAMPLE_SCENARIO)["steps"]) > 1


def test_an_extender_that_may_not_be_called_is_a_warning(client: Client) -> None:
    config = CONFIG.replace("  percentage: 3\n", "extenders:\n- urlPrefix: http://elsewhere/x\n")
    found = checked(client, scheduler_config=config + "  filterVerb: f\n")
    assert found["problems"] == []
    assert [each["line"] for each in found["warnings"]] == [6]


def test_what_a_configuration_comes_to_is_told_plugin_by_plugin(client: Client) -> None:
    weights = CONFIG.replace("  percentage: 3\n", "  percentageOfNodesToScore: 7\n  plugins:\n") + (
        "    score:\n      enabled: [{name: NodeAffinity, weight: 5}]\n"
        "      disabled: [{name: ImageLocality}]\n"
    )
    (profile,) = checked(client, scheduler_config=weights)["profiles"]
    assert profile["scheduler_name"] == "a"
    assert profile["percentage_of_nodes_to_score"] == 7
    assert profile["scoring_strategy"] == "LeastAllocated"
    assert profile["default_spreading"] == "System"
    plugins = {each["name"]: each for each in cast("list[dict[str, object]]", profile["plugins"])}
    assert plugins["NodeAffinity"]["weight"] == 5
    assert plugins["NodeAffinity"]["points"] == plugins["NodeAffinity"]["implements"]
    assert plugins["ImageLocality"] == {
        "name": "ImageLocality",
        "implements": ["Score"],
        "points": [],
        "weight": None,
    }
    assert checked(client, scheduler_config=CONFIG)["profiles"] == []


def test_steps_to_begin_with_can_be_read() -> None:
    for preset in STEP_PRESETS:
        assert len(load_scenario(f"steps:\n{preset.text}").steps) == 1


def test_who_has_no_token_and_no_session_may_not_ask(client: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/api/v1/runs/check/", {}, content_type="application/json")
    assert answer.status_code == HTTPStatus.FORBIDDEN


PANIC = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {extendedResourceName: example.com/gpu, selectors: [{cel: {expression: "true"}}]}
"""
WEIGHED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesBalancedAllocation
    args: {resources: [{name: cpu, weight: 1}, {name: example.com/gpu, weight: 1}]}
"""


def test_a_panic_that_the_cluster_would_lead_into_is_told_while_one_writes(client: Client) -> None:
    cluster = snapshot_of(client, PANIC)
    about = {"snapshot": cluster, "release": "1.36.2"}
    (warning,) = checked(client, scheduler_config=WEIGHED, **about)["warnings"]
    assert "example.com/gpu, DeviceClass gpu: kube-scheduler ends in a panic" in str(warning)
    assert checked(client, scheduler_config=WEIGHED, release="1.36.2")["warnings"] == []
    assert checked(client, **about)["warnings"] == []


def test_the_form_of_a_run_tells_the_panic_and_lets_one_go_on(client: Client) -> None:
    values = {
        "snapshot": snapshot_of(client, PANIC),
        "scheduler_config": WEIGHED,
        "release": "auto",
    }
    values["release"] = "1.36.2"
    told = client.post("/runs/new", values)
    assert told.status_code == HTTPStatus.OK
    assert "kube-scheduler ends in a panic" in told.content.decode()
    assert client.post("/runs/new", values | {"all_the_same": "1"}).status_code == HTTPStatus.FOUND


def snapshot_of(client: Client, text: str) -> str:
    answer = client.post("/api/v1/snapshots/", text, content_type="application/yaml")
    assert answer.status_code == HTTPStatus.CREATED, answer.content
    found: str = answer.json()["id"]
    return found
