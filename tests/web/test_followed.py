"""Followed clusters in the browser: from a recording, live, checked, opened, and private."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from kviz.clusters.followed import live, selectors, services
from kviz.clusters.followed.models import FollowedCluster
from kviz.following.follower import Journal
from kviz.runs.models import Run
from tests.clusters.api_server import TOKEN, ApiServer
from tests.clusters.cluster import kubeconfig, pod, small_cluster, written
from tests.following.recorded import CHURN
from tests.waiting import eventually
from tests.web.cast import Person

pytestmark = pytest.mark.django_db(transaction=True)


def recorded(person: Person) -> FollowedCluster:
    """The first seconds of the recording, followed."""
    lines = _beginning()
    upload = SimpleUploadedFile("churn.jsonl", lines)
    answer = person.client.post("/follow/", {"recording": upload})
    assert answer.status_code == 302
    return FollowedCluster.objects.get(pk=answer["Location"].rpartition("/")[2])


def _beginning() -> bytes:
    return b"\n".join(gzip.decompress(CHURN.read_bytes()).splitlines()[:60])


def test_a_recording_becomes_an_observed_run(ada: Person) -> None:
    followed = recorded(ada)
    run = followed.run
    assert (run.kind, run.status) == (Run.Kind.OBSERVED, Run.Status.FINISHED)
    assert run.cycles > 3
    page = ada.client.get(f"/follow/{followed.pk}").content.decode()
    assert "Not checked yet" in page
    assert "kviz follows its cluster" in ada.client.get(f"/runs/{run.pk}").content.decode()
    assert f"/follow/{followed.pk}" in ada.client.get("/follow/").content.decode()


def test_the_check_says_how_much_agrees_and_opens_decisions(ada: Person) -> None:
    followed = recorded(ada)
    ada.client.post(f"/follow/{followed.pk}/check")
    followed.refresh_from_db()
    assert followed.checked is not None
    assert followed.checked["decisions"] == followed.run.cycles
    n = followed.checked["explained"]
    page = ada.client.get(f"/follow/{followed.pk}").content.decode()
    assert f"{n} of {followed.run.cycles} decisions are explained" in page
    answer = ada.client.post(f"/follow/{followed.pk}/open/1")
    run = Run.objects.get(pk=answer["Location"].split("/")[2])
    assert run.snapshot is not None
    assert run.snapshot.counts["Node"] == 26


def test_nobody_else_sees_it(ada: Person, ben: Person) -> None:
    followed = recorded(ada)
    mine = followed.run.workspace
    assert selectors.followed_get(followed_id=followed.pk, workspace=mine) == followed
    assert selectors.followed_get(followed_id=followed.pk, workspace=ben.workspace) is None
    assert not selectors.followed_list(workspace=ben.workspace).exists()
    assert ada.client.get(f"/follow/{followed.run_id}").status_code == 404


def test_what_is_no_recording_is_said(ada: Person) -> None:
    upload = SimpleUploadedFile("x.jsonl", b'{"type": "SYNCED"}\n')
    answer = ada.client.post("/follow/", {"recording": upload})
    assert answer.status_code == 422
    assert "begins with a list" in answer.content.decode()


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(small_cluster()) as server:
        yield server


def test_a_cluster_is_followed_live_and_again_after_a_restart(
    ada: Person, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(written(tmp_path, kubeconfig(server.url))))
    workspace = ada.workspace
    followed = live.live_follow(workspace=workspace, context="")
    server.change("MODIFIED", "pods", pod("big-0", node_name="n2"))
    eventually(lambda: selectors.n_changes(followed=followed) == 1)
    following = live.of(followed)
    assert following is not None
    following.stop()
    server.change("ADDED", "pods", pod("late", node_name=""))
    server.change("MODIFIED", "pods", pod("late", node_name="n1"))
    live.live_resume(followed=followed)
    eventually(lambda: selectors.n_changes(followed=followed) == 3)
    live.live_stop(followed=followed)
    run = Run.objects.get(pk=followed.run_id)
    assert (run.status, run.cycles, run.bound) == (Run.Status.FINISHED, 2, 3)
    stored = b"".join(bytes(part.lines) for part in followed.parts.all())
    assert TOKEN.encode() not in stored
    journal: Journal = selectors.journal(followed=followed)
    assert [change.item.key for change in journal.changes] == [
        "shop/big-0",
        "shop/late",
        "shop/late",
    ]
    services.followed_check(followed=followed)
    assert followed.checked is not None
    assert followed.checked["decisions"] == 2
