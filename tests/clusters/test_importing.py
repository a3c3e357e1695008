"""A whole cluster over real HTTP: one moment, redacted, and what goes wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import yaml

from kviz.clusters.importing import Imported, NotImported, Patience, import_cluster
from kviz.clusters.rbac import READER_ROLE
from kviz.clusters.reading.problems import (
    ServerFailed,
    TooManyRequests,
    Unauthorized,
    Unreachable,
    Untrusted,
)
from kviz.clusters.reading.resources import EVENTS, RESOURCES
from kviz.clusters.reading.targets import Target
from scheduler_core.api import Node, Pod
from scheduler_core.api.limits import Limits
from scheduler_core.api.packing import pack
from tests.clusters.api_server import DATA, ApiServer, recorded
from tests.clusters.cluster import node, pod, small_cluster, target_at

WAITED: list[float] = []


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(small_cluster()) as server:
        yield server


def imported(server: ApiServer, budget_s: float = 60) -> Imported:
    WAITED.clear()
    return import_cluster(
        target_at(server), patience=Patience(budget_s=budget_s, sleep=WAITED.append)
    )


def test_all_kinds_are_of_one_moment(server: ApiServer) -> None:
    found = imported(server)
    assert found.ingested.counts == {"Namespace": 1, "Node": 2, "Pod": 2}
    assert found.ingested.warnings == (
        f"Read from context test at resource version {found.resource_version}",
        "The API server was asked over plain HTTP: anyone on the network path could read the "
        "traffic and answer",
        "Environment variables of 2 pods dropped",
        "managedFields of 2 objects dropped",
    )
    assert found.ingested.left_out == found.refused == found.later == ()
    asked = {resource.plural: server.asked(resource.plural) for resource in RESOURCES.values()}
    first = asked.pop("nodes")
    assert first == [{"limit": "500"}]
    exact = {"resourceVersion": found.resource_version, "resourceVersionMatch": "Exact"}
    assert all(queries == [{"limit": "500"} | exact] for queries in asked.values())


def test_what_is_secret_is_not_kept(server: ApiServer) -> None:
    assert b"correct-horse" not in pack(imported(server).ingested.objects)


def test_many_objects_come_in_pages() -> None:
    many = {"nodes": [node(f"n{number:04}") for number in range(1_201)], "pods": []}
    with ApiServer(many) as server:
        found = imported(server)
        assert found.ingested.counts == {"Node": 1_201}
        assert len(server.asked("nodes")) == 3


def test_pages_that_expire_begin_again_at_a_newer_state() -> None:
    """The first page of the old state is dropped: n0000 is gone by now."""
    many = {"nodes": [node(f"n{number:04}") for number in range(600)]}
    with ApiServer(many) as server:
        server.change("DELETED", "nodes", node("n0000"))
        expired = recorded("continue-expired-410")
        server.inject("nodes", recorded("nodes-page-before-expiry"), expired)
        found = imported(server)
        assert found.ingested.counts == {"Node": 599}
        assert not [node for node in found.ingested.objects.of(Node) if node.name == "node-0"]
        assert not [text for text in found.ingested.warnings if "more than once" in text]


def test_a_list_that_expires_twice_is_asked_for_whole(server: ApiServer) -> None:
    before, expired = recorded("nodes-page-before-expiry"), recorded("continue-expired-410")
    server.inject("nodes", before, expired, before, expired)
    assert imported(server).ingested.counts["Node"] == 2
    assert "limit" not in server.asked("nodes")[-1]


@pytest.mark.parametrize("answer", ["list-exact-compacted-410", "list-rv-in-future"])
def test_a_kind_that_the_moment_is_lost_for_is_read_later(server: ApiServer, answer: str) -> None:
    server.inject("pods", recorded(answer))
    found = imported(server)
    assert found.later == ("pods",)
    assert "pods read at a later moment than the rest" in found.ingested.warnings
    assert len(found.ingested.objects.of(Pod)) == 2


def test_refused_kinds_are_named_with_the_role_that_would_allow_them(server: ApiServer) -> None:
    server.forbidden = {"persistentvolumes", "csinodes"}
    found = imported(server)
    assert found.refused == ("csinodes.storage.k8s.io", "persistentvolumes")
    assert found.ingested.left_out[0] == (
        "csinodes.storage.k8s.io left out: test does not let kviz list them; `kviz import --rbac` "
        "prints a ClusterRole that allows it"
    )


@pytest.mark.parametrize("plural", ["nodes", "pods"])
def test_without_nodes_or_pods_there_is_nothing_to_import(server: ApiServer, plural: str) -> None:
    server.forbidden = {plural}
    with pytest.raises(NotImported, match=f"may not list {plural} .* --rbac"):
        imported(server)


def test_an_older_server_lacks_some_kinds(server: ApiServer) -> None:
    server.unknown = {"/apis/resource.k8s.io/"}
    found = imported(server)
    assert found.refused == ()
    assert found.ingested.counts["Pod"] == 2


def test_a_busy_server_is_asked_again_when_it_says(server: ApiServer) -> None:
    busy = recorded("too-many-requests-429")
    server.inject("pods", busy, busy)
    assert imported(server).ingested.counts["Pod"] == 2
    assert WAITED == [1.0, 1.0]


def test_patience_ends(server: ApiServer) -> None:
    server.inject("nodes", *[recorded("too-many-requests-429")] * 9)
    with pytest.raises(TooManyRequests):
        imported(server, budget_s=3)
    assert WAITED == [1.0] * 3


def test_a_page_that_breaks_off_is_asked_for_again(server: ApiServer) -> None:
    server.cut("pods", after_bytes=150)
    assert imported(server).ingested.counts["Pod"] == 2
    assert WAITED == [0.5]


def test_a_server_that_goes_away_in_the_middle(server: ApiServer) -> None:
    """It stays away while two requests are tried, and is back for the third."""
    gone, waited = server.gone(), []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 1:
            gone.__enter__()
        elif len(waited) == 3:
            gone.__exit__(None, None, None)

    server.cut("pods", after_bytes=150)
    found = import_cluster(target_at(server), patience=Patience(sleep=sleep))
    assert found.ingested.counts["Pod"] == 2
    assert waited == [0.5, 1.0, 2.0]


def test_a_server_that_never_answers_is_not_waited_for(server: ApiServer) -> None:
    with server.gone(), pytest.raises(Unreachable, match="Nothing listens"):
        imported(server)
    assert WAITED == []


def test_a_failing_server(server: ApiServer) -> None:
    server.inject("nodes", *[recorded("watch-rv-garbage")] * 9)
    with pytest.raises(ServerFailed):
        imported(server, budget_s=2)
    assert WAITED == [0.5, 1.0]


def test_a_slow_server(server: ApiServer) -> None:
    server.slow_s = 0.02
    assert imported(server).ingested.counts["Pod"] == 2


def test_a_wrong_token(server: ApiServer) -> None:
    with pytest.raises(Unauthorized, match="does not accept the credentials"):
        import_cluster(target_at(server, "nobody"))


def test_a_server_with_another_certificate() -> None:
    with ApiServer(small_cluster(), tls=True) as server:
        target = target_at(server)
        assert import_cluster(target).ingested.counts["Node"] == 2
        for wrong in ({"ca_data": b""}, {"server_name": "elsewhere.example"}):
            with pytest.raises(Untrusted, match="could not prove"):
                import_cluster(_with_tls(target, wrong))


def _with_tls(target: Target, changes: dict[str, bytes] | dict[str, str]) -> Target:
    return replace(target, tls=replace(target.tls, **changes))


def test_a_cluster_that_is_too_large(server: ApiServer) -> None:
    with pytest.raises(NotImported, match="more than 3 objects"):
        import_cluster(target_at(server), limits=Limits(objects=3))


def test_the_role_is_the_one_that_was_tried() -> None:
    """`kviz-reader-verified.json` has what a real API server let it do.

    DeviceTaintRules came later: that server was not asked for them.
    """
    role = yaml.safe_load(READER_ROLE)
    tried = READER_ROLE.replace(", devicetaintrules", "")
    assert yaml.safe_load(tried) == yaml.safe_load((DATA / "kviz-reader.yaml").read_text())
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"list", "watch"}
    allowed = {
        (group, plural)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }
    assert allowed == {(each.group, each.plural) for each in (*RESOURCES.values(), EVENTS)}


def test_a_pod_that_changes_meanwhile_is_read_as_it_was_at_first(server: ApiServer) -> None:
    """A binding between the two lists does not show, and neither does a node made after."""
    page = recorded("too-many-requests-429")
    server.inject("pods", page)

    def sleep(_: float) -> None:
        server.change("ADDED", "nodes", node("n3"))
        server.change("MODIFIED", "pods", pod("big-0", node_name="n3", cpu="8"))

    found = import_cluster(target_at(server), patience=Patience(sleep=sleep))
    by_name = {pod.name: pod for pod in found.ingested.objects.of(Pod)}
    assert by_name["big-0"].spec.node_name == ""
