"""Real clusters on pages and over REST: who sees which, what is imported, what stays secret."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from kviz.snapshots.models import Snapshot, SnapshotObjects
from tests.clusters.api_server import TOKEN, ApiServer, compact
from tests.clusters.cluster import kubeconfig, small_cluster, written
from tests.web.cast import Person, problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(small_cluster()) as server:
        yield server


@pytest.fixture
def contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: ApiServer) -> Path:
    """A kubeconfig with a context that works, one that kviz refuses, and one without a user."""
    config = kubeconfig(server.url)
    config["users"].append({"name": "other", "user": {"token": TOKEN, "as": "boss"}})
    config["contexts"] += [
        {"name": "boss", "context": {"cluster": "c", "user": "other"}},
        {"name": "nobody", "context": {"cluster": "c", "user": "gone"}},
    ]
    config["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
    del config["clusters"][0]["cluster"]["certificate-authority-data"]
    path = written(tmp_path, config)
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


@pytest.fixture
def served(settings: LazySettings, tmp_path: Path, server: ApiServer, ada: Person) -> Path:
    """Server mode; the operator lists one cluster for everyone and one for Ada."""
    settings.MODE = "server"
    config = written(tmp_path, kubeconfig(server.url))
    broken = written(tmp_path, kubeconfig("https://127.0.0.1:9", user={}), "broken")
    path = tmp_path / "clusters.yaml"
    clusters = [
        {"name": "shared", "kubeconfig": str(config), "visibleTo": "everyone"},
        {"name": "hers", "kubeconfig": str(config), "visibleTo": [str(ada.workspace.pk)]},
        {"name": "down", "kubeconfig": str(broken), "visibleTo": [str(ada.workspace.pk)]},
    ]
    path.write_text(compact({"clusters": clusters}))
    settings.CLUSTERS_FILE = path
    return path


def test_the_page_lists_contexts(contexts: Path, owner: Person) -> None:
    page = owner.client.get("/clusters/").content.decode()
    for text in ("prod", "(current)", "Plain HTTP", "acts as somebody else", "is not there"):
        assert text in page
    assert page.count('name="cluster"') == 1
    assert TOKEN not in page


def test_a_context_is_imported(contexts: Path, owner: Person, server: ApiServer) -> None:
    server.forbidden = {"persistentvolumes"}
    answer = owner.client.post("/clusters/", {"cluster": "prod"}, follow=True)
    page = answer.content.decode()
    assert "persistentvolumes" in page
    assert "asked over plain HTTP" in page
    snapshot = Snapshot.objects.get(workspace=owner.workspace)
    assert (snapshot.name, snapshot.counts["Pod"]) == ("prod", 2)
    assert "kviz import --rbac" in snapshot.left_out[0]
    packed = bytes(SnapshotObjects.objects.get(snapshot=snapshot).packed)
    assert TOKEN.encode() not in packed
    assert TOKEN not in page


def test_only_a_listed_context_is_imported(contexts: Path, owner: Person) -> None:
    assert owner.client.post("/clusters/", {"cluster": "staging"}).status_code == 404
    answer = owner.client.post("/clusters/", {"cluster": "boss"})
    assert answer.status_code == 502
    assert b"acts as somebody else" in answer.content
    assert not Snapshot.objects.filter(workspace=owner.workspace).exists()


def test_there_is_no_kubeconfig(
    owner: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert b"There is no kubeconfig." in owner.client.get("/clusters/").content
    assert owner.get("/clusters/").json() == []


def test_an_import_that_fails_is_an_error_in_the_log_without_credentials(
    contexts: Path, owner: Person, server: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.token = "another-one"
    answer = owner.client.post("/clusters/", {"cluster": "prod"})
    assert "does not accept the credentials" in answer.content.decode()
    (logged,) = [record for record in caplog.records if record.name == "kviz.clusters.services"]
    assert logged.levelno == logging.ERROR
    assert "prod cannot be read" in logged.getMessage()
    assert TOKEN not in caplog.text
    assert TOKEN not in answer.content.decode()


def test_a_broken_kubeconfig_is_not_quoted(contexts: Path, owner: Person) -> None:
    contexts.write_text(f"users: [{{user: {{token: {TOKEN}")
    page = owner.client.get("/clusters/").content.decode()
    assert "is not valid YAML" in page
    assert TOKEN not in page
    assert "is not valid YAML" in problem(owner.get("/clusters/"), 502)["detail"]


def test_rest_lists_and_imports(contexts: Path, owner: Person, server: ApiServer) -> None:
    listed = owner.get("/clusters/").json()
    assert [each["name"] for each in listed] == ["prod", "boss", "nobody"]
    assert listed[0] == {
        "name": "prod",
        "server": server.url,
        "protection": "unencrypted",
        "is_current": True,
        "refusal": "",
    }
    answer = owner.post("/clusters/imports/", {"cluster": "prod", "name": "today"})
    assert answer.status_code == 201
    document = answer.json()
    assert (document["name"], document["refused"]) == ("today", [])
    assert document["counts"] == {"Namespace": 1, "Node": 2, "Pod": 2}
    assert owner.get(f"/snapshots/{document['id']}/").status_code == 200
    assert TOKEN not in answer.content.decode()
    assert problem(owner.post("/clusters/imports/", {"cluster": "x"}), 404)
    with server.gone():
        failed = problem(owner.post("/clusters/imports/", {"cluster": "prod"}), 502)
    assert failed["detail"] == f"Nothing listens at {server.url}."


def test_a_server_offers_what_its_operator_listed(
    served: Path, ada: Person, ben: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The kubeconfig of whoever runs the server is not looked at."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    assert [each["name"] for each in ada.get("/clusters/").json()] == ["shared", "hers", "down"]
    assert [each["name"] for each in ben.get("/clusters/").json()] == ["shared"]
    assert ben.get("/clusters/").json()[0]["server"] == ""
    assert ben.post("/clusters/imports/", {"cluster": "shared"}).status_code == 201
    assert problem(ben.post("/clusters/imports/", {"cluster": "hers"}), 404)
    assert problem(ben.post("/clusters/imports/", {"cluster": "prod"}), 404)
    assert ada.post("/clusters/imports/", {"cluster": "hers"}).json()["name"] == "hers"
    assert (
        Snapshot.objects.get(workspace=ben.workspace)
        .warnings[0]
        .startswith("Read from context shared")
    )


def test_what_is_the_operators_stays_with_the_operator(
    served: Path, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    detail = problem(ada.post("/clusters/imports/", {"cluster": "down"}), 502)["detail"]
    assert detail == "down cannot be read at the moment; the server's log says why."
    assert "has no credentials" in caplog.text
    served.write_text("clusters: [{name: x}]")
    with caplog.at_level(logging.ERROR):
        assert "operator's list" in problem(ada.get("/clusters/"), 502)["detail"]
    assert "KVIZ_CLUSTERS_FILE" in caplog.text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clusters: [{name: x, visibleTo: everyone}]", "needs either kubeconfig or inCluster"),
        ("clusters: [{name: x, inCluster: true}]", "missing required field `visibleTo`"),
        ("clusters: [{name: x, visibleTo: all, inCluster: true}]", "KVIZ_CLUSTERS_FILE"),
        (
            "clusters: [{name: x, inCluster: true, visibleTo: []}, "
            "{name: x, inCluster: true, visibleTo: []}]",
            "two clusters have the same name",
        ),
    ],
)
def test_a_wrong_list_is_explained_in_the_log(
    served: Path, ada: Person, caplog: pytest.LogCaptureFixture, text: str, words: str
) -> None:
    served.write_text(text)
    problem(ada.get("/clusters/"), 502)
    assert words in caplog.text


def test_a_guest_learns_the_id_to_be_listed_with(served: Path, eve: Client) -> None:
    page = eve.get("/clusters/").content.decode()
    assert 'value="shared"' in page
    assert 'value="hers"' not in page
    assert "id of your workspace" in page
