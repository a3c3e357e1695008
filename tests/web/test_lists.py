"""The lists of clusters and of experiments: narrowed, ordered, paged; the ticked are deleted."""

from __future__ import annotations

import re

import pytest

from kviz.experiments.models import Experiment
from kviz.snapshots.models import Snapshot
from tests.web.cast import CLUSTER, NODES, Person

MANY = 59


def names(owner: Person, address: str) -> list[str]:
    """What the rows of the list are called."""
    html = owner.client.get(address).content.decode()
    table = re.search(r'<table class="list">(.*?)</table>', html, re.DOTALL)
    return re.findall(r'<th scope="row"><a [^>]*>(.*?)</a>', table[1]) if table else []


def named(owner: Person, text: str, name: str) -> Snapshot:
    made = owner.snapshot(text)
    made.name = name
    made.save()
    return made


def test_clusters_are_narrowed_ordered_and_deleted(owner: Person, ada: Person) -> None:
    full, empty, other = named(owner, CLUSTER, "b"), named(owner, NODES, "a"), ada.snapshot(NODES)
    found = {
        query: names(owner, f"/snapshots/{query}")
        for query in ("", "?sort=name", "?sort=pending", "?pending=some", "?pending=none", "?q=A")
    }
    assert list(found.values()) == [["a", "b"], ["a", "b"], ["b", "a"], ["b"], ["a"], ["a"]]
    delete = "/snapshots/delete"
    assert owner.client.post(delete, {"snapshot": [str(other.pk)]}).status_code == 404
    assert owner.client.post(delete, {"snapshot": ["nonsense"]}).status_code == 404
    assert owner.client.post(delete, {}).status_code == 400
    ticked = {"snapshot": [str(full.pk), str(empty.pk)]}
    assert owner.client.post(delete, ticked).status_code == 302
    assert list(Snapshot.objects.filter(is_sample=False)) == [other]


def experiment(owner: Person, snapshot: Snapshot, kind: str, **columns: object) -> Experiment:
    made: Experiment = Experiment.objects.create(
        workspace=owner.workspace, snapshot=snapshot, kind=kind, **columns
    )
    return made


def test_experiments_are_narrowed_ordered_and_deleted(owner: Person, ada: Person) -> None:
    cluster = named(owner, CLUSTER, "mine")
    unblock = experiment(owner, cluster, "unblock", asked={"pod": "shop/giant"})
    nodes = experiment(owner, cluster, "nodes", name="size", status="finished")
    other = experiment(ada, ada.snapshot(NODES), "nodes")
    giant = "What would let shop/giant bind"
    found = {
        query: names(owner, f"/experiments/{query}")
        for query in ("", "?sort=oldest", "?q=giant", "?kind=nodes", "?status=queued", "?q=mine")
    }
    both = ["size", giant]
    assert list(found.values()) == [both, both[::-1], [giant], ["size"], [giant], both]
    assert names(owner, f"/experiments/?cluster={cluster.pk}") == both
    delete = "/experiments/delete"
    assert owner.client.post(delete, {"experiment": [str(other.pk)]}).status_code == 404
    assert owner.client.post(delete, {}).status_code == 400
    ticked = {"experiment": [str(unblock.pk), str(nodes.pk)]}
    assert owner.client.post(delete, ticked).status_code == 302
    assert list(Experiment.objects.all()) == [other]


@pytest.mark.parametrize("address", ["/snapshots/", "/experiments/"])
def test_a_long_list_has_pages(owner: Person, address: str) -> None:
    snapshot = owner.snapshot(NODES)
    copies = [
        Snapshot(workspace=owner.workspace, name=str(each), sha256=snapshot.sha256)
        for each in range(MANY)
    ]
    Snapshot.objects.bulk_create(copies)
    columns = {"workspace": owner.workspace, "snapshot": snapshot, "kind": "nodes"}
    Experiment.objects.bulk_create([Experiment(**columns) for _ in range(MANY + 1)])
    assert [len(names(owner, address + query)) for query in ("", "?page=2")] == [50, 10]
