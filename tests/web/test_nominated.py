"""A node that is rejected only because of nominated pods is shown as such, in REST and on pages."""

from __future__ import annotations

import pytest

from kviz.runs.sharing import run_share

from .cast import Person

CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: victim, namespace: shop, uid: u1}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: boss, namespace: shop, uid: u2}
spec:
  priority: 100
  containers: [{name: c, ports: [{hostPort: 80}], resources: {requests: {cpu: "2", memory: 1Gi}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, uid: u3}
spec: {containers: [{name: c, ports: [{hostPort: 80}], resources: {requests: {cpu: 100m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: wide, namespace: shop, uid: u4}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
"""
HELD = {
    "effect": "rejects",
    "pods": [{"pod": "shop/boss", "requests": {"cpu": 2000, "memory": 2**30}}],
    "without": None,
}


def test_a_cycle_says_which_nodes_are_held_and_for_whom(ada: Person) -> None:
    run = ada.finished(CLUSTER)
    document = ada.get(f"/runs/{run.pk}/cycles/3/").json()
    assert (document["pod"], document["n_held"]) == ("shop/wide", 1)
    assert document["filter"] == {
        "n1": {
            "code": "Unschedulable",
            "plugin": "NodeResourcesFit",
            "reasons": ["Insufficient cpu"],
            "nominated": HELD,
        }
    }
    token = run_share(run=run).token
    address = f"/runs/{run.pk}/explore?c=3&view=tables&share={token}"
    page = " ".join(ada.client.get(address).content.decode().split())
    assert "1 held for nominated pods" in page
    assert (
        'Room is held for nominated pods: <span class="mono">shop/boss</span> (2 cpu, 1Gi memory)'
        in page
    )


def test_why_a_pod_is_pending_names_the_nominated_pods(ada: Person) -> None:
    """No event wakes `web` after `boss` has come, so its last attempt met the nomination."""
    run = ada.finished(CLUSTER)
    why = ada.get(f"/runs/{run.pk}/pods/shop/web/why/").json()
    assert (why["status"], why["n_held"]) == ("pending", 1)
    assert why["nearest"][0]["nominated"] == HELD
    assert [reason["n_nominated"] for reason in why["reasons"]] == [1]
    token = run_share(run=run).token
    page = ada.client.get(f"/runs/{run.pk}/pods/shop/web/why?share={token}").content.decode()
    assert "(on 1 only because nominated pods count there)" in page
    assert "Only because nominated pods count there:" in page
    assert "(2 cpu, 1Gi memory)" in page


@pytest.mark.parametrize("asked", ["also", "state", "evidence", "lab", "model", "nodes/n1"])
def test_a_cycle_in_which_a_node_is_held_is_enacted_again(ada: Person, asked: str) -> None:
    run = ada.finished(CLUSTER)
    answer = ada.get(f"/runs/{run.pk}/cycles/3/{asked}/")
    assert answer.status_code == 200, answer.content
