"""What may be chosen for a run beside its texts: release, gates, the rule for ties, queue order."""

from __future__ import annotations

import re
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from kviz.run_file import MEDIA_TYPE, Inputs, encoded, read_records
from kviz.runs.models import Run
from kviz.runs.portable.saved import pieces
from kviz.snapshots.models import Snapshot
from scheduler_core.config.features import NOT_MODELLED, SWITCHABLE, switchable
from scheduler_core.releases import LATEST
from tests.web.cast import CLUSTER, NODES, Person, execute, pod, problem
from tests.web.test_csv import of as csv_of

NO_POD_LEVEL = {"PodLevelResources": False, "InPlacePodLevelResourcesVerticalScaling": False}
POD_LEVEL = NODES + pod("wide", "1", resources="{requests: {cpu: 64}}")
SCENARIO = "featureGates: {VolumeLimitScaling: true}\nsteps: []\n"
OPTIONS: dict[str, Any] = {
    "release": "1.36.2",
    "feature_gates": NO_POD_LEVEL,
    "tie_break": "draw",
    "seed": 9,
    "queue_order": "name",
    "scenario": SCENARIO,
}


def created(who: Person, snapshot: Snapshot, **wanted: Any) -> Run:
    response = who.post("/runs/", {"snapshot": str(snapshot.pk), **wanted})
    assert response.status_code == 201, response.json()
    return Run.objects.get(pk=response.json()["id"])


# ---------------------------------------------------------------- REST


def test_a_run_has_the_defaults_of_the_newest_release_where_nothing_says_which(ada: Person) -> None:
    run = created(ada, ada.snapshot())
    document = ada.get(f"/runs/{run.pk}/").json()
    assert (document["release"], document["feature_gates"]) == (LATEST.name, {})
    text = f"{LATEST.name} (nothing says which; the newest that kviz knows)"
    assert document["release_text"] == text
    assert (document["tie_break"], document["queue_order"]) == ("heap", "listed")


def test_gates_decide_what_the_scheduler_does(ada: Person) -> None:
    snapshot = ada.snapshot(POD_LEVEL)
    usual = created(ada, snapshot)
    switched = created(ada, snapshot, feature_gates=NO_POD_LEVEL, release="1.36.2")
    for run in (usual, switched):
        execute(worker="test")
        run.refresh_from_db()
    assert (usual.pending, switched.pending) == (1, 0)
    assert ada.get(f"/runs/{switched.pk}/").json()["feature_gates"] == NO_POD_LEVEL


def test_a_scenario_switches_gates_in_its_header(ada: Person) -> None:
    snapshot = ada.snapshot()
    run = created(ada, snapshot, scenario=SCENARIO)
    assert run.feature_gates == {"VolumeLimitScaling": True}
    asked = {"VolumeLimitScaling": False, "StorageCapacityScoring": True}
    run = created(ada, snapshot, scenario=SCENARIO, feature_gates=asked)
    assert run.feature_gates == asked


def test_gates_belong_to_the_configuration_that_is_checked(ada: Person) -> None:
    """A shape for scoring by capacity is refused without the gate, and accepted with it."""
    configuration = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: VolumeBinding
    args: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}
"""
    snapshot = ada.snapshot()
    wanted = {"snapshot": str(snapshot.pk), "scheduler_config": configuration, "release": "1.36"}
    refused = problem(ada.post("/runs/", wanted), 400)
    assert refused["errors"][0]["field"] == "scheduler_config"
    created(
        ada,
        snapshot,
        scheduler_config=configuration,
        release="1.36",
        feature_gates={"StorageCapacityScoring": True},
    )
    assert execute(worker="test").status == Run.Status.FINISHED


def test_a_minor_release_is_its_newest_patch(ada: Person) -> None:
    assert created(ada, ada.snapshot(), release="v1.36").release == "1.36.3"


@pytest.mark.parametrize(
    ("wanted", "field", "text"),
    [
        ({"feature_gates": {"Nope": True}}, "feature_gates", "unrecognized feature gate: Nope"),
        (
            {
                "release": "1.36",
                "feature_gates": {"GangScheduling": True, "GenericWorkload": True},
            },
            "feature_gates",
            "does not model pod groups",
        ),
        ({"scenario": "featureGates:\n  Nope: true\n"}, "scenario", "unrecognized feature gate"),
        ({"tie_break": "first"}, "tie_break", "not a valid choice"),
        ({"queue_order": "random"}, "queue_order", "not a valid choice"),
        (
            {"release": "1.2"},
            "release",
            "kviz knows no release '1.2'; it knows 1.36 (1.36.3), 1.37 (1.37.2) and 1.36.2, ",
        ),
    ],
)
def test_what_is_not_there_is_refused_by_name(
    ada: Person, wanted: dict[str, Any], field: str, text: str
) -> None:
    document = problem(ada.post("/runs/", {"snapshot": str(ada.snapshot().pk), **wanted}), 400)
    assert document["errors"][0]["field"] == field
    assert text in document["errors"][0]["message"]
    assert not Run.objects.exists()


def test_a_gate_in_a_scenario_is_refused_at_its_line(ada: Person) -> None:
    wanted = {
        "snapshot": str(ada.snapshot().pk),
        "scenario": "steps: []\nfeatureGates: {Nah: true}",
    }
    (error,) = problem(ada.post("/runs/", wanted), 400)["errors"]
    assert (error["path"], error["line"]) == ("featureGates.Nah", 2)


# ---------------------------------------------------------------- the form


def form_of(who: Person, **query: str) -> str:
    return unescape(who.client.get("/runs/new", query).content.decode())


def test_the_form_lists_the_gates_that_may_be_switched(owner: Person) -> None:
    html = form_of(owner)
    for name in switchable(LATEST):
        assert f'name="gate_{name}"' in html
        assert SWITCHABLE[name] in html
    assert not any(
        f'name="gate_{name}"' in html for name in NOT_MODELLED.keys() - switchable(LATEST)
    )
    assert 'name="gate_SidecarContainers"' not in html
    assert '<details class="gates">' in html


def test_the_form_makes_a_run(owner: Person) -> None:
    snapshot = owner.snapshot(CLUSTER)
    chosen = {
        "gate_PodLevelResources": "false",
        "gate_InPlacePodLevelResourcesVerticalScaling": "false",
        "gate_VolumeLimitScaling": "",
        "tie_break": "draw",
        "queue_order": "created",
        "release": "1.36.2",
        "seed": "5",
    }
    assert owner.client.post("/runs/new", {"snapshot": snapshot.pk, **chosen}).status_code == 302
    run = Run.objects.get()
    assert run.feature_gates == NO_POD_LEVEL
    assert (run.release, run.tie_break, run.seed) == ("1.36.2", "draw", 5)
    assert run.queue_order == "created"


def test_a_refused_gate_is_said_beside_the_gates(owner: Person) -> None:
    fields = {"snapshot": owner.snapshot().pk, "gate_PodLevelResources": "false"}
    response = owner.client.post("/runs/new", fields)
    html = unescape(response.content.decode())
    assert response.status_code == 400
    gates = html.split('<details class="gates" open>')[1].split("</details>")[0]
    assert "depends on features that are disabled: [PodLevelResources]" in gates
    kept = gates.split('id="gate_PodLevelResources"')[1].split("</select>")[0]
    assert '<option value="false" selected>' in kept
    assert not Run.objects.exists()


def test_what_bars_a_gate_from_being_off_stands_beside_it_and_can_be_switched(
    owner: Person,
) -> None:
    fields = {
        "snapshot": owner.snapshot(CLUSTER).pk,
        "gate_MatchLabelKeysInPodTopologySpread": "false",
    }
    barring = "MatchLabelKeysInPodTopologySpreadSelectorMerge"
    refused = owner.client.post("/runs/new", fields)
    html = unescape(refused.content.decode())
    assert refused.status_code == 400
    assert f"{barring} is enabled, but depends on features that are disabled" in html
    said = html.split(f'id="gate_{barring}-about">')[1].split("</p>")[0]
    assert (
        "When <code>MatchLabelKeysInPodTopologySpread</code> is off, this must be off, too" in said
    )
    made = owner.client.post("/runs/new", {**fields, f"gate_{barring}": "false"})
    assert made.status_code == 302


def test_running_it_differently_begins_with_how_it_was_run(owner: Person) -> None:
    configuration = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    run = owner.finished(scheduler_config=configuration, **OPTIONS)
    html = unescape(owner.client.get(f"/runs/{run.pk}/differently").content.decode())
    assert f'href="/runs/new?from={run.pk}"' in html

    form = form_of(owner, **{"from": str(run.pk)})
    assert configuration in form
    assert SCENARIO in form
    for field, value in {
        "snapshot": str(run.snapshot_id),
        "gate_PodLevelResources": "false",
        "gate_VolumeLimitScaling": "",
        "tie_break": "draw",
        "queue_order": "name",
    }.items():
        select = form.split(f'name="{field}"')[1].split("</select>")[0]
        assert f'<option value="{value}" selected' in select, field
    assert 'name="seed" type="number" min="0" step="1" inputmode="numeric" value="9"' in form


def test_what_is_folded_away_says_what_it_holds(owner: Person) -> None:
    assert held_in(form_of(owner)) == [
        "auto: as the cluster says",
        "Default profile",
        "none",
        "all at their defaults",
    ]
    assert held_in(form_of(owner, preset="no-preemption", sample="node-failure"))[1:3] == [
        "No preemption",
        "Node failure",
    ]
    mine = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    run = owner.finished(scheduler_config=mine, **OPTIONS)
    release, config, scenario, settings = held_in(form_of(owner, **{"from": str(run.pk)}))
    assert (release, config, scenario) == ("v1.36.2", "custom configuration", "custom scenario")
    assert settings.startswith("changed: ")
    assert {"Order of pending pods", "Among equal nodes", "Seed", "Feature gates"} <= set(
        settings.removeprefix("changed: ").split(", ")
    )


def held_in(form: str) -> list[str]:
    return re.findall(r'class="fold__holds"[^>]*>([^<]*)<', form)


@pytest.mark.parametrize("run", ["nonsense", "5b0d3c3e-0d2f-4a62-9f3c-0f5f0a2f6a11"])
def test_there_is_no_such_run_to_begin_with(owner: Person, run: str) -> None:
    assert owner.client.get("/runs/new", {"from": run}).status_code == 404


# ---------------------------------------------------------------- pages


def made_with(html: str) -> str:
    return " ".join(html.split('class="made-with"')[1].split("</ul>")[0].split())


def test_pages_of_a_run_say_what_it_follows(owner: Person) -> None:
    run = owner.finished(**OPTIONS)
    for address in (f"/runs/{run.pk}", f"/runs/{run.pk}/pods/shop/giant/why"):
        shown = made_with(owner.client.get(address).content.decode())
        assert "Kubernetes v1.36.2" in shown
        assert "<code>PodLevelResources</code> off" in shown
        assert "<code>VolumeLimitScaling</code> on" in shown
        assert "draws among equal nodes, seed 9" in shown
        assert "pending pods queued by name" in shown


OF_1_37: Final = CLUSTER.replace(
    'pods: "110"}}', 'pods: "110"}, nodeInfo: {kubeletVersion: v1.37.1}}'
)
SAID: Final = "1.37.2 (nodes say v1.37.1)"
OPENAPI: Final = Path(__file__).parents[2] / "docs/openapi.yaml"
WHOLE: Final = ("/file/", "/detail/", "/page/")
"""Addresses that answer with a trace, whose first event has the release, or with the run's page."""


def addresses_of_a_run() -> list[str]:
    """What may be read of a run over REST, as docs/openapi.yaml lists it."""
    api, whole = "/api/v1", "/runs/{run_id}/"
    paths = msgspec.yaml.decode(OPENAPI.read_bytes())["paths"]
    found = [path.removeprefix(api) for path, verbs in paths.items() if "get" in verbs]
    return [path for path in found if path.startswith(whole) and not path.endswith(WHOLE)]


@pytest.mark.slow("asks all that a run can be asked")
def test_the_release_is_what_the_nodes_say_and_every_screen_says_so(owner: Person) -> None:
    snapshot = owner.snapshot(OF_1_37)
    assert owner.get(f"/snapshots/{snapshot.pk}/").json()["release_text"] == SAID
    form = form_of(owner, snapshot=str(snapshot.pk))
    assert f">auto: {SAID}</option>" in form
    assert f'id="release-held">auto: {SAID}<' in form
    assert f'data-release="{SAID}"' in form
    posted = {"snapshot": snapshot.pk, "release": "auto"}
    assert owner.client.post("/runs/new", posted).status_code == 302
    execute(worker="test")
    run = Run.objects.get()
    assert (run.release, run.release_text) == ("1.37.2", SAID)
    tables = "/explore?view=tables&c=1"
    of_run = ("", "/pods/shop/giant/why", "/cycles", tables, "/cycles/1/model", "/optimum")
    forms = [f"/runs/{run.pk}/differently"]
    forms += [f"/experiments/{kind}?run={run.pk}" for kind in ("new", "nodes", "capacity")]
    for page in (*(f"/runs/{run.pk}{part}" for part in of_run), *forms):
        assert f"Kubernetes v{SAID}" in made_with(owner.client.get(page).content.decode())
    for page in ("/snapshots/", f"/experiments/capacity?snapshot={snapshot.pk}"):
        assert f"v{SAID}" in owner.client.get(page).content.decode()
    assert f"as uploaded · v{SAID}" in owner.client.get("/runs/").content.decode()
    compared = owner.client.get(f"/runs/compare?a={run.pk}&b={run.pk}").content.decode()
    assert compared.count(f"Kubernetes v{SAID}") == 2
    for table in ("cycles.csv", "pods.csv"):
        assert {row["release"] for row in csv_of(owner, run, table)} == {SAID}
    checked = owner.post("/runs/check/", {"snapshot": str(snapshot.pk)}).json()
    assert checked["release_text"] == SAID
    run.luck = {"coins": []}
    run.save()
    owner.post(f"/runs/{run.pk}/optimum/", {})
    asked = {"cycle": 1, "node": "north", "namespace": "shop", "name": "giant", "other_id": run.pk}
    for path in addresses_of_a_run():
        told = owner.get(path.format(run_id=run.pk, **asked)).content.decode()
        assert SAID in told or 'release="1.37.2",told="nodes v1.37.1"' in told, path
    explorer = owner.client.get(f"/runs/{run.pk}/explore").content.decode()
    assert f'data-release="{SAID}"' in explorer
    again = sent(owner, b"".join(pieces(run)))
    assert again.release_text == SAID
    variant = {"parent": str(run.pk), "changes": ["node/north cordon"]}
    assert owner.post("/runs/", variant).json()["release_text"] == SAID


def test_a_configuration_is_checked_for_the_release_of_its_cluster(owner: Person) -> None:
    gates = {"GangScheduling": True}
    snapshot = str(owner.snapshot(OF_1_37).pk)
    asked = {"snapshot": snapshot, "feature_gates": gates}
    (problem,) = owner.post("/runs/check/", asked).json()["problems"]
    assert "It is gone: v1.36 was the last to have it" in problem["message"]


def test_defaults_are_not_listed_and_a_seed_without_lots_is_not_shown(owner: Person) -> None:
    run = owner.finished(feature_gates={"PodLevelResources": True}, seed=4)
    html = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert "made-with__changed" not in html
    assert "all at their defaults" in html
    assert "<dt>Seed</dt>" not in html
    assert Run(scheduler_config='{"extenders": [{"prioritizeVerb": "rate"}]}').seed_counts


# ---------------------------------------------------------------- files


def opened(who: Person, file: bytes) -> Any:
    return who.client.post("/api/v1/runs/file/", file, content_type=MEDIA_TYPE, headers=who.headers)


def sent(who: Person, file: bytes) -> Run:
    response = opened(who, file)
    assert response.status_code == 201, response.json()
    return Run.objects.get(pk=response.json()["id"])


def test_the_options_come_back_with_a_file(ada: Person, ben: Person) -> None:
    run = ada.finished(**OPTIONS)
    again = sent(ben, b"".join(pieces(run)))
    assert again.feature_gates == {**NO_POD_LEVEL, "VolumeLimitScaling": True}
    assert (again.release, again.tie_break, again.queue_order) == ("1.36.2", "draw", "name")
    assert ben.get(f"/runs/{again.pk}/cycles/1/also/").status_code == 200


def with_inputs(run: Run, **values: object) -> bytes:
    """The run's file with other inputs."""
    first, *rest = read_records(BytesIO(b"".join(pieces(run))))
    assert isinstance(first, Inputs)
    return b"".join(map(encoded, (replace(first, **values), *rest)))


def test_a_run_of_a_release_that_is_not_known_can_be_looked_at(ada: Person, owner: Person) -> None:
    file = with_inputs(ada.finished(), release="1.99", feature_gates={"Future": True})
    run = sent(owner, file)
    shown = made_with(owner.client.get(f"/runs/{run.pk}").content.decode())
    assert "Kubernetes v1.99" in shown
    assert "<code>Future</code> on" in shown
    refused = owner.get(f"/runs/{run.pk}/cycles/1/also/").json()
    assert "this kviz knows 1.36" in str(refused)


def test_a_file_with_a_rule_that_is_not_known_is_refused(ada: Person) -> None:
    file = b"".join(pieces(ada.finished())).replace(b"\xa4heap\xa6listed", b"\xa4heap\xa6sorted")
    document = problem(opened(ada, file), 400)
    assert "sorted" in document["detail"]
