"""Which device went to whom, and why each other was refused, asked over REST."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest

from kviz.questions.why.near_devices import DEVICES_SHOWN
from kviz.runs.models import Run
from kviz.runs.reading import held_cycles, reenactment
from kviz.runs.selectors import has_devices
from kviz.runs.sharing import run_share
from kviz.snapshots.samples import SAMPLES
from tests.web.cast import CLUSTER, NODES, Person, pod, problem

GPU = "gpu.example.com"


@pytest.fixture
def run(ada: Person) -> Run:
    [sample] = [sample for sample in SAMPLES if sample.slug == "devices"]
    return ada.finished(sample.path.read_text())


def devices(person: Person, run: Run, pod: str, **query: str) -> Any:
    cycles = person.get(f"/runs/{run.pk}/cycles/").json()["cycles"]
    number = next(each["cycle"] for each in cycles if each["pod"] == pod)
    return person.get(f"/runs/{run.pk}/cycles/{number}/devices/", data=query)


def answers(document: Any, node: str) -> dict[str, str]:
    """Return `outcome: text` of the first answer about each device of a node."""
    [found] = [each for each in document["nodes"] if each["node"] == node]
    return {
        device["id"]: f"{device['answers'][0]['outcome']}: {device['answers'][0]['text']}"
        for device in found["devices"]
    }


def test_a_claim_that_gets_devices(ada: Person, run: Run) -> None:
    document = devices(ada, run, "lab/train-0").json()
    assert document["note"] == reenactment.DEVICES_NOTE
    [claim] = document["claims"]
    assert (claim["claim"], claim["requests"][0]["count"]) == ("lab/pair", 2)
    assert claim["constraints"] == [f"the same {GPU}/numa (requests gpus)"]
    given = {f"{GPU}/room-2/gpu-{i}": "given: given to this request" for i in (0, 1)}
    assert answers(document, "room-2") == given
    assert answers(document, "room-3")[f"{GPU}/room-3/gpu-0"].startswith("taint: taint ")
    assert document["n_nodes"] == 4


def test_later_pods_find_devices_in_use(ada: Person, run: Run) -> None:
    document = devices(ada, run, "lab/batch-0").json()
    [holder] = document["devices"][f"{GPU}/room-2/gpu-0"]["held_by"]
    assert (holder["claim"], holder["pods"]) == ("lab/pair", ["lab/train-0"])
    assert holder["pending"]
    text = "in_use: in use by claim lab/pair of pod lab/train-0 (reserved)"
    assert answers(document, "room-2")[f"{GPU}/room-2/gpu-0"] == text


def test_one_node_alone(ada: Person, run: Run) -> None:
    document = devices(ada, run, "lab/train-0", node="room-3").json()
    assert [each["node"] for each in document["nodes"]] == ["room-3"]
    assert {each["pool"] for each in document["devices"].values()} == {"room-3", "hall"}
    assert document["n_nodes"] == 4


def test_a_pod_that_claims_nothing_sees_who_holds_what(ada: Person, run: Run) -> None:
    document = devices(ada, run, "lab/plain-0").json()
    assert document["claims"] == []
    assert len(document["devices"]) == 7
    assert all(not d["answers"] for each in document["nodes"] for d in each["devices"])


def test_a_cluster_without_devices(ada: Person, ben: Person) -> None:
    run = ada.finished(CLUSTER)
    document = ada.get(f"/runs/{run.pk}/cycles/1/devices/").json()
    assert (document["nodes"], document["devices"], document["claims"]) == ([], {}, [])
    problem(ben.get(f"/runs/{run.pk}/cycles/1/devices/"), 404)


def test_the_explorer_knows_whether_there_are_devices(ada: Person, run: Run) -> None:
    plain = ada.finished(CLUSTER)
    assert has_devices(run=run)
    assert not has_devices(run=plain)
    plain.scenario = "steps: [{at: 1s, create: {kind: ResourceSlice}}]"
    assert has_devices(run=plain)
    plain.snapshot = None
    assert not has_devices(run=plain)


CLAIMING = """\
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: big, namespace: shop}
spec:
  devices:
    requests:
    - name: card
      exactly:
        deviceClassName: gpu
        selectors: [{cel: {expression: "device.attributes['gpu.example.com'].memory > 40"}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: north}
spec:
  driver: gpu.example.com
  nodeName: north
  pool: {name: north, generation: 1, resourceSliceCount: 1}
  devices: [DEVICES]
"""


def claiming_run(ada: Person, n_devices: int) -> Run:
    cards = ", ".join(
        f"{{name: c{i}, attributes: {{memory: {{int: 16}}}}}}" for i in range(n_devices)
    )
    wants = pod("wants", resourceClaims="[{name: card, resourceClaimName: big}]")
    return ada.finished(NODES + wants + CLAIMING.replace("DEVICES", cards))


def why_page(ada: Person, run: Run) -> str:
    token = run_share(run=run).token
    page = ada.client.get(f"/runs/{run.pk}/pods/shop/wants/why?values=1&share={token}")
    assert page.status_code == 200
    return unescape(page.content.decode())


def test_the_why_page_says_which_device_was_refused_on_the_nearest_nodes(ada: Person) -> None:
    page = why_page(ada, claiming_run(ada, DEVICES_SHOWN + 2))
    section = page[page.index('id="devices"') :]
    section = section[: section.index("</section>")]
    assert section.count("refused</span>") == DEVICES_SHOWN
    assert f"{GPU}/north/c0" in section
    assert "device.attributes['gpu.example.com'].memory > 40" in section
    assert "is 16" in section
    assert "2 more devices" in section
    assert "No device can be used on this node." in section, "the other node has none"
    assert "tab=devices" in section


def test_far_into_a_run_the_why_page_sends_to_the_explorer(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = claiming_run(ada, 1)
    monkeypatch.setattr(held_cycles, "AT_ONCE", 0)
    page = why_page(ada, run)
    section = page[page.index('id="devices"') :]
    assert "Ask in the Explorer" in section
    section = section[: section.index("</section>")]
    assert f"{GPU}/north/c0" not in section


def test_the_why_page_of_a_pod_that_lacks_no_device(ada: Person) -> None:
    run = ada.finished(NODES + pod("wants", "900"))
    assert 'id="devices"' not in why_page(ada, run)
