"""Uploading: what is accepted, what is refused, and that nothing half-done stays behind."""

from __future__ import annotations

import gzip
import io
import json
import sys
import uuid
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from kviz.snapshots import reading
from kviz.snapshots.models import Snapshot, SnapshotObjects
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.api import Pod
from scheduler_core.api.ingest import ingest
from scheduler_core.api.limits import Limits
from scheduler_core.api.packing import pack
from tests.web.cast import API, CLUSTER, NODES, Person, pod, problem


def zipped(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.yaml", text)
    return buffer.getvalue()


def test_a_file_becomes_a_snapshot(ada: Person) -> None:
    response = ada.upload(("my-cluster.yaml", CLUSTER))

    assert response.status_code == 201
    document = response.json()
    assert document["name"] == "my-cluster"
    assert document["counts"] == {"Node": 2, "Pod": 7}
    assert document["ignored"] == {}
    assert isinstance(document["warnings"], list)
    assert ada.get(f"/snapshots/{document['id']}/").json() == document
    assert [s["id"] for s in ada.get("/snapshots/").json()] == [document["id"]]


def test_objects_are_kept_and_the_original_bytes_are_not(ada: Person) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {k: aHVzaC1odXNo}\n---\n"
    leaky = pod("web").replace("name: c,", "name: c, env: [{name: PASSWORD, value: hush-hush}],")

    snapshot = ada.snapshot(secret + NODES + leaky)

    assert [p.name for p in snapshot_objects(snapshot=snapshot).of(Pod)] == ["web"]
    packed = bytes(SnapshotObjects.objects.get(snapshot=snapshot).packed)
    assert b"hush" not in packed
    assert b"aHVzaC1odXNo" not in packed
    assert snapshot.ignored == {"Secret": 1}
    assert any("Secret" in warning for warning in snapshot.warnings)


def test_of_a_file_that_is_cut_off_not_every_pod_is_said_to_have_a_node(owner: Person) -> None:
    bound = pod("web", nodeName="north")
    for rest, said in (("", "Every pod has a node"), ("---\nkind: [", "that could be read has")):
        snapshot = owner.snapshot(NODES + bound + rest)
        assert said in owner.client.get(f"/snapshots/{snapshot.pk}").content.decode()


@pytest.mark.parametrize(
    "files",
    [
        [("nodes.yaml", NODES), ("pods.yaml", pod("web"))],
        [("all.yaml.gz", gzip.compress((NODES + pod("web")).encode()))],
        [("all.zip", zipped(nodes=NODES, pods=pod("web")))],
        [("all.yaml", (NODES + pod("web")).replace("\n", "\r\n"))],
    ],
    ids=["many files", "gzip", "zip", "CRLF"],
)
def test_packings(ada: Person, files: list[tuple[str, bytes | str]]) -> None:
    assert ada.upload(*files).json()["counts"] == {"Node": 2, "Pod": 1}


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/yaml", (NODES + pod("web")).encode()),
        (
            "application/json",
            json.dumps(
                {
                    "kind": "List",
                    "apiVersion": "v1",
                    "items": [
                        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"}}
                        for i in range(2)
                    ]
                    + [
                        {
                            "apiVersion": "v1",
                            "kind": "Pod",
                            "metadata": {"name": "web", "namespace": "shop"},
                            "spec": {"containers": [{"name": "c"}]},
                        }
                    ],
                }
            ).encode(),
        ),
        ("application/gzip", gzip.compress((NODES + pod("web")).encode())),
    ],
)
def test_the_body_may_be_the_file(ada: Person, content_type: str, body: bytes) -> None:
    response = ada.client.post(
        f"{API}/snapshots/?name=by-body", body, content_type=content_type, headers=ada.headers
    )

    assert response.status_code == 201, response.content
    assert response.json()["counts"] == {"Node": 2, "Pod": 1}
    assert response.json()["name"] == "by-body"


def test_a_broken_file_does_not_lose_the_good_ones(ada: Person) -> None:
    broken = pod("web").replace('cpu: "1"', "cpu: [1]")

    response = ada.upload(("nodes.yaml", NODES), ("pods.yaml", broken))

    assert response.status_code == 201
    assert response.json()["counts"] == {"Node": 2}
    [error] = response.json()["problems"]
    assert error["file"] == "pods.yaml"
    assert error["document"] == 1
    assert error["path"] == "spec.containers[0].resources.requests.cpu"


ZOO: dict[str, bytes] = {
    "empty.yaml": b"",
    "blank.yaml": b"\n\n",
    "binary.yaml": bytes(range(256)) * 40,
    "truncated.yaml.gz": gzip.compress(CLUSTER.encode() * 50)[:-40],
    "not-gzip.json.gz": b"\x1f\x8b" + b"no",
    "bomb.yaml.gz": gzip.compress(bytes(64 << 20)),
    "aliases.yaml": (
        "a0: &a0 [x, x]\n"
        + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    ).encode(),
    "deep.json": b"[" * 100_000 + b"]" * 100_000,
    "deep.yaml": b"a: " + b"[" * 100_000 + b"]" * 100_000,
    "page.html": b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
    "half.json": b'{"kind": "List", "items": [',
    "number.json": b"42",
    "broken.zip": b"PK\x03\x04" + b"\0" * 50,
    "future.yaml": b"apiVersion: v9\nkind: Pod\nmetadata: {name: x}\n",
    "absurd.yaml": pod("web", "-99999999999999999999999999E6").encode(),
    "secrets-only.yaml": b"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
}


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_is_refused_in_clear_words(
    ada: Person, name: str, settings: Any, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path

    document = problem(ada.upload((name, ZOO[name])), 400)

    assert document["errors"]
    assert all(error["message"] for error in document["errors"])
    assert not Snapshot.objects.exists()
    assert list(tmp_path.iterdir()) == []


def test_an_upload_that_unpacks_to_too_much(ada: Person, settings: Settings) -> None:
    settings.MAX_UNPACKED_BYTES = 1_000

    document = problem(ada.upload(("big.yaml.gz", gzip.compress(CLUSTER.encode()))), 400)

    assert "unpacks to more" in document["errors"][0]["message"]
    assert not Snapshot.objects.exists()


@pytest.mark.parametrize("name", ["big.yaml", "big.yaml.gz"])
def test_what_is_large_is_read_in_another_process_with_the_same_result(
    ada: Person, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    data = (CLUSTER + "---\napiVersion: v1\nkind: Node\n").encode()
    here = ada.upload(("big.yaml", data)).json()
    monkeypatch.setattr(reading, "SMALL_BYTES", 0)
    sent = gzip.compress(data) if name.endswith(".gz") else data
    there = ada.upload((name, sent)).json()
    kept = ("name", "counts", "ignored", "warnings")
    assert [there[each] for each in kept] == [here[each] for each in kept]
    assert [each["message"] for each in there["problems"]] == [
        each["message"] for each in here["problems"]
    ]
    first, second = Snapshot.objects.order_by("created_at")
    assert snapshot_objects(snapshot=first) == snapshot_objects(snapshot=second)
    assert first.overview == second.overview


def test_a_small_file_with_more_objects_than_memory_is_refused_by_the_limits_name(
    ada: Person, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.READING_BYTES = 16 << 20
    monkeypatch.setattr(reading, "SMALL_BYTES", 0)
    spec = '{"containers":[{"name":"c"}]}'
    row = f'{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p%d"}},"spec":{spec}}}'
    rows = ",".join(row % i for i in range(6_000))
    many = f'{{"apiVersion":"v1","kind":"List","items":[{rows}]}}'.encode()
    document = problem(ada.upload(("many.json.gz", gzip.compress(many))), 400)
    assert "KVIZ_READING_MIB" in document["errors"][0]["message"]
    assert not Snapshot.objects.exists()
    monkeypatch.setattr(reading, "LIGHT_BYTES", 1)
    with pytest.raises(reading.TooMuchMemory, match="KVIZ_READING_MIB"):
        reading.refuse_heavy(pack(ingest([("many.json", many)]).objects), settings.READING_BYTES)


def test_a_reader_that_fails_is_a_bug_and_not_the_senders_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "SMALL_BYTES", 0)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="reading an upload ended with 1"):
        reading.read_upload([("a.yaml", io.BytesIO(NODES.encode()))], Limits(), 1 << 30)


def test_an_upload_without_files(ada: Person) -> None:
    assert problem(ada.upload(), 400)["errors"][0]["field"] == "files"


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "image/png"])
def test_a_body_of_another_type(ada: Person, content_type: str) -> None:
    response = ada.client.post(
        f"{API}/snapshots/", b"x", content_type=content_type, headers=ada.headers
    )
    problem(response, 415)


def test_a_multipart_body_that_is_none(ada: Person) -> None:
    response = ada.client.post(
        f"{API}/snapshots/",
        b"nonsense",
        content_type="multipart/form-data; boundary=x",
        headers=ada.headers,
    )
    problem(response, 400)


def test_reading_can_be_followed(ada: Person, ben: Person) -> None:
    upload_id = uuid.uuid4()
    path = f"/uploads/{upload_id}/"
    assert ada.get(path).json() == {"done_bytes": 0, "total_bytes": 0}

    headers: dict[str, Any] = {**ada.headers, "X-Upload-Id": str(upload_id)}
    ada.client.post(
        f"{API}/snapshots/", NODES.encode(), content_type="application/yaml", headers=headers
    )

    size = len(NODES.encode())
    assert ada.get(path).json() == {"done_bytes": size, "total_bytes": size}
    assert ben.get(path).json() == {"done_bytes": 0, "total_bytes": 0}


def test_a_snapshot_is_deleted_with_its_runs(ada: Person) -> None:
    run = ada.finished()

    assert ada.delete(f"/snapshots/{run.snapshot_id}/").status_code == 204

    problem(ada.get(f"/snapshots/{run.snapshot_id}/"), 404)
    problem(ada.get(f"/runs/{run.pk}/"), 404)


def test_what_has_no_name_is_called_by_what_it_holds(ada: Person) -> None:
    response = ada.upload(("pasted.yaml", NODES + pod("a", "1")))
    assert response.json()["name"] == "2 nodes, 1 pod"


def test_a_snapshot_is_named_after_the_first_good_file(ada: Person) -> None:
    response = ada.upload(("bad.yaml", "kind: ["), ("shop.yaml", CLUSTER))
    assert response.json()["name"] == "shop"
