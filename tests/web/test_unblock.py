"""What would let a pod of a run bind, over REST: who may ask, for how long, and what is refused."""

from __future__ import annotations

import base64
import json
import re

import pytest
from django.test import Client

from kviz.runs.models import Run
from kviz.runs.reading import unblock as reading
from tests.web.cast import NODES, Person, pod


@pytest.fixture
def run(ada: Person) -> Run:
    return ada.finished()


@pytest.mark.django_db
def test_a_pending_pod_gets_answers_that_were_run(ada: Person, run: Run) -> None:
    asked = f"/runs/{run.pk}/pods/shop/giant/unblock/"
    found = ada.get(asked).json()
    assert (found["pod"], found["complete"]) == ("shop/giant", True)
    best = found["answers"][0]
    assert best["changes"][0].startswith("pod/shop/giant set spec.containers[0].resources")
    assert best["node"]
    assert ada.post(asked, {}).json() == found


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


@pytest.mark.django_db
def test_all_pending_pods_of_the_owner_are_helped(ada: Person) -> None:
    run = ada.finished(OWNED)
    found = ada.get(f"/runs/{run.pk}/pods/shop/web-1/unblock/?owner=true").json()
    assert found["pods"] == ["shop/web-1", "shop/web-0", "shop/web-2"]
    best = found["answers"][0]
    assert (best["helps"], len(best["changes"]), best["node"]) == (3, 3, "a")
    alone = ada.get(f"/runs/{run.pk}/pods/shop/web-1/unblock/").json()
    assert (alone["pods"], len(alone["answers"][0]["changes"])) == (["shop/web-1"], 1)
    share = ada.post(f"/runs/{run.pk}/share/", {}).json()["token"]
    page = Client().get(f"/runs/{run.pk}/pods/shop/web-1/why?help=owner&share={share}")
    assert "3 of 3 bind." in page.content.decode()


@pytest.mark.django_db
def test_a_search_ends_with_its_time(
    ada: Person, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_SECONDS", -1.0)
    assert ada.get(f"/runs/{run.pk}/pods/shop/giant/unblock/").json()["complete"] is False


@pytest.mark.django_db
def test_what_cannot_be_answered_says_why(
    ada: Person, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = ada.get(f"/runs/{run.pk}/pods/shop/web-0/unblock/")
    assert refused.status_code == 400
    assert "is bound, not pending" in refused.json()["errors"][0]["message"]
    monkeypatch.setattr(reading, "MAX_WORK", 10)
    refused = ada.get(f"/runs/{run.pk}/pods/shop/giant/unblock/")
    assert "kviz unblock" in refused.json()["errors"][0]["message"]


@pytest.mark.django_db
def test_another_workspace_sees_nothing_and_a_link_lets_ask(
    ada: Person, ben: Person, run: Run
) -> None:
    asked = f"/runs/{run.pk}/pods/shop/giant/unblock/"
    assert ben.get(asked).status_code == 404
    token = ada.post(f"/runs/{run.pk}/share/", {}).json()["token"]
    assert Client().get(f"/api/v1{asked}?share={token}").status_code == 200


@pytest.mark.django_db
def test_the_why_page_offers_to_search_and_then_links_into_the_lab(owner: Person) -> None:
    run, browser = owner.finished(), Client()
    page = f"/runs/{run.pk}/pods/shop/giant/why"
    assert "Find what would help" in browser.get(page).content.decode()
    text = browser.get(f"{page}?help=1").content.decode()
    assert "It binds with" in text
    assert "Nothing smaller exists among what was tried." in text
    found = re.search(r"[?&;]lab=([\w-]+)", text)
    assert found is not None
    letters = found[1] + "=" * (-len(found[1]) % 4)
    (change, *_) = json.loads(base64.urlsafe_b64decode(letters))
    assert change["set"]["path"].startswith("spec.containers[0].resources")
    assert (
        "Find what would help"
        not in browser.get(f"/runs/{run.pk}/pods/shop/web-0/why").content.decode()
    )


@pytest.mark.django_db
def test_the_why_page_says_what_is_free_and_links_the_cycles_that_took_it(owner: Person) -> None:
    pods = pod("first", "3") + pod("second", "2") + pod("third", "2")
    run, browser = owner.finished(NODES + pods), Client()
    page = f"/runs/{run.pk}/pods/shop/third/why"
    sentence = (
        "The 2 nodes that lack only room have 1 cpu free in all, 1 on the emptiest (north), "
        "of 2 asked for."
    )
    text = browser.get(page).content.decode()
    assert sentence in text
    assert "Who took the room" not in text
    text = browser.get(f"{page}?help=1").content.decode()
    assert "2 earlier placements took the room" in text
    links = re.findall(r'href="(/runs/[^"]+)">Cycle (\d)<', text)
    assert [cycle for _, cycle in links] == ["2", "1"]
    assert all(f"c={cycle}" in link for link, cycle in links)
    assert browser.get(links[0][0].replace("&amp;", "&")).status_code == 200
