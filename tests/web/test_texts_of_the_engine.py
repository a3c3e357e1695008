"""What the engine says of the clinic's pods is in the reader's language, and stored for any."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from kviz.experiments.models import Experiment
from kviz.runs.selectors import pods_pending
from kviz.runs.sharing import run_share
from kviz.samples import FOLDER

from .cast import CLUSTER, Person, execute, pod
from .english import english_in, english_on
from .test_experiments import carried_out
from .test_unblock import found

CLINIC = FOLDER / "why-pending.yaml"
LEADS = {
    "zh-hans": "不容忍该节点的污点 nvidia.com/gpu=present:NoSchedule",
    "zh-hant": "不容忍該節點的汙點 nvidia.com/gpu=present:NoSchedule",
}


@pytest.mark.slow("runs the clinic, and reads it in three languages")
def test_why_the_pods_of_the_clinic_are_pending(ada: Person) -> None:
    run = ada.finished(CLINIC.read_text())
    token = run_share(run=run).token
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    pods = pods_pending(run=run).values_list("pod", "last_cycle")
    assert len(pods) == 12
    for name, cycle in pods:
        assert english_in(ada.get(f"/runs/{run.pk}/pods/{name}/why/", **spoken).json()) == []
        page = ada.client.get(f"/runs/{run.pk}/pods/{name}/why?share={token}", **spoken)
        assert english_on(page.content.decode()) == []
        if cycle:
            evidence = ada.get(f"/runs/{run.pk}/cycles/{cycle}/evidence/", **spoken).json()
            assert english_in(evidence) == []
            for near in evidence["nearest"]:
                node = f"/runs/{run.pk}/cycles/{cycle}/nodes/{near['node']}"
                assert english_in(ada.get(f"{node}/", **spoken).json()) == []
                page = ada.client.get(f"{node}?share={token}", **spoken)
                assert english_on(page.content.decode()) == []
    run_page = ada.client.get(f"/runs/{run.pk}?share={token}", **spoken).content.decode()
    assert LEADS["zh-hans"] in run_page


def test_one_stored_sentence_is_read_in_each_language(ada: Person) -> None:
    run = ada.finished(CLINIC.read_text())
    address = f"/runs/{run.pk}/pods/clinic/train-2/why/"
    for language, sentence in LEADS.items():
        lead = ada.get(address, HTTP_ACCEPT_LANGUAGE=language).json()["lead"]
        assert lead["sentence"] == sentence
    assert ada.get(address).json()["lead"]["sentence"] == (
        "does not tolerate taint nvidia.com/gpu=present:NoSchedule"
    )


def test_what_would_let_a_pod_of_the_clinic_bind(ada: Person) -> None:
    run = ada.finished(CLINIC.read_text())
    token = run_share(run=run).token
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    for name in ("train-2", "ledger-2"):
        found(ada, run, f"clinic/{name}")
        experiment = Experiment.objects.latest("created_at")
        answered = ada.get(f"/experiments/{experiment.pk}/", **spoken).json()["answer"]
        assert answered["answers"]
        assert english_in(answered, frozenset({"changes"})) == []
        why = f"/runs/{run.pk}/pods/clinic/{name}/why?share={token}"
        assert english_on(ada.client.get(why, **spoken).content.decode()) == []


def test_a_variant_says_in_each_language_what_was_changed(ada: Person) -> None:
    run = ada.finished(CLINIC.read_text())
    variant = {"parent": str(run.pk), "changes": [{"cordon": "worker-1"}]}
    made = ada.post("/runs/", variant)
    assert made.status_code == 201
    address = f"/runs/{made.json()['id']}/"
    (change,) = ada.get(address, HTTP_ACCEPT_LANGUAGE="zh-hans").json()["changes"]
    assert change["sentence"] == "封锁节点 worker-1"
    (change,) = ada.get(address).json()["changes"]
    assert change["sentence"] == "cordon node worker-1"


def test_the_model_of_a_cycle(ada: Person) -> None:
    run = ada.finished(CLINIC.read_text())
    token = run_share(run=run).token
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    for cycle in range(1, run.cycles + 1):
        document = ada.get(f"/runs/{run.pk}/cycles/{cycle}/model/", **spoken).json()
        assert english_in(document) == []
        page = ada.client.get(f"/runs/{run.pk}/cycles/{cycle}/model?share={token}", **spoken)
        assert english_on(page.content.decode()) == []


def test_what_a_change_leaves_open_is_said_in_a_preview(ada: Person) -> None:
    run = ada.finished(CLINIC.read_text())
    pod = run.pod_outcomes.get(pod="clinic/train-2")
    asked = {"changes": [f"pod/{pod.pod} set spec.priority=7"]}
    for accepted in ("application/json", "application/vnd.msgpack"):
        answer = ada.client.post(
            f"/api/v1/runs/{run.pk}/cycles/{pod.last_cycle}/preview/",
            asked,
            content_type="application/json",
            headers={**ada.headers, "accept": accepted, "accept-language": "zh-hant"},
        )
        assert answer.status_code == 200
        assert "沒有值為 7 的 PriorityClass" in answer.content.decode("utf-8", "ignore")


@pytest.mark.parametrize(
    ("language", "problem"),
    [
        ("zh-hans", "Pod 至少要有一个容器"),
        ("zh-hant", "Pod 至少要有一個容器"),
        ("en", "a pod needs at least one container"),
    ],
)
def test_what_is_wrong_with_an_upload(ada: Person, language: str, problem: str) -> None:
    file = SimpleUploadedFile("pod.yaml", b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": language}
    answer = ada.client.post(
        "/api/v1/snapshots/", {"files": file}, headers=ada.headers, **spoken
    ).json()
    assert [each["message"] for each in answer["errors"]] == [problem]


def test_where_two_runs_part(owner: Person) -> None:
    run = owner.finished(CLINIC.read_text())
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    variant = {"parent": str(run.pk), "changes": [{"uncordon": "worker-3"}]}
    other = owner.post("/runs/", variant).json()["id"]
    execute(worker="w")
    document = owner.get(f"/runs/{run.pk}/compare/{other}/", **spoken).json()
    assert english_in(document, frozenset({"a", "b", "message", "before", "after"})) == []
    page = owner.client.get(f"/runs/compare?a={run.pk}&b={other}", **spoken)
    text = page.content.decode()
    assert page.status_code == 200
    assert "clinic/analytics-0" in text
    assert english_on(text) == []


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"cordon": "worker-9"}, "封锁节点 worker-9\uff1a没有这个对象"),
        (
            {"unlabel": {"node": "gpu-1", "key": "disk"}},
            "去掉节点 gpu-1 的标签 disk\uff1a没有这个标签",
        ),
    ],
)
def test_why_a_change_is_refused(ada: Person, change: object, refused: str) -> None:
    run = ada.finished(CLINIC.read_text())
    cycle = run.pod_outcomes.get(pod="clinic/train-2").last_cycle
    answer = ada.client.post(
        f"/api/v1/runs/{run.pk}/cycles/{cycle}/preview/",
        {"changes": [change]},
        content_type="application/json",
        headers={**ada.headers, "accept-language": "zh-hans"},
    )
    (error,) = answer.json()["errors"]
    assert error["message"].startswith(refused)


def test_what_becomes_of_rules(owner: Person) -> None:
    rules = """
- bind: {pods: {}}
- spread: {pods: {namespace: clinic}, over: zone, atLeast: 9}
- survive: {pods: {namespace: clinic}, lossOf: node}
- avoid: {pods: {namespace: clinic}, nodes: {name: worker-1}}
- evict: {nobodyAbove: 1000}
- utilisation: {resource: cpu, below: 1%}
"""
    run = owner.finished(CLINIC.read_text())
    owner.client.post("/language", {"language": "zh-hans"})
    page = owner.client.post(f"/runs/{run.pk}/rules", {"rules": rules}).content.decode()
    assert "条被违反" in page
    assert "个没有节点" in page
    assert english_on(page) == []


def test_what_a_loss_and_a_drain_come_to(owner: Person) -> None:
    run = owner.finished(CLUSTER + pod("kept", nodeName="south", priority="9"))
    owner.client.post("/language", {"language": "zh-hans"})
    for kind, asked in (
        ("survive", {"of": "nodes"}),
        ("nodes", {"drain": 2}),
        ("luck", {"runs": 5}),
        ("changes", {"variants": [{"changes": [{"cordon": "nowhere"}], "name": "x"}]}),
    ):
        made = owner.post("/experiments/", {"run": str(run.pk), "kind": kind, "asked": asked})
        assert made.status_code == 201
        experiment = carried_out()
        assert experiment.status == "finished", experiment.error
        page = owner.client.get(f"/experiments/{experiment.pk}").content.decode()
        assert english_on(page) == [], kind
        spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
        answer = owner.get(f"/experiments/{experiment.pk}/", **spoken).json()["answer"]
        assert english_in(answer) == [], kind


def test_what_became_of_devices(owner: Person) -> None:
    run = owner.finished((CLINIC.parent / "devices.yaml").read_text())
    owner.client.post("/language", {"language": "zh-hans"})
    cycle = run.pod_outcomes.get(pod="lab/batch-1").last_cycle
    survey = owner.get(
        f"/runs/{run.pk}/cycles/{cycle}/devices/", HTTP_ACCEPT_LANGUAGE="zh-hans"
    ).json()
    texts = [
        answer["text"]
        for node in survey["nodes"]
        for device in node["devices"]
        for answer in device["answers"]
    ]
    assert "设备类 gpu 的选择算符对它不成立" in texts
    assert english_in(texts) == []
    page = owner.client.get(f"/runs/{run.pk}/pods/lab/batch-1/why").content.decode()
    assert "正在被使用" in page
    assert english_on(page) == []


SCENARIO = """
steps:
- {at: 1s, drain: worker-99}
- {at: 2s, note: Repair, uncordon: worker-1}
- {at: 3s, note: Again, unlabel: {node: worker-1, key: disk}}
- at: 4s
  set: {kind: Pod, name: train-2, namespace: clinic, path: spec.overhead.cpu, value: null}
"""


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "zh-hans",
            [
                "腾空节点 worker-99\uff1a没有这个对象",
                "Again\uff08去掉节点 worker-1 的标签 disk\uff1a没有这个标签",
                "被拒绝\uff1aspec.overhead\uff1a不存在",
            ],
        ),
        (
            "zh-hant",
            [
                "排空節點 worker-99\uff1a沒有這個物件",
                "Again\uff08去掉節點 worker-1 的標籤 disk\uff1a沒有這個標籤",
                "被拒絕\uff1aspec.overhead\uff1a不存在",
            ],
        ),
        (
            "en",
            [
                "Drain node worker-99: there is none",
                "Again (unlabel node worker-1 disk: there is no such label",
                "refused, spec.overhead: is not there",
            ],
        ),
    ],
)
def test_which_steps_were_refused(owner: Person, language: str, expected: list[str]) -> None:
    run = owner.finished(CLINIC.read_text(), scenario=SCENARIO)
    owner.client.post("/language", {"language": language})
    page = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert [text for text in expected if text not in page] == []
    if language != "en":
        assert english_on(page) == []


NOT_ALL_READ = """
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: "4", pods: "9"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {priorityClassName: vip, containers: [{name: c}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: 5}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c}}
"""


@pytest.mark.parametrize(
    ("language", "reason"),
    [
        ("zh-hans", "已略去 Pod b\uff1aspec.containers\uff1a必须是列表\uff0c而不是数字 5"),
        ("zh-hant", "已略去 Pod b\uff1aspec.containers\uff1a必須是清單\uff0c而不是數字 5"),
        ("en", "Pod b left out: spec.containers: must be a list, not the number 5"),
    ],
)
def test_why_objects_of_an_upload_are_left_out(owner: Person, language: str, reason: str) -> None:
    run = owner.finished(NOT_ALL_READ)
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": language}
    for address in ("", "cycles/", "cycles/1/", "pods/default/a/why/"):
        told = owner.get(f"/runs/{run.pk}/{address}", **spoken).json()["not_modelled"]
        assert len(told) == 4
        assert reason in told
        assert language == "en" or english_in(told) == []
    owner.client.post("/language", {"language": language})
    for page in ("", "/cycles", "/explore?view=tables"):
        shown = owner.client.get(f"/runs/{run.pk}{page}").content.decode()
        assert reason in shown
        if language != "en":
            assert english_on(shown) == []
