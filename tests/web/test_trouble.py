"""What somebody is told, and what stays behind, when something fails that is not their fault."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.db import OperationalError
from django.test import Client

from kviz.accounts.services import local_token_ensure
from kviz.runs import sharing
from kviz.runs.execution.engine import simulate_run
from kviz.runs.models import Run
from kviz.runs.portable.saved import pieces
from kviz.snapshots.spooling import UnnamedFiles
from scheduler_core.trace.events import AnyEvent
from tests.running_server import command, environment, start_server, stop_server
from tests.waiting import PATIENCE_S, eventually
from tests.web.cast import API, CLUSTER, Person, execute, problem


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(sharing, "run_share", refuse)


def test_a_database_that_is_locked_asks_to_come_back(ada: Person, locked: None) -> None:
    run = ada.finished()

    answer = ada.post(f"/runs/{run.pk}/share/", {})

    said = problem(answer, 503)
    assert "try again" in said["detail"]
    assert int(answer.headers["Retry-After"]) > 0


def test_a_page_asks_to_come_back_too(owner: Person, locked: None) -> None:
    run = owner.finished()

    answer = Client().post(f"/runs/{run.pk}/share")

    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert b"try again" in answer.content


@pytest.mark.parametrize("path", ["/", "/runs/", "/snapshots/", "/api/v1/runs/", "/api/v1/nothing"])
def test_answers_are_stored_nowhere(owner: Person, path: str) -> None:
    assert Client().get(path).headers["Cache-Control"] == "private, no-store"


def test_files_with_a_hash_in_their_name_are_stored_for_good(owner: Person) -> None:
    assert "no-store" not in Client().get("/static/css/tokens.css").headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/?share=%00", "/pods/a%00b/c/why/"])
def test_a_nul_in_an_address_is_refused_whatever_the_database_thinks_of_it(
    ada: Person, path: str
) -> None:
    problem(ada.get(f"/runs/{ada.finished().pk}{path}"), 400)


# ---------------------------------------------------------------- what stays behind


def test_an_upload_waits_in_a_file_that_nobody_else_can_open(tmp_path: Path, settings: Any) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    handler = UnnamedFiles()
    handler.new_file("files", "cluster.yaml", "text/yaml", 4, None, None)
    handler.receive_data_chunk(b"kind", 0)

    assert list(tmp_path.iterdir()) == []
    found = handler.file_complete(4)
    assert isinstance(found, UploadedFile)
    assert (found.name, found.size, found.read()) == ("cluster.yaml", 4, b"kind")
    found.close()


def has_open(pid: int, folder: Path) -> bool:
    """Whether a process has a file of the folder open, even one without a name."""
    with contextlib.suppress(FileNotFoundError):  # closed meanwhile
        return any(
            os.readlink(fd).startswith(f"{folder}/") for fd in Path(f"/proc/{pid}/fd").iterdir()
        )
    return False


UPLOAD = b"# secret of mine\n" * (1 << 20)
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.yaml"\r\n\r\n'
    + UPLOAD
    + b"\r\n--b--\r\n"
)


@pytest.mark.parametrize(
    ("media_type", "body"),
    [("multipart/form-data; boundary=b", FORM), ("application/yaml", UPLOAD)],
    ids=["form", "raw"],
)
@pytest.mark.long
def test_a_server_killed_during_an_upload_leaves_nothing_of_it(
    data_dir: Path, tmp_path: Path, media_type: str, body: bytes
) -> None:
    """Kills a server; that an upload's file has no name is told above."""
    spool = tmp_path / "spool"
    spool.mkdir()
    server = start_server(data_dir, "--workers", "0", KVIZ_TEMP_DIR=str(spool))
    host, port = server.base_url.removeprefix("http://").split(":")
    head = (
        f"POST /api/v1/snapshots/ HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Content-Length: {len(body)}\r\nContent-Type: {media_type}\r\n"
        f"Authorization: Bearer {server.token}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as client:
        client.sendall(head.encode() + body)
        try:
            eventually(lambda: has_open(server.process.pid, spool))
        finally:
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(60)
            stop_server(server)

    assert [path for path in spool.rglob("*") if path.is_file()] == []


# ---------------------------------------------------------------- tokens and links


def test_a_local_token_that_was_replaced_opens_nothing(owner: Person, tmp_path: Path) -> None:
    first = local_token_ensure(folder=tmp_path)
    (tmp_path / "token").unlink()
    second = local_token_ensure(folder=tmp_path)

    def status(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return Client().get("/api/v1/runs/", headers=headers).status_code

    assert local_token_ensure(folder=tmp_path) == second
    assert (status(first), status(second)) == (401, 200)


def test_a_link_that_was_withdrawn_opens_nothing(ada: Person, ben: Person) -> None:
    run = ada.finished()
    token = ada.post(f"/runs/{run.pk}/share/", {}).json()["token"]
    assert ben.get(f"/runs/{run.pk}/?share={token}").status_code == 200
    assert ben.delete(f"/runs/{run.pk}/share/?share={token}").status_code == 403

    assert ada.delete(f"/runs/{run.pk}/share/").status_code == 204

    assert ben.get(f"/runs/{run.pk}/?share={token}").status_code == 410
    assert ada.post(f"/runs/{run.pk}/share/", {}).json()["token"] != token


def test_a_link_is_withdrawn_on_the_page(owner: Person) -> None:
    run, browser = owner.finished(), Client()
    assert b"Stop sharing" not in browser.get(f"/runs/{run.pk}").content
    browser.post(f"/runs/{run.pk}/share")
    assert b"Stop sharing" in browser.get(f"/runs/{run.pk}").content

    browser.post(f"/runs/{run.pk}/unshare")

    assert not run.links.open().exists()


# ---------------------------------------------------------------- no room


def test_a_run_that_needs_too_much_memory_is_no_bug(ada: Person) -> None:
    run = ada.queued(CLUSTER)

    def greedy(run: Run) -> Iterator[AnyEvent]:
        yield next(iter(simulate_run(run)))
        raise MemoryError

    execute(worker="w", engine=greedy)

    run.refresh_from_db()
    assert run.status == "failed"
    assert "out of memory" in run.error
    assert "bug" not in run.error


def test_a_data_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = subprocess.run(
        command("serve", "--port", "0"),
        env=environment(tmp_path, KVIZ_DATA_DIR=str(tmp_path / "file" / "data")),
        capture_output=True,
        text=True,
    )

    assert said.returncode == 1
    assert "cannot be written to" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("reason", ["database is locked", "database or disk is full"])
def test_a_file_that_cannot_be_stored_now_is_not_called_damaged(
    ada: Person, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    file = b"".join(pieces(ada.finished()))

    def refuse(**_: Any) -> None:
        raise OperationalError(reason)

    monkeypatch.setattr("kviz.runs.services.chunk_store", refuse)
    sent = {"file": SimpleUploadedFile("run.kviz", file)}

    answer = ada.client.post(f"{API}/runs/file/", sent, headers=ada.headers)

    assert "no run of kviz" not in problem(answer, 503)["detail"]
