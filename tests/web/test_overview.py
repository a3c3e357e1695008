"""A cluster in a few numbers: what lists and cards show of it."""

from __future__ import annotations

import pytest

from kviz.snapshots.models import Snapshot
from kviz.snapshots.overview import MAX_CELLS, overview_of
from kviz.snapshots.services import samples_load
from kviz.snapshots.templatetags.snapshot_pictures import mini_map
from tests.builders import NodeBuilder, make_node, make_pod
from tests.web.cast import CLUSTER, Person


def node(name: str, zone: str = "") -> NodeBuilder:
    return make_node(name).zone(zone).cpu(4).memory("8Gi").pods(10)


@pytest.mark.parametrize(("cpu", "level"), [("0", 0), ("1", 1), ("2", 2), ("3", 3), ("4", 4)])
def test_a_node_is_as_dark_as_it_is_full(cpu: str, level: int) -> None:
    pod = make_pod("p").cpu(cpu).on("a").obj()
    assert overview_of([node("a").obj(), pod])["zones"] == [[level]]


def test_the_scarcer_of_cpu_and_memory_counts() -> None:
    pod = make_pod("p").cpu("1").memory("8Gi").on("a").obj()
    assert overview_of([node("a").obj(), pod])["zones"] == [[4]]


def test_zones_stand_apart_and_closed_nodes_are_marked() -> None:
    found = overview_of(
        [
            node("c", "west").obj(),
            node("b", "east").cordoned().obj(),
            node("a", "east").obj(),
            node("d", "west").ready("False").obj(),
            make_pod("p").obj(),
        ]
    )
    assert found == {"pending": 1, "nodes_per_cell": 1, "zones": [[0, -1], [0, -1]]}


def test_a_large_cluster_has_cells_of_several_nodes() -> None:
    names = [f"n{i:03}" for i in range(2 * MAX_CELLS)]
    full = [make_pod(f"p{i}").cpu(4).on(names[i]).obj() for i in (0, 1, 2)]
    found = overview_of([*(node(name).obj() for name in names), *full])
    assert found["nodes_per_cell"] == 2
    (cells,) = found["zones"]
    assert len(cells) == MAX_CELLS
    assert cells[:3] == [4, 2, 0]


def test_the_picture_has_a_cell_per_cell_and_none_for_older_uploads() -> None:
    snapshot = Snapshot(overview={"pending": 0, "nodes_per_cell": 1, "zones": [[0, 4], [-1]]})
    svg = mini_map(snapshot)
    assert [f"minimap__{level}" in svg for level in ("0", "4", "closed", "2")] == [
        True,
        True,
        True,
        False,
    ]
    assert svg.count("<rect") == 3
    assert mini_map(Snapshot()) == ""


def test_the_list_of_clusters_has_picture_pending_pods_and_a_button(owner: Person) -> None:
    snapshot = owner.snapshot(CLUSTER)
    html = owner.client.get("/snapshots/").content.decode()
    row = html[html.index("<tbody>") : html.index("</tbody>")]
    assert row.count("<rect") == 2
    assert '<td class="number" data-label="Pending">6</td>' in row
    assert f'name="snapshot" value="{snapshot.pk}"' in row
    Snapshot.objects.update(overview={})
    html = owner.client.get("/snapshots/").content.decode()
    assert "unknown" in html[html.index("<tbody>") : html.index("</tbody>")]


def test_samples_from_before_there_was_a_picture_get_one(db: None) -> None:
    samples_load()
    Snapshot.objects.filter(name="gangs").update(overview={})
    samples_load()
    assert Snapshot.objects.get(name="gangs").overview["pending"] == 6
