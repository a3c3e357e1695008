"""`kviz explain`: the facts of recorded clusters, and of small ones made for one point each."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main
from kviz.questions.why.answer import (
    GATED,
    OTHER_SCHEDULER,
    SCHEDULABLE,
    UNSCHEDULABLE,
    Candidate,
    Explanation,
    UnknownPodError,
    Victim,
    explain,
)
from kviz.questions.why.text import as_json, as_text, nominated_text, verdict
from kviz.samples import FOLDER
from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import ingest
from scheduler_core.config import load_configuration
from scheduler_core.trace.nominated import Effect, Nominated, Nominee
from scheduler_core.trace.shortages import Shortage

DUMPS = Path(__file__).parents[2] / "conformance" / "data" / "dumps"
SAMPLES = FOLDER


def cluster(name: str) -> list[KubeObject]:
    data = (DUMPS / f"{name}.yaml.gz").read_bytes()
    return list(ingest([(f"{name}.yaml.gz", data)]).objects)


def recorded(name: str) -> dict[str, Any]:
    document = json.loads(gzip.decompress((DUMPS / f"{name}.expected.json.gz").read_bytes()))
    pods: dict[str, Any] = document["pods"]
    return pods


@pytest.fixture(scope="module")
def small() -> list[KubeObject]:
    return cluster("small")


@pytest.fixture(scope="module")
def preemption() -> list[KubeObject]:
    return cluster("preemption")


FAILING = sorted(
    key for key, pod in recorded("small").items() if pod["final"]["outcome"] == UNSCHEDULABLE
)


AFTER_OTHERS = ("ml/gpu-big", "ml/gpu-notol")
"""Recorded when other pods had taken room."""


@pytest.mark.parametrize("pod", [pod for pod in FAILING if pod not in AFTER_OTHERS])
def test_the_message_is_the_recorded_one(small: list[KubeObject], pod: str) -> None:
    explanation = explain(small, pod)
    assert explanation.status == UNSCHEDULABLE
    assert explanation.message == recorded("small")[pod]["final"]["message"]


def test_how_much_is_missing(small: list[KubeObject]) -> None:
    explanation = explain(small, "batch/too-big")
    nearest = explanation.why.nearest[0]
    assert nearest.plugins == ("NodeResourcesFit",)
    assert nearest.shortages == (Shortage("cpu", 48000, 6000, 7850),)
    assert nearest.shortages[0].short == 42000
    said = "needs 48 cpu, the whole node has 7.85"
    assert explanation.lead is not None
    assert explanation.lead.sentence == said
    assert as_text(explanation).startswith(f"batch/too-big {said}")


def test_the_taint_in_the_way_is_named(small: list[KubeObject]) -> None:
    explanation = explain(small, "ml/gpu-notol")
    nearest = explanation.why.nearest[0]
    assert (nearest.node, nearest.plugins) == ("gpu-c2", ("TaintToleration",))
    assert explanation.taints["gpu-c2"] == ("nvidia.com/gpu=present:NoSchedule",)


def test_what_wakes_it(small: list[KubeObject]) -> None:
    wakes = explain(small, "shop/needs-friend").wakes
    assert wakes is not None
    labels = [event.label for event in wakes["InterPodAffinity"]]
    assert {"PodAdd", "PodUpdatePodLabel", "NodeUpdateNodeLabel"} <= set(labels)
    assert "NodePorts" not in wakes


def test_gated(small: list[KubeObject]) -> None:
    explanation = explain(small, "shop/gated")
    assert (explanation.status, explanation.held_by) == (GATED, "SchedulingGates")
    assert explanation.gates == ("example.com/quota-approval",)
    assert "example.com/quota-approval" in verdict(explanation)


def test_another_scheduler(small: list[KubeObject]) -> None:
    explanation = explain(small, "shop/other-scheduler")
    assert (explanation.status, explanation.held_by) == (OTHER_SCHEDULER, "volcano")


def test_schedulable(small: list[KubeObject]) -> None:
    explanation = explain(small, "shop/fresh-critical")
    recording = recorded("small")["shop/fresh-critical"]["first"]
    assert explanation.status == SCHEDULABLE
    assert explanation.node == recording["node"]
    assert explanation.why.n_feasible == recording["feasibleNodes"]
    assert explanation.preemption is None
    assert not explanation.why.nearest


def test_a_pod_of_a_second_profile(small: list[KubeObject]) -> None:
    configuration = load_configuration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: volcano}]\n"
    )
    assert explain(small, "shop/other-scheduler", configuration).status == SCHEDULABLE
    assert explain(small, "shop/fresh-plain", configuration).status == OTHER_SCHEDULER


# ---------------------------------------------------------------- preemption


def test_who_would_be_evicted(preemption: list[KubeObject]) -> None:
    explanation = explain(preemption, "prod/vip-on-db-node")
    assert "it evicts prod/db-9f59f4696-9f99p and then binds on node-9" in verdict(explanation)
    found = explanation.preemption
    assert found is not None
    assert found.why_not == ""
    assert found.winner == Candidate(
        "node-9", (Victim("prod/db-9f59f4696-9f99p", 500000, violates_pdb=False),)
    )
    assert found.others == ()


def test_a_broken_budget_is_named(preemption: list[KubeObject]) -> None:
    explanation = explain(preemption, "prod/vip-on-guarded")
    assert explanation.preemption is not None
    assert explanation.preemption.winner is not None
    (victim,) = explanation.preemption.winner.victims
    assert victim.violates_pdb
    assert victim.budgets == ("guarded",)
    assert "breaks budget guarded" in as_text(explanation)


@pytest.mark.parametrize(
    ("pod", "why_not"),
    [
        ("prod/polite", "preemptionPolicy=Never"),
        ("prod/mid-on-db-node", "makes room on no node"),
        ("prod/too-large-anyway", "makes room on no node"),
    ],
)
def test_why_preemption_does_not_help(preemption: list[KubeObject], pod: str, why_not: str) -> None:
    found = explain(preemption, pod).preemption
    assert found is not None
    assert found.winner is None
    assert why_not in found.why_not


def test_reasons_against_preemption_cover_all_nodes(preemption: list[KubeObject]) -> None:
    found = explain(preemption, "prod/mid-on-db-node").preemption
    assert found is not None
    assert found.n_by_reason == {
        "Preemption is not helpful for scheduling": 9,
        "No preemption victims found for incoming pod": 1,
    }


def test_no_preemption_before_any_node_was_looked_at(small: list[KubeObject]) -> None:
    found = explain(small, "shop/missing-claim").preemption
    assert found is not None
    assert "before any node was looked at" in found.why_not


# ---------------------------------------------------------------- made for one point

NODE = """
kind: Node
apiVersion: v1
metadata: {{name: {name}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "{pods}"}}}}
"""
POD = """
kind: Pod
apiVersion: v1
metadata: {{name: {name}, namespace: default, uid: {name}}}
spec:
  priority: {priority}
  nodeName: "{node}"
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
status: {{nominatedNodeName: "{nominated}", phase: "{phase}"}}
"""


def made(*documents: str) -> list[KubeObject]:
    ingested = ingest([("made.yaml", "---".join(documents).encode())])
    assert not ingested.errors
    return list(ingested.objects)


def node(name: str, cpu: str = "1", pods: int = 10) -> str:
    return NODE.format(name=name, cpu=cpu, pods=pods)


def pod(
    name: str,
    *,
    cpu: str = "1",
    priority: int = 0,
    node: str = "",
    nominated: str = "",
    phase: str = "",
) -> str:
    return POD.format(
        name=name, cpu=cpu, priority=priority, node=node, nominated=nominated, phase=phase
    )


def test_room_kept_for_a_nominated_pod() -> None:
    objects = made(node("n1"), pod("vip", priority=10, nominated="n1"), pod("late", priority=5))
    explanation = explain(objects, "default/late")
    assert explanation.status == UNSCHEDULABLE
    (miss,) = explanation.why.nearest
    assert (miss.node, miss.plugins) == ("n1", ("NodeResourcesFit",))
    assert miss.reasons == ("Insufficient cpu",)
    assert miss.shortages == (Shortage("cpu", 1000, 1000, 1000, nominated=1000),)
    assert explanation.n_ahead == 1
    text = as_text(explanation)
    assert "needs 1 cpu, 1 free of 1: short by 1, 1 kept for nominated pod default/vip" in text
    assert "room is held for nominated pod default/vip (1 cpu)" in text
    assert "1 x Insufficient cpu (only because nominated pods count there)" in text
    assert "Without nominated pods, for which room is held, 1 node would." in text
    document = as_json(explanation)
    assert document["held"] == 1
    assert document["nearest"] == [
        {
            "node": "n1",
            "plugins": ["NodeResourcesFit"],
            "reasons": ["Insufficient cpu"],
            "shortages": [
                {
                    "resource": "cpu",
                    "requested": 1000,
                    "free": 1000,
                    "allocatable": 1000,
                    "nominated": 1000,
                    "short": 1000,
                }
            ],
            "nominated": {
                "effect": "rejects",
                "pods": [{"pod": "default/vip", "requests": {"cpu": 1000}}],
                "without": None,
            },
            "taints": [],
        }
    ]


@pytest.mark.parametrize(
    ("effect", "lacks_room", "text"),
    [
        ("rejects", True, "room is held for nominated pods a/b (1.5 cpu), a/c (no requests)"),
        (
            "rejects",
            False,
            "only because nominated pods a/b (1.5 cpu), a/c (no requests) count there",
        ),
        ("changes", True, "nominated pods a/b (1.5 cpu), a/c (no requests) count there as well"),
        (
            "needed",
            False,
            "it fits only beside nominated pods a/b (1.5 cpu), a/c (no requests), "
            "and Filter does not rely on that",
        ),
    ],
)
def test_what_nominated_pods_do_in_words(effect: Effect, lacks_room: bool, text: str) -> None:
    pods = (Nominee("a/b", {"cpu": 1500}), Nominee("a/c", {}))
    assert nominated_text(Nominated(effect, pods, None), lacks_room=lacks_room) == text


def test_too_many_pods() -> None:
    objects = made(node("n1", pods=1), pod("there", cpu="100m", node="n1"), pod("late", cpu="100m"))
    (miss,) = explain(objects, "default/late").why.nearest
    assert miss.shortages == (Shortage("pods", 1, 0, 1),)


@pytest.mark.parametrize(
    ("objects", "status"),
    [
        (made(node("n1"), pod("p", node="n1")), "bound"),
        (made(node("n1"), pod("p", node="n1", phase="Succeeded")), "finished"),
        (made(node("n1"), pod("p", phase="Failed")), "finished"),
    ],
)
def test_not_pending(objects: list[KubeObject], status: str) -> None:
    explanation = explain(objects, "default/p")
    assert explanation.status == status
    assert verdict(explanation).startswith("It is not pending")


def test_an_unknown_pod(small: list[KubeObject]) -> None:
    with pytest.raises(UnknownPodError) as unknown:
        explain(small, "default/too-big")
    assert unknown.value.similar == ["batch/too-big"]


# ---------------------------------------------------------------- the command


def test_json_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(DUMPS / "preemption.yaml.gz")
    assert main(["explain", file, "--pod", "prod/vip-two-big", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == UNSCHEDULABLE
    assert document["nodes"] == 10
    assert document["feasible"] == 0
    assert sum(step["rejected"] for step in document["funnel"]) == 10
    assert sum(step["n_rejected"] for step in document["why"]["funnel"]) == 10
    assert [miss["node"] for miss in document["why"]["nearest"]] == [
        miss["node"] for miss in document["nearest"]
    ]
    assert len(document["preemption"]["winner"]["victims"]) == 2
    assert "PodDelete" in document["waitsFor"]["NodeResourcesFit"]
    assert document["message"] in as_text(explain(cluster("preemption"), "prod/vip-two-big"))


def test_text_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(DUMPS / "small.yaml.gz"), "--pod", "ml/gpu-notol"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("ml/gpu-notol does not tolerate taint nvidia.com/gpu=present")
    assert "\nNo node takes it, of 6.\n" in text
    assert "needs 1 nvidia.com/gpu, the node has none" in text


def test_the_command_does_not_know_the_pod(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(DUMPS / "small.yaml.gz"), "--pod", "too-big"]) == 1
    assert "batch/too-big" in capsys.readouterr().err


def test_every_word_is_plain_json(small: list[KubeObject]) -> None:
    documents = [as_json(explain(small, key)) for key in recorded("small")]
    assert json.loads(json.dumps(documents)) == documents
    assert all(isinstance(document["verdict"], str) for document in documents)
    assert isinstance(explain(small, "shop/gated"), Explanation)


def test_the_devices_it_would_get() -> None:
    path = SAMPLES / "devices.yaml"
    objects = list(ingest([(path.name, path.read_bytes())]).objects)
    found = explain(objects, "lab/train-0")
    assert found.status == SCHEDULABLE
    assert found.devices == {"lab/pair": tuple(f"gpu.example.com/room-2/gpu-{i}" for i in (0, 1))}
    assert "For claim lab/pair it would get gpu.example.com/room-2/gpu-0, " in as_text(found)
    assert as_json(found)["devices"] == {"lab/pair": list(found.devices["lab/pair"])}


def test_why_each_device_was_given_or_not() -> None:
    path = SAMPLES / "devices.yaml"
    objects = list(ingest([(path.name, path.read_bytes())]).objects)
    text = as_text(explain(objects, "lab/train-0"))
    assert "    gpu.example.com/room-2/gpu-0  gpus: given to this request\n" in text
    assert "the same gpu.example.com/numa (requests gpus): this one has 0, gpu-1 has 1\n" in text
    assert "      driver is camera.example.com\n" in text
    survey = as_json(explain(objects, "lab/train-0"))["deviceSurvey"]
    assert json.loads(json.dumps(survey)) == survey
    assert "Devices," not in as_text(explain(objects, "lab/plain-0"))
