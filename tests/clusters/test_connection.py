"""Lists and watches over real HTTP, with what was recorded of a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kviz.clusters.reading.connection import Connection
from kviz.clusters.reading.problems import (
    ClusterProblem,
    Expired,
    Forbidden,
    NotFound,
    Refusal,
    ServerFailed,
    StreamCut,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from kviz.clusters.reading.resources import EVENTS, RESOURCES
from tests.clusters.api_server import ApiServer, Json, recorded
from tests.clusters.cluster import target_at

NODES, PODS = RESOURCES["Node"], RESOURCES["Pod"]


def named(name: str, namespace: str = "") -> Json:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"metadata": metadata}


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer({"nodes": [named(f"n{number}") for number in range(7)]}) as server:
        yield server


@pytest.fixture
def connection(server: ApiServer) -> Iterator[Connection]:
    with Connection(target_at(server)) as connection:
        yield connection


def names_of(data: bytes) -> list[str]:
    return [item["metadata"]["name"] for item in json.loads(data)["items"]]


def test_a_list_comes_in_pages_of_one_resource_version(
    server: ApiServer, connection: Connection
) -> None:
    first = connection.page(NODES, limit=3)
    server.change("DELETED", "nodes", named("n4"))
    second = connection.page(NODES, limit=3, continue_token=first.continue_token)
    assert names_of(first.data) + names_of(second.data) == ["n0", "n1", "n2", "n3", "n4", "n5"]
    assert second.resource_version == first.resource_version
    [whole] = connection.pages(NODES, first.resource_version)
    assert len(names_of(whole.data)) == 7
    assert server.asked("nodes")[-1]["resourceVersionMatch"] == "Exact"
    assert [len(names_of(page.data)) for page in connection.pages(NODES)] == [6]


def test_the_recorded_pages_are_read(server: ApiServer, connection: Connection) -> None:
    server.inject("nodes", recorded("nodes-page-1"), recorded("nodes-page-2"))
    pages = list(connection.pages(NODES))
    assert [len(names_of(page.data)) for page in pages] == [4, 2]
    assert {page.resource_version for page in pages} == {"633"}


def test_an_expired_continue_token_brings_another(
    server: ApiServer, connection: Connection
) -> None:
    first = connection.page(NODES, limit=3)
    server.compact()
    with pytest.raises(Expired) as caught:
        connection.page(NODES, limit=3, continue_token=first.continue_token)
    rest = connection.page(NODES, continue_token=caught.value.continue_token)
    assert names_of(rest.data) == ["n3", "n4", "n5", "n6"]
    assert rest.resource_version != first.resource_version
    with pytest.raises(Expired):
        connection.page(NODES, resource_version=first.resource_version)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("unauthorized-401", Unauthorized),
        ("anonymous-403", Forbidden),
        ("forbidden-403-view-role-nodes", Forbidden),
        ("not-found-404", NotFound),
        ("too-many-requests-429", TooManyRequests),
        ("watch-rv-garbage", ServerFailed),
        ("continue-expired-410", Expired),
    ],
)
def test_each_refusal_has_a_type(
    server: ApiServer, connection: Connection, answer: str, problem: type[Refusal]
) -> None:
    server.inject("nodes", recorded(answer))
    with pytest.raises(problem) as caught:
        connection.page(NODES)
    assert caught.value.status == recorded(answer).status
    assert caught.value.retry_after_s == (1.0 if problem is TooManyRequests else None)


def test_a_wrong_token_is_not_accepted_and_not_quoted(server: ApiServer) -> None:
    with Connection(target_at(server, "wrong-token")) as connection:
        with pytest.raises(Unauthorized) as caught:
            connection.page(NODES)
        assert "wrong-token" not in f"{caught.value!r} {connection.target!r}"


def test_a_watch_gives_lines_and_ends(server: ApiServer, connection: Connection) -> None:
    since = connection.page(NODES).resource_version
    server.change("MODIFIED", "nodes", named("n1"))
    server.change("DELETED", "nodes", named("n2"))
    lines = [json.loads(line) for line in connection.watch(NODES, since, timeout_s=1)]
    assert [line["type"] for line in lines] == ["MODIFIED", "DELETED", "BOOKMARK"]
    assert list(connection.watch(EVENTS, since, timeout_s=0)) != []


def test_a_watch_can_be_left(server: ApiServer, connection: Connection) -> None:
    since = connection.page(NODES).resource_version
    watch = connection.watch(NODES, since)
    server.change("MODIFIED", "nodes", named("n1"))
    assert next(watch)
    watch.close()  # type: ignore[attr-defined]
    assert connection.get("/version")


@pytest.mark.parametrize("answer", ["watch-expired-error-event", "watch-expired-no-watch-cache"])
def test_a_watch_from_too_long_ago_has_expired(
    server: ApiServer, connection: Connection, answer: str
) -> None:
    server.inject("pods", recorded(answer))
    with pytest.raises(Expired):
        list(connection.watch(PODS, "356"))
    server.compact()
    with pytest.raises(Expired):
        list(connection.watch(PODS, "101"))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("watch-403-list-only", Forbidden),
        ("too-many-requests-429-watch", TooManyRequests),
        ("watch-rv-garbage", ServerFailed),
    ],
)
def test_a_watch_that_is_refused(
    server: ApiServer, connection: Connection, answer: str, problem: type[Refusal]
) -> None:
    server.inject("pods", recorded(answer))
    with pytest.raises(problem):
        list(connection.watch(PODS, "1"))


def test_a_watch_that_breaks_off_keeps_its_whole_lines(
    server: ApiServer, connection: Connection
) -> None:
    server.inject("nodes", recorded("watch-cut-mid-line"))
    watch = connection.watch(NODES, "200")
    assert json.loads(next(watch))["object"]["metadata"]["name"] == "node-0"
    with pytest.raises(StreamCut):
        next(watch)


def test_a_list_that_breaks_off(server: ApiServer, connection: Connection) -> None:
    server.cut("nodes", after_bytes=90)
    with pytest.raises(StreamCut):
        connection.page(NODES)
    assert names_of(connection.page(NODES).data)


def test_a_server_that_is_gone_for_a_while(server: ApiServer, connection: Connection) -> None:
    assert connection.page(NODES)
    with server.gone(), pytest.raises(Unreachable, match="Nothing listens"):
        connection.page(NODES)
    assert names_of(connection.page(NODES).data)


def test_a_watch_that_a_server_takes_along(server: ApiServer, connection: Connection) -> None:
    watch = connection.watch(NODES, "1")
    assert next(watch)
    with server.gone(), pytest.raises(ClusterProblem):
        list(watch)


def test_an_older_version_of_a_kind_is_found(server: ApiServer, connection: Connection) -> None:
    server.unknown = {"/apis/resource.k8s.io/v1/", "/apis/resource.k8s.io/v1beta1/"}
    [page] = connection.pages(RESOURCES["ResourceSlice"])
    assert json.loads(page.data)["apiVersion"] == "resource.k8s.io/v1beta2"
    assert connection.page(RESOURCES["ResourceSlice"])
    assert len(server.asked("resourceslices")) == 4
