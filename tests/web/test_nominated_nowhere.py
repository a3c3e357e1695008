"""A dump may nominate a pod to a node that it lacks: the run and its pages do without the name."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from tests.web.cast import NODES, Person

pytestmark = pytest.mark.django_db

GONE = """\
---
apiVersion: v1
kind: Pod
metadata: {name: lost, namespace: shop}
spec: {containers: [{name: c, resources: {requests: {cpu: "64"}}}]}
status: {nominatedNodeName: gone}
---
apiVersion: v1
kind: Pod
metadata: {name: gated, namespace: shop}
spec: {schedulingGates: [{name: later}], containers: [{name: c}]}
status: {nominatedNodeName: gone}
"""


def test_a_nomination_for_a_node_that_is_not_there_ends_nothing(ada: Person) -> None:
    run = ada.finished(NODES + GONE)
    assert (run.status, run.pending) == ("finished", 2)
    outcomes = {each.pod: each.nominated_node for each in run.pod_outcomes.all()}
    assert outcomes == {"shop/lost": "", "shop/gated": ""}
    for path in ("", "cycles/", "cycles/1/", "pods/shop/lost/why/", "pods/shop/gated/why/"):
        assert ada.get(f"/runs/{run.pk}/{path}").status_code == HTTPStatus.OK, path
