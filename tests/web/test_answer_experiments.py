"""Luck, capacity and nodes as experiments: REST, pages, files, and what resumes after a crash."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client

from kviz.engine_build import engine_build
from kviz.experiments.models import Experiment, Result
from kviz.runs.models import Run
from tests.web.cast import NODES, Person, execute, pod, problem
from tests.web.test_experiments import carried_out
from tests.web.test_saved_runs import body

OWNED = """\
---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: shop
  labels: {{app: {app}}}
  ownerReferences:
  - {{apiVersion: apps/v1, kind: ReplicaSet, name: {app}, uid: u, controller: true}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]{more}}}
"""
EQUALS = NODES + "".join(pod(f"web-{i}", "2") for i in range(4))
"""Four equal pods for a room of three: who pends is luck."""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 7
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
"""
BIG = """\
apiVersion: v1
kind: Pod
metadata: {name: big, namespace: shop}
spec: {containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
"""


def asked(ada: Person, text: str, kind: str, **about: Any) -> Experiment:
    snapshot = str(ada.snapshot(text).pk)
    answer = ada.post("/experiments/", {"snapshot": snapshot, "kind": kind, "asked": about})
    assert answer.status_code == 201, answer.json()
    return Experiment.objects.get(pk=answer.json()["id"])


def answer_of(ada: Person, text: str, kind: str, **about: Any) -> Any:
    asked(ada, text, kind, **about)
    experiment = carried_out()
    assert experiment.status == "finished", experiment.error
    return experiment.answer


def table_of(ada: Person, experiment: Experiment) -> list[dict[str, str]]:
    text = body(ada.get(f"/experiments/{experiment.pk}/results.csv/")).decode()
    return list(csv.DictReader(io.StringIO(text)))


# ---------------------------------------------------------------- luck


def test_luck_goes_on_with_what_is_stored(ada: Person) -> None:
    asked(ada, EQUALS, "luck", runs=10, coins=["arrival"])
    calm = carried_out()
    whole = list(calm.results.order_by("variant"))
    shaken = asked(ada, EQUALS, "luck", runs=10, coins=["arrival"])
    Experiment.objects.filter(pk=shaken.pk).update(n_done=2, engine_version=engine_build())
    for number, variant in enumerate((0, 2), 1):
        Result.objects.create(
            experiment=shaken,
            number=number,
            variant=variant,
            name="kept",
            outcome=whole[variant].outcome,
        )

    again = carried_out()

    assert (again.answer, again.n_done) == (calm.answer, calm.n_done)
    assert [each.outcome for each in again.results.order_by("variant")] == [
        each.outcome for each in whole
    ]


def test_luck_on_its_page(owner: Person, client: Client) -> None:
    run = owner.finished(EQUALS)
    sent = client.post("/experiments/new", {"run": str(run.pk), "question": "luck", "runs": "5"})
    experiment = Experiment.objects.get()
    experiment.results.create(
        number=1,
        variant=0,
        name="as kviz pins it",
        outcome={"pods": ["shop/web-0", "shop/web-1"], "places": ["north", ""], "left": []},
    )
    tossed = {"coins": ["arrival", "maps"], "runs": [{"moved": {"0": ""}, "left": []}] * 2}
    experiment.results.create(number=2, variant=1, name="", outcome=tossed)
    assert (
        "0 of 1 placements held in all 2 runs so far."
        in client.get(sent["Location"]).content.decode()
    )
    experiment.results.all().delete()

    carried_out()

    page = client.get(sent["Location"]).content.decode()
    assert "placements are luck" in page
    assert table_of(owner, experiment)[0]["name"] == "as kviz pins it"
    assert "the order of arrival" in page
    assert f"/experiments/{experiment.pk}" in client.get(f"/runs/{run.pk}/luck").content.decode()


# ---------------------------------------------------------------- capacity


def test_how_many_more_fit(ada: Person) -> None:
    found = answer_of(ada, NODES, "capacity", templates=[{"manifest": BIG}])
    assert (found["count"], found["by_node"]) == (3, {"north": 2, "south": 1})
    assert found["stopped_by"] == {"NodeResourcesFit": 2}
    assert {each["runs_out"] for each in found["pools"]} == {"cpu"}
    assert found["alone"] == [{"pod": "shop/big", "count": 3}]


def test_a_mix_of_a_pod_that_is_there_and_one_that_is_pasted(ada: Person) -> None:
    templates = [{"pod": "shop/small", "weight": 2}, {"manifest": BIG, "weight": 1}]
    cluster = NODES + pod("small", "1", nodeName="north")
    experiment = asked(ada, cluster, "capacity", templates=templates)
    found = carried_out().answer

    assert found is not None
    assert {each["pod"]: each["count"] for each in found["templates"]} == {
        "shop/small": 3,
        "shop/big": 1,
    }
    assert {each["pod"]: each["count"] for each in found["alone"]} == {
        "shop/small": 5,
        "shop/big": 2,
    }
    rows = table_of(ada, experiment)
    assert {row["name"]: row["count"] for row in rows} == {
        "together": "4",
        "shop/small": "5",
        "shop/big": "2",
    }


@pytest.mark.parametrize(
    ("about", "message", "line"),
    [
        ({"templates": [{"pod": "shop/none"}]}, "There is no pod shop/none", None),
        ({"templates": [{"manifest": BIG.replace('"2"', "much")}]}, "cpu", 4),
        ({"templates": [{"manifest": DEPLOYMENT.replace('"2"', "much")}]}, "spec.template.spec", 8),
        (
            {"templates": [{"manifest": NODES}]},
            "no pod in it, nor a workload that makes pods, only: Node",
            None,
        ),
        ({"templates": [{}]}, "one of the two", None),
        ({"templates": [{"manifest": BIG, "weight": 1}, {"manifest": BIG}]}, "weight", None),
    ],
)
def test_templates_that_cannot_be_counted(
    ada: Person, about: object, message: str, line: int | None
) -> None:
    asks = {"snapshot": str(ada.snapshot().pk), "kind": "capacity", "asked": about}
    (error,) = problem(ada.post("/experiments/", asks), 400)["errors"]
    assert message in error["message"]
    assert error.get("line") == line


def test_capacity_on_its_pages(owner: Person, client: Client) -> None:
    snapshot = owner.snapshot(NODES + pod("small", "1", nodeName="north"))
    address = f"/experiments/capacity?snapshot={snapshot.pk}"
    form = client.get(address).content.decode()
    assert '<option value="shop/small">' in form
    assert "2 nodes have 5 cpu and 16Gi memory free in all, of 6 cpu and 16Gi memory." in form
    assert "shop/small" in client.get(f"{address}&pod=shop/small").content.decode()
    assert address.replace("&", "&amp;") in client.get(f"/snapshots/{snapshot.pk}").content.decode()

    bad = client.post(
        "/experiments/capacity",
        {"snapshot": str(snapshot.pk), "manifest": BIG.replace('"2"', "much"), "pod": ["", ""]},
    )
    assert bad.status_code == 400
    assert "manifest-line-4" in bad.content.decode()
    empty = client.post("/experiments/capacity", {"snapshot": str(snapshot.pk)})
    assert "Choose a pod of the cluster, or paste one." in empty.content.decode()
    sent = client.post(
        "/experiments/capacity",
        {"snapshot": str(snapshot.pk), "pod": ["shop/small", ""], "weight": ["", ""], "max": "4"},
    )
    carried_out()
    page = client.get(sent["Location"]).content.decode()
    assert "4 copies of shop/small fit, on" in page
    assert "Run the cluster with these copies" in page
    assert "That is the limit you set: more may fit." in page


def test_copies_of_a_deployment_and_the_run_with_them(owner: Person, client: Client) -> None:
    snapshot = owner.snapshot(NODES)
    sent = client.post(
        "/experiments/capacity", {"snapshot": str(snapshot.pk), "manifest": DEPLOYMENT}
    )
    experiment = carried_out()
    page = client.get(sent["Location"]).content.decode()
    assert "3 copies of shop/web fit, on" in page
    opened = client.post(f"/experiments/{experiment.pk}/run")
    run = execute(worker="w")
    run.refresh_from_db()
    assert opened["Location"] == f"/runs/{run.pk}/explore?c=1"
    assert (run.bound, run.pending) == (3, 1), "and the one that finds no node"


# ---------------------------------------------------------------- nodes

PENDING = NODES + "".join(
    OWNED.format(name=f"web-{i}", app="web", cpu=2, more="") for i in range(5)
)
SHAPES = """\
shapes:
- {name: wide, allocatable: {cpu: "8", memory: 8Gi}, price: 1}
- {name: small, allocatable: {cpu: "4", memory: 8Gi}, price: 0.4}
"""


def test_nodes_to_add_and_the_run_with_them(owner: Person, client: Client) -> None:
    snapshot = owner.snapshot(PENDING)
    form = client.get(f"/experiments/nodes?snapshot={snapshot.pk}").content.decode()
    assert 'name="price"' in form
    assert "5 pods have no node yet; 2 nodes are there, in" in form
    sent = client.post("/experiments/nodes", {"snapshot": str(snapshot.pk), "shapes": SHAPES})
    experiment = carried_out()

    assert experiment.answer is not None
    assert experiment.answer["add"]["nodes"] == [{"offer": "small", "count": 1, "price": 0.4}]
    page = client.get(sent["Location"]).content.decode()
    assert "Add 1 node for 0.4, and 2 pending pods bind." in page
    assert "A run proves it, and no cheaper set is enough." in page
    opened = client.post(f"/experiments/{experiment.pk}/run")
    run = execute(worker="w")
    run.refresh_from_db()
    assert opened["Location"] == f"/runs/{run.pk}/explore?c=1"
    assert (run.status, run.pending, run.bound) == ("finished", 0, 5)


def test_a_run_with_the_nodes_is_a_variant_of_the_run_it_is_about(ada: Person) -> None:
    run = ada.finished(PENDING)
    asks = {"run": str(run.pk), "kind": "nodes", "asked": {"drain": 0}}
    assert ada.post("/experiments/", asks).status_code == 201
    found = carried_out().answer
    assert found is not None
    assert found["drain"] == {"nodes": [], "kept": [], "tried": 0, "of": 2}
    assert found["add"]["count"] == 1
    from kviz.experiments.services import experiment_run

    variant = experiment_run(experiment=Experiment.objects.get())
    assert variant.parent_id == run.pk
    assert Run.objects.count() == 2


def test_prices_of_pools_are_typed_beside_the_shapes(owner: Person, client: Client) -> None:
    snapshot = owner.snapshot(PENDING)
    pools = ["4 cpu 8Gi memory", "2 cpu 8Gi memory"]
    values = {
        "snapshot": str(snapshot.pk),
        "pool": pools,
        "price": ["", "3.5"],
        "most": ["", "4"],
        "drain": "0",
    }
    assert client.post("/experiments/nodes", values).status_code == 302
    assert json.loads(Experiment.objects.get().asked["shapes"]) == {
        "pools": [{"name": "2 cpu 8Gi memory", "price": 3.5, "atMost": 4}]
    }
    bad = client.post("/experiments/nodes", values | {"price": ["", "dear"]})
    assert (bad.status_code, "dear" in bad.content.decode()) == (400, True)
    wrong = client.post("/experiments/nodes", values | {"shapes": "shapes:\n- {nme: x}\n"})
    assert "shapes-line-2" in wrong.content.decode()
