"""Followed clusters in the browser: from a recording, live, checked, opened, and private."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from kviz.clusters.followed import live, selectors, services
from kviz.clusters.followed.models import FollowedCluster
from kviz.common.mode import Mode
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
    answer = ada.client.post(f"/follow/{followed.pk}/open/1", {"told": "a", "own": "b"})
    assert answer["Location"].endswith("/explore?c=1&n=a&vs=b&tab=score")
    run = Run.objects.get(pk=answer["Location"].split("/")[2])
    assert run.snapshot is not None
    assert run.snapshot.counts["Node"] == 26


def test_a_disagreement_is_compared_with_its_most_likely_cause(ada: Person) -> None:
    followed = recorded(ada)
    followed.scheduler_config = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- schedulerName: another\n"
    )
    followed.save()
    ada.client.post(f"/follow/{followed.pk}/check")
    page = ada.client.get(f"/follow/{followed.pk}").text
    assert f'href="/follow/{followed.pk}/decisions/1"' in page
    page = ada.client.get(f"/follow/{followed.pk}/decisions/1").text
    assert "Most likely: <strong>configuration</strong>" in page
    assert "Observed" in page
    assert "Simulated by kviz" in page
    assert "not tried" in page
    assert ada.client.get(f"/follow/{followed.pk}/decisions/999").status_code == 404


def test_a_decision_says_what_happened_around_it(ada: Person) -> None:
    followed = recorded(ada)
    beside = [
        services.decision_beside(followed=followed, number=number)
        for number in range(1, followed.run.cycles + 1)
    ]
    assert all(each is not None and each.n_nodes == 26 for each in beside)
    assert any(each.later for each in beside if each)
    assert all(line.split()[0] != "events" for each in beside if each for line in each.before)


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


# ---------------------------------------------------------------- kept, and over REST


def packer(name: str) -> dict[str, object]:
    """A ConfigMap with a scheduler's configuration."""
    config = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- schedulerName: packer\n"
    )
    metadata = {"name": name, "namespace": "kube-system"}
    return {"metadata": metadata, "data": {"config.yaml": config}}


def crashed(followed: FollowedCluster) -> None:
    """End following as the end of the process would, and forget it."""
    following = live.of(followed)
    assert following is not None
    following.stop()
    live._live.clear()


def test_what_was_followed_goes_on_when_the_server_is_started_again(
    ada: Person, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(written(tmp_path, kubeconfig(server.url))))
    followed = live.live_follow(workspace=ada.workspace, context="")
    crashed(followed)
    server.change("MODIFIED", "pods", pod("big-0", node_name="n2"))
    live.keep_once()
    eventually(lambda: selectors.n_changes(followed=followed) == 1)
    live.live_stop(followed=followed)
    live.keep_once()
    assert live.of(followed) is None


def test_two_servers_do_not_follow_the_same(
    ada: Person, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(written(tmp_path, kubeconfig(server.url))))
    followed = live.live_follow(workspace=ada.workspace, context="")
    crashed(followed)
    FollowedCluster.objects.filter(pk=followed.pk).update(followed_by="elsewhere")
    live.keep_once()
    assert live.of(followed) is None
    followed.refresh_from_db()
    assert selectors.is_followed(followed=followed)
    FollowedCluster.objects.filter(pk=followed.pk).update(heartbeat_at="2020-01-01T00:00:00Z")
    live.keep_once()
    assert live.of(followed) is not None
    FollowedCluster.objects.filter(pk=followed.pk).update(followed_by="elsewhere")
    live.keep_once()
    assert live.of(followed) is None
    live.live_stop(followed=followed)


def test_a_cluster_is_followed_over_rest(
    ada: Person, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(written(tmp_path, kubeconfig(server.url))))
    answer = ada.post("/followed/", {})
    assert answer.status_code == 201
    state = answer.json()
    assert (state["is_followed"], state["is_over"], state["changes"]) == (True, False, 0)
    assert state["protection"] == "unencrypted"
    assert TOKEN not in answer.content.decode()
    server.change("MODIFIED", "pods", pod("big-0", node_name="n2"))
    path = f"/followed/{state['id']}/"
    eventually(lambda: ada.get(path).json()["decisions"] == 1)
    assert ada.get(f"/runs/{state['run']}/").json()["bound"] == 2
    checked = ada.post(f"{path}check/", {}).json()
    assert checked["decisions"] == 1
    stopped = ada.post(f"{path}stop/", {}).json()
    assert (stopped["is_over"], stopped["is_followed"]) == (True, False)
    assert [each["id"] for each in ada.get("/followed/").json()] == [state["id"]]
    assert ada.delete(path).status_code == 204
    assert ada.get(path).status_code == 404
    assert ada.get(f"/runs/{state['run']}/").status_code == 404


def test_a_recording_is_followed_over_rest(ada: Person) -> None:
    upload = SimpleUploadedFile("churn.jsonl", _beginning())
    answer = ada.client.post("/api/v1/followed/", {"recording": upload}, headers=ada.headers)
    assert answer.status_code == 201
    assert (answer.json()["name"], answer.json()["is_over"]) == ("churn.jsonl", True)
    wrong = SimpleUploadedFile("x.jsonl", b"{}")
    refused = ada.client.post("/api/v1/followed/", {"recording": wrong}, headers=ada.headers)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == "recording"


def test_the_schedulers_configuration_is_guessed_and_said_to_be(
    ada: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = small_cluster() | {"configmaps": [packer("kube-scheduler")]}
    with ApiServer(cluster) as server:
        monkeypatch.setenv("KUBECONFIG", str(written(tmp_path, kubeconfig(server.url))))
        state = ada.post("/followed/", {}).json()
        assert "schedulerName: packer" in state["scheduler_config"]
        assert state["config_origin"].startswith("Guessed from ConfigMap kube-system/kube-schedul")
        given = ada.post("/followed/", {"config_map": "kube-system/other"})
        assert given.status_code == 400
        assert "nothing there" in given.json()["errors"][0]["message"]
        ada.post(f"/followed/{state['id']}/stop/", {})


# ---------------------------------------------------------------- server mode


def test_a_server_follows_what_its_operator_lists(
    ada: Person,
    ben: Person,
    server: ApiServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    config = written(tmp_path, kubeconfig(server.url))
    listed = tmp_path / "clusters.yaml"
    listed.write_text(
        f"clusters:\n- name: production\n  kubeconfig: {config}\n"
        f"  visibleTo: ['{ada.workspace.pk}']\n"
    )
    settings.MODE, settings.CLUSTERS_FILE = Mode.SERVER, listed
    assert "production" not in ben.client.get("/follow/").text
    refused = ben.post("/followed/", {"cluster": "production"})
    assert refused.status_code == 400
    assert "There is no cluster 'production' here." in refused.json()["errors"][0]["message"]
    assert ada.post("/followed/", {"cluster": ""}).status_code == 400
    state = ada.post("/followed/", {"cluster": "production"}).json()
    assert state["cluster"] == "production"
    assert server.url not in str(state)
    assert ben.get(f"/followed/{state['id']}/").status_code == 404
    followed = FollowedCluster.objects.get(pk=state["id"])
    text = listed.read_text()
    listed.write_text(text.replace(f"['{ada.workspace.pk}']", "everyone"))
    page = ada.client.get("/follow/").text
    assert "<option>production</option>" in page
    assert str(config) not in page
    crashed(followed)
    listed.write_text("clusters: []\n")  # the operator took it away
    live.keep_once()
    assert live.of(followed) is None
    assert (
        "There is no cluster 'production' here."
        in ada.get(f"/followed/{state['id']}/").json()["problem"]
    )
    ada.post(f"/followed/{state['id']}/stop/", {})
