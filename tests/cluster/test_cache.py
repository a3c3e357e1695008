"""The life of pods and nodes in the cache, after the tables of upstream's cache_test.go."""

from __future__ import annotations

import pytest

from scheduler_core.api import Pod
from scheduler_core.cluster.cache import Cache, CacheError
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.pods import PodInfo
from tests.builders import make_node, make_pod


class Desk:
    """A cache with nodes n1 and n2."""

    def __init__(self) -> None:
        self.columns = ClusterColumns()
        self.cache = Cache(self.columns)
        for name in ("n1", "n2"):
            self.cache.add_node(make_node(name).cpu("4").obj())

    def info(self, item: Pod) -> PodInfo:
        return self.columns.templates.info(item)

    def cpu_milli(self, node_name: str) -> int:
        return int(self.columns.requested_of("cpu")[self.columns.row_of[node_name]])

    def pods_on(self, node_name: str) -> list[str]:
        return [p.key for p in self.columns.pods.on_row(self.columns.row_of[node_name])]


@pytest.fixture
def desk() -> Desk:
    return Desk()


# ---------------------------------------------------------------- pods


def test_an_assumed_pod_counts_on_its_node(desk: Desk) -> None:
    pending = desk.info(make_pod("p").cpu("500m").obj())
    assumed = desk.cache.assume_pod(pending, "n1")
    assert assumed.node_name == "n1"
    assert assumed.template is pending.template
    assert pending.node_name == ""
    assert desk.cpu_milli("n1") == 500
    assert desk.cache.is_assumed_pod(pending.uid)
    assert desk.cache.assumed_pods() == [assumed]
    with pytest.raises(CacheError, match="can't be assumed"):
        desk.cache.assume_pod(pending, "n2")
    assert desk.cpu_milli("n2") == 0


def test_adding_confirms_an_assumed_pod(desk: Desk) -> None:
    desk.cache.assume_pod(desk.info(make_pod("p").cpu("500m").obj()), "n1")
    bound = desk.info(make_pod("p").cpu("500m").on("n1").phase("Running").obj())
    desk.cache.add_pod(bound)
    assert desk.cache.get_pod(bound.uid) is bound
    assert not desk.cache.is_assumed_pod(bound.uid)
    assert desk.cpu_milli("n1") == 500
    with pytest.raises(CacheError, match="already in added state"):
        desk.cache.add_pod(bound)


def test_adding_moves_a_pod_that_was_assumed_elsewhere(desk: Desk) -> None:
    desk.cache.assume_pod(desk.info(make_pod("p").cpu("500m").obj()), "n1")
    desk.cache.add_pod(desk.info(make_pod("p").cpu("700m").on("n2").obj()))
    assert (desk.cpu_milli("n1"), desk.cpu_milli("n2")) == (0, 700)
    assert (desk.pods_on("n1"), desk.pods_on("n2")) == ([], ["default/p"])


def test_forgetting_takes_an_assumed_pod_back(desk: Desk) -> None:
    assumed = desk.cache.assume_pod(desk.info(make_pod("p").cpu("500m").obj()), "n1")
    assert desk.cache.forget_pod(assumed)
    assert desk.cpu_milli("n1") == 0
    assert desk.cache.get_pod(assumed.uid) is None
    assert not desk.cache.forget_pod(assumed)
    desk.cache.assume_pod(assumed, "n2")
    assert desk.pods_on("n2") == ["default/p"]


def test_only_a_pod_assumed_there_can_be_forgotten(desk: Desk) -> None:
    assumed = desk.cache.assume_pod(desk.info(make_pod("p").obj()), "n1")
    elsewhere = desk.info(make_pod("p").on("n2").obj())
    with pytest.raises(CacheError, match="was assumed on n2 but assigned to n1"):
        desk.cache.forget_pod(elsewhere)
    desk.cache.add_pod(assumed)
    with pytest.raises(CacheError, match="wasn't assumed"):
        desk.cache.forget_pod(assumed)
    assert desk.pods_on("n1") == ["default/p"]


def test_what_cannot_be_updated(desk: Desk) -> None:
    on_n1, on_n2 = (desk.info(make_pod("p").on(name).obj()) for name in ("n1", "n2"))
    with pytest.raises(CacheError, match="not added"):
        desk.cache.update_pod(on_n1, on_n1)
    desk.cache.assume_pod(on_n1, "n1")
    with pytest.raises(CacheError, match="should not be updated"):
        desk.cache.update_pod(on_n1, on_n1)
    desk.cache.add_pod(on_n1)
    with pytest.raises(CacheError, match="different node"):
        desk.cache.update_pod(on_n1, on_n2)


def test_removing_takes_assumed_and_bound_pods_off(desk: Desk) -> None:
    desk.cache.assume_pod(desk.info(make_pod("a").cpu("1").obj()), "n1")
    desk.cache.add_pod(desk.info(make_pod("b").cpu("1").on("n1").obj()))
    with pytest.raises(CacheError, match="different node"):
        desk.cache.remove_pod(desk.info(make_pod("b").on("n2").obj()))
    desk.cache.remove_pod(desk.info(make_pod("a").cpu("1").obj()))
    desk.cache.remove_pod(desk.info(make_pod("b").cpu("1").on("n1").obj()))
    assert desk.cpu_milli("n1") == 0
    assert desk.cache.n_pods == 0
    with pytest.raises(CacheError, match="not found"):
        desk.cache.remove_pod(desk.info(make_pod("b").on("n1").obj()))


# ---------------------------------------------------------------- nodes


def test_pods_may_come_before_their_node() -> None:
    desk = Desk()
    desk.cache.add_pod(desk.info(make_pod("p").cpu("1").on("later").obj()))
    assert desk.cache.update_snapshot().names == ["n1", "n2"]
    desk.cache.add_node(make_node("later").cpu("2").obj())
    view = desk.cache.update_snapshot()
    assert view.names == ["n1", "n2", "later"]
    assert view.requested("cpu").tolist() == [0, 0, 1000]


def test_pods_stay_known_when_their_node_goes_and_comes_back(desk: Desk) -> None:
    desk.cache.add_pod(desk.info(make_pod("p").cpu("1").on("n1").obj()))
    desk.cache.update_snapshot()
    desk.cache.remove_node(make_node("n1").obj())
    assert desk.cache.update_snapshot().names == ["n2"]
    assert desk.cache.n_pods == 1
    with pytest.raises(CacheError, match="not found"):
        desk.cache.remove_node(make_node("n1").obj())
    desk.cache.update_node(make_node("n1").cpu("8").obj())
    view = desk.cache.update_snapshot()
    assert view.names == ["n2", "n1"]
    assert view.requested("cpu").tolist() == [0, 1000]
    assert view.allocatable("cpu").tolist() == [4000, 8000]


# ---------------------------------------------------------------- snapshots


def test_a_node_that_changes_zone_keeps_its_place_until_nodes_come_or_go() -> None:
    cache = Cache(ClusterColumns())
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        cache.add_node(make_node(name).zone(zone).obj())
    assert cache.update_snapshot().names == ["a1", "b1", "a2"]
    cache.update_node(make_node("a1").zone("c").obj())
    assert cache.update_snapshot().names == ["a1", "b1", "a2"]
    cache.add_node(make_node("d1").zone("d").obj())
    assert cache.update_snapshot().names == ["a2", "b1", "a1", "d1"]


def test_looking_at_the_next_order_does_not_take_it() -> None:
    cache = Cache(ClusterColumns())
    for name in ("a1", "a2", "b1"):
        cache.add_node(make_node(name).zone(name[0]).obj())
    assert cache.next_order() == ["a1", "b1", "a2"]
    cache.update_node(make_node("a1").zone("c").obj())
    assert cache.next_order() == cache.update_snapshot().names == ["a2", "b1", "a1"]


def test_a_node_replaced_between_snapshots_keeps_its_place(desk: Desk) -> None:
    assert desk.cache.update_snapshot().names == ["n1", "n2"]
    desk.cache.remove_node(make_node("n1").obj())
    desk.cache.add_node(make_node("n1").obj())
    assert desk.cache.update_snapshot().names == ["n1", "n2"]


def test_a_snapshot_is_a_view_of_what_is(desk: Desk) -> None:
    view = desk.cache.update_snapshot()
    desk.cache.assume_pod(desk.info(make_pod("p").cpu("1").obj()), "n2")
    assert view.requested("cpu").tolist() == [0, 1000]
