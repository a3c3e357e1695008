"""`kviz serve` as a user has it: one command, real sockets, real processes."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.sync.client import connect

from kviz.cli.serve import _listen
from tests.running_server import (
    Server,
    command,
    environment,
    serving,
    start_server,
    stop_server,
)
from tests.waiting import PATIENCE_S, ending, eventually
from tests.web.cast import CLUSTER, crowd


def call(server: Server, path: str, body: object = None, **headers: str) -> Any:
    """A REST call with the server's token; the answer's JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
    request = urllib.request.Request(f"{server.base_url}/api/v1{path}", data)
    request.add_header("Authorization", f"Bearer {server.token}")
    for name, value in ({"Content-Type": "application/json"} | headers).items():
        request.add_header(name, value)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
        return json.load(response)


def upload(server: Server, text: str) -> str:
    headers = {"Content-Type": "application/yaml"}
    return str(call(server, "/snapshots/", text.encode(), **headers)["id"])


def run_of(server: Server, text: str) -> str:
    return str(call(server, "/runs/", {"snapshot": upload(server, text)})["id"])


def wait_for(server: Server, run: str) -> Any:
    def document() -> Any:
        found = call(server, f"/runs/{run}/")
        return found if found["status"] not in ("queued", "running") else None

    return eventually(document)


def events_followed(server: Server, run: str) -> tuple[list[str], Any]:
    """Follow a run to its end: the types of its events, none missing or doubled, and its end."""
    seen: list[str] = []
    with connect(
        f"{server.ws_url}/ws/runs/{run}/?after=-1",
        additional_headers={"Authorization": f"Bearer {server.token}"},
        compression=None,
        max_size=None,
    ) as live:
        while True:
            frame = live.recv(timeout=PATIENCE_S)
            if isinstance(frame, bytes):
                first_seq, events = msgspec.msgpack.decode(gzip.decompress(frame))
                assert first_seq == len(seen)
                seen += [event[0] for event in events]
                live.send(json.dumps({"ack": len(seen) - 1}))
            elif (status := json.loads(frame))["status"] == "finished":
                return seen, status


def has_begun(server: Server, run: str) -> bool:
    return int(call(server, f"/runs/{run}/")["last_seq"]) >= 0


def workers_of(server: Server) -> list[int]:
    """Process ids of the server's children."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in children.read_text().split()]


def test_upload_run_and_follow_over_real_sockets(server: Server) -> None:
    run = run_of(server, CLUSTER)
    seen, status = events_followed(server, run)
    assert seen[0] == "RunStarted"
    assert seen[-1] == "RunFinished"
    assert status["last_seq"] == len(seen) - 1
    assert seen.count("CycleFinished") == status["cycles"] == 5


def test_pages_and_files_are_served(server: Server) -> None:
    with urllib.request.urlopen(server.base_url + "/") as page:
        assert page.status == 200
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    with urllib.request.urlopen(server.base_url + "/static/css/tokens.css") as file:
        assert file.headers["Content-Type"].startswith("text/css")
        assert b"--k-bg" in file.read()
    with pytest.raises(urllib.error.HTTPError) as missing:
        urllib.request.urlopen(server.base_url + "/static/nothing.css")
    assert missing.value.code == 404
    missing.value.close()


@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "chunked"])
def test_an_upload_of_two_gigabytes_is_refused_at_once(server: Server, chunked: bool) -> None:
    host, port = server.base_url.removeprefix("http://").split(":")
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {2 << 30}"
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as client:
        client.sendall(
            f"POST /api/v1/snapshots/ HTTP/1.1\r\nHost: {host}:{port}\r\n{length}\r\n"
            f"Content-Type: application/yaml\r\nAuthorization: Bearer {server.token}\r\n"
            f"Expect: 100-continue\r\n\r\n".encode()
        )
        answer = client.recv(4096)
        if chunked:
            assert answer.startswith(b"HTTP/1.1 100")
        else:
            assert answer.startswith(b"HTTP/1.1 413")
            assert b"application/problem+json" in answer


@pytest.mark.long
def test_a_worker_that_is_killed_is_replaced_and_the_run_goes_on(data_dir: Path) -> None:
    """A server simulates 400 pods twice; `test_workers.py` says cheaply that a run goes on."""
    with serving(data_dir) as server:
        calm = wait_for(server, run_of(server, crowd(400)))
        run = run_of(server, crowd(400))
        [victim] = workers_of(server)
        eventually(lambda: has_begun(server, run))
        os.kill(victim, signal.SIGKILL)

        again = wait_for(server, run)

        assert again["status"] == "finished"
        assert again["trace_hash"] == calm["trace_hash"]
        assert workers_of(server) != [victim]


@pytest.mark.slow("starts a server")
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM]
)
def test_a_signal_ends_server_and_worker(data_dir: Path, number: signal.Signals) -> None:
    server = start_server(data_dir)
    run = run_of(server, crowd(2_000))
    workers = workers_of(server)
    assert len(workers) == 1
    eventually(lambda: has_begun(server, run))

    server.process.send_signal(number)

    assert server.process.wait(60) == 0
    stop_server(server)
    assert not Path(f"/proc/{workers[0]}").exists()
    log = (data_dir / "serve.log").read_text()
    assert "Traceback" not in log, log


def test_a_worker_leaves_when_the_server_is_killed(data_dir: Path) -> None:
    server = start_server(data_dir)
    [worker] = workers_of(server)

    with ending([worker]):
        server.process.kill()
        server.process.wait()
        stop_server(server)


def serve(data_dir: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A `kviz serve` that is expected to give up by itself."""
    env = environment(data_dir, **more)
    return subprocess.run(
        command("serve", *arguments), env=env, capture_output=True, text=True, timeout=PATIENCE_S
    )


def test_a_port_in_use(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = serve(data_dir, "--port", str(port))

    assert ended.returncode == 1
    assert f"Port {port} on 127.0.0.1 is in use" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_data_folder_in_use(server: Server) -> None:
    ended = serve(server.data_dir, "--port", "0")

    assert ended.returncode == 1
    assert "Another `kviz serve` uses the data folder" in ended.stderr


def test_local_mode_stays_at_home(tmp_path: Path) -> None:
    ended = serve(tmp_path, "--host", "0.0.0.0", "--port", "0")

    assert ended.returncode == 1
    assert "KVIZ_MODE=server" in ended.stderr


def test_a_variable_that_makes_no_sense(tmp_path: Path) -> None:
    ended = serve(tmp_path, "--port", "0", KVIZ_MODE="public")

    assert ended.returncode == 1
    assert "KVIZ_MODE" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_data_folder_is_private(server: Server) -> None:
    for name in ("token", "secret-key"):
        assert (server.data_dir / name).stat().st_mode & 0o077 == 0


def test_small_answers_do_not_wait_for_more() -> None:
    with _listen("127.0.0.1", 0) as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP  # asyncio turns Nagle off for such only
