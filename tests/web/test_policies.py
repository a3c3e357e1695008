"""Disruption budgets and priority classes: who they concern, on pages and over REST."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kviz.runs.sharing import run_share
from kviz.snapshots import policies
from kviz.snapshots.policies import BudgetRow, ClassRow, Policies, collect, selector_text
from scheduler_core.api import (
    LabelSelector,
    LabelSelectorRequirement,
    ObjectMeta,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PriorityClass,
)
from tests.builders import make_pod
from tests.web.cast import CLUSTER, NODES, Person

POLICIES = (
    NODES
    + """\
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gold}
value: 1000
globalDefault: true
preemptionPolicy: Never
description: For the shop
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 50%, selector: {matchLabels: {app: web}}}
status: {disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 4}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web}}
spec: {nodeName: north, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}}
spec: {priorityClassName: gold, containers: [{name: c}]}
"""
)


def budget(namespace: str = "shop", **spec: Any) -> PodDisruptionBudget:
    metadata = ObjectMeta(name="b", namespace=namespace)
    return PodDisruptionBudget(metadata=metadata, spec=PodDisruptionBudgetSpec(**spec))


def budget_row(*objects: object) -> BudgetRow:
    (row,) = collect(objects).budgets
    return row


def class_named(policies: Policies, name: str) -> ClassRow:
    (row,) = (row for row in policies.classes if row.name == name)
    return row


WEB = LabelSelector(match_labels={"app": "web"})


def test_a_budget_covers_pods_of_its_namespace_that_are_not_done() -> None:
    row = budget_row(
        budget(selector=WEB, max_unavailable=1),
        make_pod("waits").namespace("shop").label("app", "web").obj(),
        make_pod("runs").namespace("shop").label("app", "web").on("n").obj(),
        make_pod("done").namespace("shop").label("app", "web").on("n").phase("Succeeded").obj(),
        make_pod("other").namespace("shop").label("app", "db").obj(),
        make_pod("far").namespace("elsewhere").label("app", "web").obj(),
    )
    assert [(each.pod, each.node) for each in row.pods] == [("shop/runs", "n"), ("shop/waits", "")]
    assert (row.min_available, row.max_unavailable, row.selector) == ("", "1", "app=web")


def test_of_many_pods_the_first_are_listed_and_all_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policies, "LISTED", 3)
    monkeypatch.setattr(policies, "LISTED_OF_ALL", 4)
    pods = [make_pod(f"p{i}").namespace("shop").label("app", "web").obj() for i in range(5)]
    two = [
        budget(selector=WEB),
        replace(budget(selector=WEB), metadata=replace(budget().metadata, name="z")),
    ]
    rows = collect([*two, *pods]).budgets
    assert [(row.n_pods, len(row.pods)) for row in rows] == [(5, 3), (5, 1)]


@pytest.mark.parametrize("selector", [None, LabelSelector()], ids=["absent", "empty"])
def test_a_budget_without_a_selector_covers_no_pod_for_preemption(
    selector: LabelSelector | None,
) -> None:
    pod = make_pod("p").namespace("shop").label("app", "web").obj()
    row = budget_row(budget(selector=selector), pod)
    assert (row.pods, row.selector) == ((), "")


def test_every_operator_of_a_selector_has_its_text() -> None:
    def term(operator: str, *values: str) -> LabelSelectorRequirement:
        return LabelSelectorRequirement(key="k", operator=operator, values=values)

    terms = (term("In", "a", "b"), term("NotIn", "c"), term("Exists"), term("DoesNotExist"))
    selector = LabelSelector(match_labels={"z": "1", "app": "web"}, match_expressions=terms)
    assert selector_text(selector) == "app=web,z=1,k in (a, b),k notin (c),k,!k"


def test_classes_come_by_value_and_name_their_users() -> None:
    gold = PriorityClass(metadata=ObjectMeta(name="gold"), value=7)
    policies = collect(
        [
            gold,
            make_pod("a").priority_class("gold").obj(),
            make_pod("b").priority_class("gone").priority(3).obj(),
            make_pod("c").priority_class("gold").phase("Failed").obj(),
        ]
    )
    names = [row.name for row in policies.classes]
    assert names == ["system-node-critical", "system-cluster-critical", "gold", "gone"]
    row = class_named(policies, "gold")
    assert (row.value, row.pods, row.built_in) == (7, ("default/a",), False)
    assert row.preemption_policy == "PreemptLowerPriority"
    gone = class_named(policies, "gone")
    assert (gone.value, gone.is_known, gone.pods) == (None, False, ("default/b",))


def test_a_class_of_the_system_that_is_in_the_upload_stands_once() -> None:
    metadata = ObjectMeta(name="system-node-critical")
    policies = collect([PriorityClass(metadata=metadata, value=2_000_001_000)])
    assert class_named(policies, "system-node-critical").built_in


# ---------------------------------------------------------------- pages and REST


def html_of(person: Person, address: str) -> str:
    response = person.client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_the_page_of_a_cluster_has_them(owner: Person) -> None:
    snapshot = owner.snapshot(POLICIES)
    html = html_of(owner, f"/snapshots/{snapshot.pk}")
    for shown in ("shop/web", "50%", "app=web", "3 of 2 needed", "gold", "1,000", "shop/web-0"):
        assert shown in html, shown


def test_a_cluster_without_a_budget_says_so(owner: Person) -> None:
    html = html_of(owner, f"/snapshots/{owner.snapshot().pk}")
    assert "kviz read no disruption budget here" in html
    assert "system-node-critical" in html


def test_a_run_shows_those_of_its_cluster_also_to_whom_it_is_shared(
    owner: Person, ada: Person
) -> None:
    run = ada.finished(POLICIES)
    address = f"/runs/{run.pk}/policies"
    assert owner.client.get(address).status_code == 404
    token = run_share(run=run).token
    assert f"{address}?share={token}" in html_of(owner, f"/runs/{run.pk}?share={token}")
    html = html_of(owner, f"{address}?share={token}")
    assert "shop/web-0" in html
    assert "when it was uploaded" in html


def test_they_are_listed_over_rest(ada: Person) -> None:
    snapshot = ada.snapshot(POLICIES)
    (row,) = ada.get(f"/snapshots/{snapshot.pk}/disruption-budgets/").json()
    assert row == {
        "namespace": "shop",
        "name": "web",
        "selector": "app=web",
        "min_available": "50%",
        "max_unavailable": "",
        "disruptions_allowed": 1,
        "current_healthy": 3,
        "desired_healthy": 2,
        "expected_pods": 4,
        "n_pods": 2,
        "pods": [{"pod": "shop/web-0", "node": "north"}, {"pod": "shop/web-1", "node": ""}],
    }
    classes = ada.get(f"/snapshots/{snapshot.pk}/priority-classes/").json()
    (gold,) = (each for each in classes if each["name"] == "gold")
    assert gold == {
        "name": "gold",
        "value": 1000,
        "global_default": True,
        "preemption_policy": "Never",
        "description": "For the shop",
        "built_in": False,
        "is_known": True,
        "n_pods": 2,
        "pods": ["shop/web-0", "shop/web-1"],
    }


def test_a_cluster_without_any_has_empty_lists(ada: Person) -> None:
    snapshot = ada.snapshot(CLUSTER)
    assert ada.get(f"/snapshots/{snapshot.pk}/disruption-budgets/").json() == []
