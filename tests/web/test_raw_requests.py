"""What no browser would send, to a server as it runs: an answer, strict headers, no traceback."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.running_server import Server, serving
from tests.waiting import PATIENCE_S
from tests.web.cast import CLUSTER
from tests.web.test_serve import run_of

RUN = "/ws/runs/00000000-0000-0000-0000-000000000000/?after=-1"
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
STRICT = (
    "cache-control: no-store",
    "content-security-policy: default-src 'none'",
    "cross-origin-opener-policy: same-origin",
    "cross-origin-resource-policy: same-origin",
    "permissions-policy: accelerometer=()",
    "referrer-policy: same-origin",
    "x-content-type-options: nosniff",
    "x-frame-options: deny",
)


class Quiet:
    """A server that has nothing to complain about."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.host = urlsplit(server.base_url).netloc

    def ask(self, request: str) -> tuple[int, str]:
        """Send bytes; return the status and the head of what comes."""
        host, port = self.host.split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as client:
            client.sendall(request.replace("HOST", self.host).encode("latin-1"))
            answer = b""
            while b"\r\n\r\n" not in answer and (more := client.recv(1 << 16)):
                answer += more
        head = answer.partition(b"\r\n\r\n")[0].decode("latin-1").lower()
        return int(head.split()[1]), head


@pytest.fixture(scope="module")
def quiet(new_data_dir: Callable[[], Path]) -> Iterator[Quiet]:
    with serving(new_data_dir(), "--workers", "0") as server:
        yield Quiet(server)
    log = (server.data_dir / "serve.log").read_text()
    assert "Traceback" not in log
    assert "without completing handshake" not in log


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("GET /healthz HTTP/1.1\r\nHost: HOST\r\n\r\n", 200),
        ("GET /readyz HTTP/1.1\r\nHost: HOST\r\n\r\n", 200),
        ("GET /metrics HTTP/1.1\r\nHost: HOST\r\n\r\n", 200),
        ("POST /api/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999\r\n\r\n", 413),
        ("GET / HTTP/1.1\r\nHost: HOST\r\nX: " + "a" * 200_000 + "\r\n\r\n", 431),
        ("POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: -5\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("\x16\x03\x01\x02\r\n\r\n", 400),
    ],
    ids=["healthz", "readyz", "metrics", "long", "head", "length", "chunk", "host", "tls"],
)
def test_what_django_never_sees_is_answered_strictly(
    quiet: Quiet, request_: str, status: int
) -> None:
    said, head = quiet.ask(request_)
    assert said == status
    assert [each for each in STRICT if each not in head] == []
    assert "server:" not in head


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/nowhere", KEY + "Origin: http://HOST\r\n", 404),
        ("/runs/", KEY + "Origin: http://HOST\r\n", 404),
        ("/ws/runs/%ff%fe/", KEY + "Origin: http://HOST\r\n", 404),
        (RUN, KEY, 403),
        (RUN, KEY + "Origin: https://elsewhere.example\r\n", 403),
        (RUN, KEY + "Origin: http://[::1\r\n", 403),
        (RUN, "Origin: http://HOST\r\n", 400),
        (RUN, KEY + "Origin: http://HOST\r\nSec-WebSocket-Protocol: \xff,,\r\n", 400),
        (RUN, KEY + "Origin: http://HOST\r\nX: " + "a" * 20_000 + "\r\n", 431),
    ],
    ids=["nowhere", "page", "bytes", "none", "foreign", "odd", "no key", "protocol", "head"],
)
def test_a_websocket_that_is_none_of_ours_is_refused(
    quiet: Quiet, path: str, headers: str, status: int
) -> None:
    said, head = quiet.ask(f"GET {path} HTTP/1.1\r\nHost: HOST\r\n{UPGRADE}{headers}\r\n")
    assert said == status
    assert [each for each in STRICT if each not in head] == []


def frame(opcode: int, data: bytes) -> bytes:
    """A websocket's frame as a client sends it, with a mask of zeros."""
    return bytes([0x80 | opcode, 0x80 | len(data), 0, 0, 0, 0]) + data


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(1, b"\xff\xfe"), 1007),
        (frame(0, b"alone"), 1002),
        (frame(3, b"reserved"), 1002),
        (b"\xf1\x80\0\0\0\0", 1002),
        (bytes([0x81, 0xFF]) + (1 << 62).to_bytes(8, "big") + bytes(4), 1009),
    ],
    ids=["no text", "continued", "opcode", "reserved bits", "length"],
)
def test_a_frame_that_is_none_ends_the_websocket(quiet: Quiet, sent: bytes, code: int) -> None:
    host, port = quiet.host.split(":")
    path = f"/ws/runs/{run_of(quiet.server, CLUSTER)}/"
    token = f"Authorization: Bearer {quiet.server.token}\r\n"
    head = f"GET {path} HTTP/1.1\r\nHost: {quiet.host}\r\n"
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as client:
        client.sendall((head + UPGRADE + KEY + token + "\r\n").encode())
        answer = b""
        while b"status" not in answer:
            answer += client.recv(1 << 16)
        client.sendall(sent)
        while more := client.recv(1 << 16):
            answer += more
    assert code.to_bytes(2, "big") in answer.partition(b"last_seq")[2]
