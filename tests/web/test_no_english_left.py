"""Every page that one comes to by links, in Chinese: no English sentence but those of others.

Others are kube-scheduler, which speaks English everywhere, and whoever wrote the cluster's objects.
Documents that are not translated stay as they are, and so do the words of older books.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot
from kviz.snapshots.services import samples_load
from scheduler_core.wording import say
from tests.web.cast import Person
from tests.web.crawling import crawl
from tests.web.english import english_on
from tests.web.test_pages import BAD_CONFIG
from tests.web.test_texts_of_the_engine import CLINIC

ENGLISH = re.compile(r"/(docs|static|api/v1/docs)/")
SAMPLES = ("why-pending", "fit-and-balance", "preemption-budget")
CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def reader(owner: Person) -> Person:
    """Somebody who reads Chinese."""
    owner.client.post("/language", {"language": "zh-hans"})
    return owner


@pytest.mark.slow("reads every page")
def test_no_page_has_an_english_sentence(reader: Person) -> None:
    samples_load()
    written = "".join((CLINIC.parent / f"{name}.yaml").read_text() for name in SAMPLES)
    for name in SAMPLES:
        reader.finished((CLINIC.parent / f"{name}.yaml").read_text())
    found = {
        (line, address)
        for address, page in crawl(reader.client, "/", ENGLISH).items()
        for line in english_on(page.html)
        if line not in written
    }
    assert sorted(found) == []


@pytest.mark.slow("runs a cluster, and opens a class, a board and homework")
def test_no_page_that_no_link_leads_to_has_an_english_sentence(reader: Person) -> None:
    samples_load()
    written = (CLINIC.parent / "why-pending.yaml").read_text()
    run = reader.finished(written)
    trap = Snapshot.objects.get(name="size-trap")
    made = [
        reader.client.post(address).headers["Location"]
        for address in (
            "/learn/what-is-a-node/homework",
            "/class/open/lesson/what-is-a-node",
            f"/by-hand/snapshot/{trap.pk}",
        )
    ]
    room = made[1].removesuffix("/lead").removesuffix("/")
    addresses = [made[0], made[2], f"{room}/", f"{room}/lead", f"{room}/screen"]
    addresses += [f"/runs/{run.pk}/{part}" for part in RUN_PAGES]
    addresses += ["/learn/what-is-a-node/1", "/runs/links"]
    found = set()
    for address in addresses:
        answer = reader.client.get(address, follow=True)
        assert answer.status_code == 200, address
        found |= {(line, address) for line in english_on(answer.content.decode())}
    assert sorted(each for each in found if each[0] not in written) == []


RUN_PAGES = (
    *("cycles/1/model", "cycles/2/model?notation=on"),
    *("cycles/1/nodes/worker-1", "cycles/1/nodes/worker-3?against=worker-1"),
)


def test_a_broken_configuration_is_told_in_upstreams_words_alone(reader: Person) -> None:
    snapshot = reader.snapshot()
    sent = {"snapshot": str(snapshot.pk), "scheduler_config": BAD_CONFIG}
    answer = reader.client.post("/runs/new", sent)
    assert answer.status_code == 400
    left = english_on(answer.content.decode())
    assert [line for line in left if "NoSuchPlugin" not in line] == []


def test_a_refused_upload(reader: Person) -> None:
    for text in (
        "kind: Pod\nmetadata: {name: a}\n",
        "<html></html>",
        "NAME READY\na 1/1\n",
    ):
        answer = reader.client.post("/snapshots/new", {"text": text})
        assert answer.status_code == 400, text
        assert english_on(answer.content.decode()) == [], text


UNKNOWN = "00000000-0000-4000-8000-000000000000"
REFUSED: dict[str, tuple[str, object]] = {
    "no snapshot": ("/runs/", {}),
    "another's snapshot": ("/runs/", {"snapshot": UNKNOWN}),
    "another's parent": ("/runs/", {"parent": UNKNOWN}),
    "a cycle without a parent": ("/runs/", {"snapshot": "{snapshot}", "cycle": 2}),
    "inputs beside a parent": ("/runs/", {"parent": "{run}", "seed": 3, "snapshot": UNKNOWN}),
    "an experiment over nothing": ("/experiments/", {"kind": "luck", "asked": {"runs": 15}}),
    "an experiment over too much": (
        "/experiments/",
        {"kind": "luck", "asked": {"runs": 15}, "run": "{run}", "seed": 3},
    ),
    "another's cluster": (
        "/experiments/",
        {"kind": "luck", "asked": {"runs": 15}, "snapshot": UNKNOWN},
    ),
    "a class that is not there": ("/class/AAAAAA/board/", {}),
    "no file": ("/follow/", {}),
}
"""What to ask for, and what with, to be refused."""


def test_a_refusal(owner: Person) -> None:
    run = owner.finished()
    for why, (address, asked) in REFUSED.items():
        text = json.dumps(asked).replace("{snapshot}", str(run.snapshot_id))
        answer = owner.client.post(
            f"/api/v1{address}",
            text.replace("{run}", str(run.pk)),
            content_type="application/json",
            headers={**owner.headers, "accept-language": "zh-hans"},
        )
        assert 400 <= answer.status_code < 500, why
        told = answer.json()
        assert CHINESE.search(told["detail"]), told
        left = [each for each in told.get("errors", []) if not CHINESE.search(each["message"])]
        assert left == [], why


def test_why_a_run_stopped_early_and_what_is_hidden_of_it(owner: Person) -> None:
    run = owner.finished()
    reason = say("stopped.cycles", "stopped after {n} cycles", n=100)
    Run.objects.filter(pk=run.pk).update(status="paused", hidden_after=1, stop_reason=reason)
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    shown = owner.get(f"/runs/{run.pk}/", **spoken).json()["stop_reason"]
    assert "100" in shown
    assert CHINESE.search(shown)
    assert owner.get(f"/runs/{run.pk}/").json()["stop_reason"] == "stopped after 100 cycles"
    hidden = owner.get(f"/runs/{run.pk}/cycles/999/", **spoken)
    assert hidden.status_code == 409
    assert CHINESE.search(hidden.json()["detail"])
    changed = {"run": str(run.pk), "kind": "luck", "asked": {"runs": 15}}
    refused = owner.client.post(
        "/api/v1/experiments/",
        changed,
        content_type="application/json",
        headers={**owner.headers, "accept-language": "zh-hans"},
    )
    assert refused.status_code == 400
    assert all(CHINESE.search(each["message"]) for each in refused.json()["errors"])


def test_what_coins_are_is_said_in_each_language(owner: Person) -> None:
    run = owner.finished()
    assert owner.post(f"/runs/{run.pk}/luck/", {}).status_code == 201
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hant"}
    coins = owner.get(f"/runs/{run.pk}/luck/", **spoken).json()["coins"]
    assert coins
    assert all(CHINESE.search(each["what"]) for each in coins)


NOT_MODELLED = """
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c}]}
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: g}
"""


def test_what_a_run_does_not_model(owner: Person) -> None:
    run = owner.finished(NOT_MODELLED)
    assert len(run.not_modelled) == 2
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    assert owner.get(f"/runs/{run.pk}/").json()["not_modelled"] == run.not_modelled
    for address in (
        f"/runs/{run.pk}/",
        f"/runs/{run.pk}/cycles/",
        f"/runs/{run.pk}/cycles/1/",
        f"/runs/{run.pk}/pods/default/a/why/",
    ):
        told = owner.get(address, **spoken).json()["not_modelled"]
        assert [CHINESE.search(each) is not None for each in told] == [True] * 2
    owner.client.post("/language", {"language": "zh-hans"})
    for page in ("", "/cycles", "/explore", "/explore?view=tables"):
        answer = owner.client.get(f"/runs/{run.pk}{page}")
        assert answer.status_code == 200
        shown = answer.content.decode()
        assert english_on(shown) == []
        assert not any(text in shown for text in run.not_modelled)


NOTED = """
kind: Secret
apiVersion: v1
metadata: {name: s}
---
apiVersion: v1
kind: Pod
metadata: {name: a, uid: u}
spec: {priorityClassName: swift, containers: [{name: c, env: [{name: A, value: b}]}], nodeName: far}
---
apiVersion: v1
kind: Pod
metadata: {name: b, uid: u}
spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c}]}
---
{apiVersion: v1, kind: Node, metadata: {name: n, managedFields: [{manager: m}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c}}
"""
"""A cluster of which much is to be said."""


def test_what_is_noted_of_an_upload(owner: Person) -> None:
    snapshot = owner.snapshot(NOTED)
    assert len(snapshot.warnings) >= 7
    assert "1 Secret dropped" in owner.get(f"/snapshots/{snapshot.pk}/").json()["warnings"]
    owner.client.post("/language", {"language": "zh-hans"})
    page = owner.client.get(f"/snapshots/{snapshot.pk}").content.decode()
    assert english_on(page) == []
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    told = owner.get(f"/snapshots/{snapshot.pk}/", **spoken).json()
    assert all(CHINESE.search(each) for each in told["warnings"])
    assert all(CHINESE.search(each["message"]) for each in told["problems"])


def test_notes_of_an_older_upload_stay_as_they_are(owner: Person) -> None:
    snapshot = owner.snapshot()
    Snapshot.objects.filter(pk=snapshot.pk).update(warnings=["2 Secrets dropped"])
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hant"}
    told = owner.get(f"/snapshots/{snapshot.pk}/", **spoken).json()
    assert told["warnings"] == ["2 Secrets dropped"]
