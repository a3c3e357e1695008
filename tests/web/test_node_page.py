"""The page that sets a pod and a node side by side, and two nodes."""

from __future__ import annotations

import pytest

from kviz.runs.models import Run
from kviz.runs.reading import held_cycles
from tests.web.cast import CLUSTER, NODES, Person, pod
from tests.web.test_also import PICKY, cycle_of

TAINTED = NODES.replace(
    'status: {allocatable: {cpu: "2"',
    "spec: {taints: [{key: dedicated, value: database, effect: NoSchedule}]}\n"
    '  status: {allocatable: {cpu: "2"',
)
TOLERATION = "[{key: dedicated, value: databases, effect: NoSchedule}]"


@pytest.fixture
def run(owner: Person) -> Run:
    return owner.finished(CLUSTER + PICKY)


def page(person: Person, run: Run, cycle: int, node: str, query: str = "") -> str:
    answer = person.client.get(f"/runs/{run.pk}/cycles/{cycle}/nodes/{node}{query}")
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_what_is_not_met_comes_first(owner: Person, run: Run) -> None:
    text = page(owner, run, cycle_of(owner, run, "shop/picky"), "south")
    assert "<h1>Why not south?</h1>" in text
    assert "rejected by NodeAffinity" in text
    assert "selects nodes with disk=ssd, the node has no label disk." in text
    asked = text[text.index('id="asked"') :]
    assert "disk=<mark>ssd</mark>" in asked
    assert asked.index("no label disk") < asked.index("64 cpu") < asked.index("a place for")


def test_the_part_of_a_toleration_that_differs_is_marked(owner: Person) -> None:
    run = owner.finished(TAINTED + pod("db", "3", tolerations=TOLERATION) + pod("giant", "64"))
    text = page(owner, run, cycle_of(owner, run, "shop/db"), "south")
    assert "tolerates dedicated=<mark>databases</mark>:NoSchedule" in text
    assert "dedicated=<mark>database</mark>:NoSchedule" in text


def test_the_chosen_node_with_its_scores(owner: Person, run: Run) -> None:
    recorded = owner.get(f"/runs/{run.pk}/cycles/1/").json()
    text = page(owner, run, 1, recorded["node"])
    assert f"<h1>Why {recorded['node']}?</h1>" in text
    assert "Its scores, written out" in text
    assert f" = {recorded['totals'][recorded['node']]}" in text


def test_two_nodes(owner: Person, run: Run) -> None:
    totals = owner.get(f"/runs/{run.pk}/cycles/1/").json()["totals"]
    text = page(owner, run, 1, "north", "?against=south")
    assert "<h1>north or south?</h1>" in text
    assert f"north scores {totals['north']}, south {totals['south']}" in text or (
        f"south scores {totals['south']}, north {totals['north']}" in text
    )
    assert "What the pod asks of both" in text


def test_a_second_node_that_is_not_there(owner: Person, run: Run) -> None:
    text = page(owner, run, 1, "north", "?against=west")
    assert "Cycle 1 saw no node west." in text
    assert "What the pod asks, and what the node has" in text


def test_without_values_the_verdict_stands(
    owner: Person, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cycle = cycle_of(owner, run, "shop/picky")
    monkeypatch.setattr(held_cycles, "max_cycle", lambda n_nodes: 1)
    text = page(owner, run, cycle, "south")
    assert "the limit for 2 nodes is cycle 1" in text
    assert "node(s) didn&#x27;t match Pod&#x27;s node affinity/selector" in text


def test_what_is_not_there(owner: Person, run: Run) -> None:
    for path in ("cycles/1/nodes/west", "cycles/99/nodes/north"):
        assert owner.client.get(f"/runs/{run.pk}/{path}").status_code == 404


def test_the_why_page_leads_there_and_says_what_is_missing(owner: Person, run: Run) -> None:
    cycle = cycle_of(owner, run, "shop/picky")
    text = owner.client.get(f"/runs/{run.pk}/pods/shop/picky/why").content.decode()
    nearest = text[text.index('id="nearest"') :]
    assert f'href="/runs/{run.pk}/cycles/{cycle}/nodes/north"' in nearest
    assert "needs 64 cpu, the whole node has 4" in nearest
