"""What would let a pod of a run bind, as an experiment: REST, the why page, the Lab, limits."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client

from kviz.engine_build import engine_build
from kviz.experiments.models import Experiment
from kviz.runs.models import Run
from tests.web.cast import NODES, Person, execute, person, pod, problem
from tests.web.test_experiments import carried_out
from tests.web.test_saved_runs import body


@pytest.fixture
def run(ada: Person) -> Run:
    return ada.finished()


def asked(ada: Person, run: Run, pod: str, **more: Any) -> Any:
    given = {"run": str(run.pk), "kind": "unblock", "asked": {"pod": pod, **more}}
    return ada.post("/experiments/", given)


def found(ada: Person, run: Run, pod: str, **more: Any) -> Any:
    assert asked(ada, run, pod, **more).status_code == 201
    experiment = carried_out()
    assert experiment.status == "finished", experiment.error
    return experiment.answer


@pytest.mark.django_db
def test_every_answer_is_the_result_of_a_run(ada: Person, run: Run) -> None:
    answer = found(ada, run, "shop/giant")
    assert (answer["pod"], answer["complete"]) == ("shop/giant", True)
    best = answer["answers"][0]
    assert best["changes"][0].startswith("pod/shop/giant set spec.containers[0].resources")
    experiment = Experiment.objects.get()
    assert experiment.n_done == experiment.n_variants == experiment.results.count()
    outcomes = [each.outcome["answer"] for each in experiment.results.all()]
    assert all(each in outcomes for each in answer["answers"])
    table = body(ada.get(f"/experiments/{experiment.pk}/results.csv/")).decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["node"] for row in rows if row["changes"] == best["changes"][0]] == [best["node"]]


OWNED = """\
apiVersion: v1
kind: Node
metadata: {name: a}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
""" + "".join(
    f"""---
apiVersion: v1
kind: Pod
metadata:
  name: web-{i}
  namespace: shop
  ownerReferences: [{{kind: ReplicaSet, name: web, controller: true}}]
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "1"}}}}}}]}}
"""
    for i in range(3)
)


TWO_REASONS = NODES + pod("big", "6", nodeSelector="{disk: ssd}")


@pytest.mark.django_db
def test_all_pending_pods_of_the_owner_are_helped(owner: Person, client: Client) -> None:
    run = owner.finished(OWNED)
    answer = found(owner, run, "shop/web-1", owner=True)
    assert answer["pods"] == ["shop/web-1", "shop/web-0", "shop/web-2"]
    best = answer["answers"][0]
    assert (best["helps"], len(best["changes"]), best["node"]) == (3, 3, "a")
    page = client.get(f"/experiments/{Experiment.objects.get().pk}").content.decode()
    assert "3 of 3 bind." in page
    alone = found(owner, run, "shop/web-1")
    assert (alone["pods"], len(alone["answers"][0]["changes"])) == (["shop/web-1"], 1)


@pytest.mark.django_db
def test_what_cannot_be_answered_says_why(ada: Person, run: Run) -> None:
    problem(asked(ada, run, "giant"), 400)
    asked(ada, run, "shop/none")
    failed = carried_out()
    assert (failed.status, "is not there" in failed.error) == ("failed", True)
    placed = found(ada, run, "shop/web-0")
    assert "the run places it on" in placed["bound"]
    assert placed["answers"] == []


@pytest.mark.django_db
def test_a_search_whose_worker_died_goes_on_behind_what_is_stored(
    ada: Person, settings: Any
) -> None:
    settings.EXPERIMENT_PROCESSES = 1
    run = ada.finished(TWO_REASONS)
    whole = found(ada, run, "shop/big")
    calm = Experiment.objects.get()
    rows = list(calm.results.order_by("variant"))
    assert len(rows) > 2
    asked(ada, run, "shop/big")
    shaken = Experiment.objects.exclude(pk=calm.pk).get()
    kept = [rows[0], rows[2]]
    for number, row in enumerate(kept, 1):
        shaken.results.create(
            number=number, variant=row.variant, name="from before", outcome=row.outcome
        )
    Experiment.objects.filter(pk=shaken.pk).update(n_done=2, engine_version=engine_build())

    again = carried_out()

    assert again.answer == whole
    assert list(again.results.order_by("variant").values_list("variant", "outcome")) == [
        (row.variant, row.outcome) for row in rows
    ]
    assert again.results.filter(name="from before").count() == 2


@pytest.mark.django_db
def test_another_workspace_sees_nothing_and_a_link_lets_ask(
    ada: Person, ben: Person, run: Run
) -> None:
    problem(asked(ben, run, "shop/giant"), 400)
    token = ada.post(f"/runs/{run.pk}/share/", {}).json()["token"]
    browser = Client()
    page = f"/runs/{run.pk}/pods/shop/giant/why?share={token}"
    assert "Find what would help" in browser.get(page).content.decode()
    form = {"run": str(run.pk), "pod": "shop/giant", "share": token}
    sent = browser.post("/experiments/unblock", form)
    carried_out()
    text = browser.get(sent["Location"]).content.decode()
    (lab,) = set(re.findall(r'href="(/runs/[^"]+lab=[^"]+)"', text)[:1])
    assert browser.get(lab.replace("&amp;", "&")).status_code == 200
    assert Client().post("/experiments/unblock", form | {"share": ""}).status_code == 404
    assert person().get(f"/experiments/{Experiment.objects.get().pk}/").status_code == 404


@pytest.mark.django_db
def test_the_why_page_searches_says_the_best_once_and_leads_into_the_lab(
    owner: Person, client: Client
) -> None:
    run = owner.finished()
    page = f"/runs/{run.pk}/pods/shop/giant/why"
    assert "Find what would help" in client.get(page).content.decode()
    sent = client.post("/experiments/unblock", {"run": str(run.pk), "pod": "shop/giant"})
    assert "Not known yet" in client.get(page).content.decode()
    answer: Any = carried_out().answer
    best = answer["answers"][0]
    said = f"<h1>shop/giant {best['verdict']} with this change: {best['title']}</h1>"
    assert said in client.get(sent["Location"]).content.decode()
    text, _, _plans = client.get(page).content.decode().partition("All plans that were tried")
    assert text.count(best["title"]) == 1
    assert text.count(best["sentence"].removeprefix("p")) == 1
    for address in (page, sent["Location"]):
        text = client.get(address).content.decode()
        assert "Nothing smaller exists among what was tried." in text
        (plan,) = [each for each in answer["plans"] if each["sentence"] == best["sentence"]]
        assert plan["result"] == "binds"
        _, _, listed = text.partition("All plans that were tried")
        assert listed.count("<td>it binds</td>") == len(answer["answers"])
        assert listed.count('<th scope="row">') >= answer["tried"]
        match = re.search(r"[?&;]lab=([\w-]+)", text)
        assert match is not None
        letters = match[1] + "=" * (-len(match[1]) % 4)
        (change, *_) = json.loads(base64.urlsafe_b64decode(letters))
        assert change["set"]["path"].startswith("spec.containers[0].resources")
    bound = client.get(f"/runs/{run.pk}/pods/shop/web-0/why").content.decode()
    assert "Find what would help" not in bound


@pytest.mark.django_db
def test_an_answer_is_run_from_its_page(owner: Person, client: Client) -> None:
    run = owner.finished()
    best = found(owner, run, "shop/giant")["answers"][0]
    experiment = Experiment.objects.get()
    text = client.get(f"/experiments/{experiment.pk}").content.decode()
    number = re.search(r'name="variant" value="(\d+)"', text)
    assert number is not None
    client.post(f"/experiments/{experiment.pk}/run", {"variant": number[1]})
    variant = execute(worker="w")
    assert variant.parent_id == run.pk
    assert variant.pod_outcomes.get(pod="shop/giant").node == best["node"]
    assert Run.objects.count() == 2
    absurd = client.post(f"/experiments/{experiment.pk}/run", {"variant": "9" * 30})
    assert absurd.status_code == HTTPStatus.FOUND


@pytest.mark.django_db
def test_the_pages_say_what_is_free_and_link_the_cycles_that_took_it(
    owner: Person, client: Client
) -> None:
    pods = pod("first", "3") + pod("second", "2") + pod("third", "2")
    run = owner.finished(NODES + pods)
    page = f"/runs/{run.pk}/pods/shop/third/why"
    sentence = (
        "The 2 nodes that lack only room have 1 cpu free in all, 1 on the emptiest (north), "
        "of 2 asked for."
    )
    text = client.get(page).content.decode()
    assert sentence in text
    assert "Who took the room" not in text
    found(owner, run, "shop/third")
    text = client.get(page).content.decode()
    assert "2 earlier placements took the room" in text
    links = re.findall(r'href="(/runs/[^"]+)">Cycle (\d)<', text)
    assert [cycle for _, cycle in links] == ["2", "1"]
    assert all(f"c={cycle}" in link for link, cycle in links)
    assert client.get(links[0][0].replace("&amp;", "&")).status_code == 200


@pytest.mark.django_db
def test_a_stored_answer_is_said_in_the_readers_language(owner: Person, client: Client) -> None:
    best = found(owner, owner.finished(OWNED), "shop/web-1")["answers"][0]
    page = f"/experiments/{Experiment.objects.get().pk}"
    assert best["sentence"] in client.get(page).content.decode()
    chinese = client.get(page, headers={"Accept-Language": "zh-Hans"}).content.decode()
    assert best["sentence"] not in chinese
    document = json.loads(body(owner.get(f"{page}/results.json/")))
    assert document["answer"]["answers"][0]["sentence"] == best["sentence"]


@pytest.mark.django_db
def test_what_is_to_be_waited_for_stands_below_its_title(owner: Person, client: Client) -> None:
    ill = OWNED.replace("key: gpu", "key: node.cilium.io/agent-not-ready")
    best = found(owner, owner.finished(ill), "shop/web-1")["answers"][0]
    assert best["kinds"] == ["ready"]
    text = client.get(f"/experiments/{Experiment.objects.get().pk}").content.decode()
    unfolded = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    sentence = best["sentence"].removeprefix("w")
    assert unfolded.count(sentence) == 1
