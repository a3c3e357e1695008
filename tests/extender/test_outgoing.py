"""The HTTP client against a real server process: TLS, time, size, and nothing off the list."""

from __future__ import annotations

import json
import socket
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kviz.common.extender_http import HttpTransport, read_files
from kviz.common.hosts import AllowedHosts, HostRefused
from scheduler_core.config import load_configuration
from scheduler_core.extender.transport import (
    BodyFailed,
    Reply,
    RequestFailed,
    TLSSettings,
    TransportError,
)
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.events import (
    CycleFinished,
    ExtenderCalled,
)
from tests.extender.misbehaving_server import LATE_S
from tests.extender.recordings import (
    CASES,
    DATA,
    EXCHANGES,
    configuration_text,
    recorded_nodes,
    recorded_pod,
)
from tests.extender.test_recorded_cases import assert_same_request

SECOND_NS = 1_000_000_000
HALF_NS = SECOND_NS // 2
PATIENT_NS = 20 * SECOND_NS
"""For answers that come as soon as the machine can give them."""


def post(
    url: str,
    *allowed: str,
    body: bytes = b"{}",
    timeout_ns: int = PATIENT_NS,
    tls: TLSSettings | None = None,
) -> Reply:
    with HttpTransport(AllowedHosts.parse(allowed)) as transport:
        return transport.post(url, body, timeout_ns, tls)


def asked(port: int) -> list[str]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
        return str(answer.read(), "utf-8").splitlines()


# ---------------------------------------------------------------- good and bad answers


def test_a_body_arrives_whole_and_comes_back(port: int) -> None:
    body = json.dumps({"a": "ä" * 100_000}).encode()
    reply = post(f"http://127.0.0.1:{port}/echo", "127.0.0.1", body=body)
    assert (reply.status, reply.body) == (200, body)
    assert 0 < reply.duration_ns <= PATIENT_NS


def test_another_status_is_handed_on(port: int) -> None:
    assert post(f"http://127.0.0.1:{port}/error", "127.0.0.1").status == 500


def test_redirects_are_not_followed(port: int) -> None:
    assert post(f"http://127.0.0.1:{port}/redirect", "127.0.0.1").status == 307
    assert not [line for line in asked(port) if "elsewhere" in line]


@pytest.mark.parametrize(
    ("way", "timeout_ns", "error"),
    [
        ("late", HALF_NS, RequestFailed),
        ("slowheaders", HALF_NS, RequestFailed),
        ("slowbody", 2 * SECOND_NS, BodyFailed),
    ],
)
def test_all_of_an_exchange_must_be_over_in_time(
    port: int, way: str, timeout_ns: int, error: type[TransportError]
) -> None:
    """The time counts for the whole exchange: the server sends something all the while."""
    with pytest.raises(error, match="context deadline exceeded") as raised:
        post(f"http://127.0.0.1:{port}/{way}", "127.0.0.1", timeout_ns=timeout_ns)
    assert timeout_ns <= raised.value.duration_ns < LATE_S * SECOND_NS


def test_an_answer_has_its_bounds(port: int) -> None:
    with pytest.raises(BodyFailed, match="the answer has more than"):
        post(f"http://127.0.0.1:{port}/oversize", "127.0.0.1")


def test_a_connection_that_ends_has_the_error_text_of_go(port: int) -> None:
    with pytest.raises(RequestFailed) as raised:
        post(f"http://127.0.0.1:{port}/hangup", "127.0.0.1")
    assert raised.value.text == "EOF"


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    with pytest.raises(RequestFailed) as raised:
        post(f"http://127.0.0.1:{free}/f", "127.0.0.1")
    assert raised.value.text == f"dial tcp 127.0.0.1:{free}: connect: connection refused"


def test_no_cookie_is_kept(port: int) -> None:
    with HttpTransport(AllowedHosts.parse(["127.0.0.1"])) as transport:
        url = f"http://127.0.0.1:{port}/cookie"
        assert transport.post(url, b"{}", PATIENT_NS, None).body == b""
        assert transport.post(url, b"{}", PATIENT_NS, None).body == b""


# ---------------------------------------------------------------- TLS


def resolve_to(monkeypatch: pytest.MonkeyPatch, **names: str) -> None:
    """Let names lead to addresses, as a hostile or private DNS might."""
    known = {name.replace("_", "."): address for name, address in names.items()}
    real = socket.getaddrinfo

    def resolve(host: str, *arguments: object, **more: object) -> object:
        return real(known.get(host, host), *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


CA = (DATA / "server.pem").read_bytes()
KEY = (DATA / "server-key.pem").read_bytes()


def test_a_server_is_checked_against_the_ca_and_its_name(
    tls_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, extender_test="127.0.0.1")
    url = f"https://extender.test:{tls_port}/echo"
    listed = ("extender.test", "127.0.0.1")
    assert post(url, *listed, tls=TLSSettings(ca_data=CA)).status == 200
    with pytest.raises(RequestFailed, match="tls: failed to verify certificate"):
        post(url, *listed)
    by_address = f"https://127.0.0.1:{tls_port}/echo"
    with pytest.raises(RequestFailed, match="tls: failed to verify certificate"):
        post(by_address, *listed, tls=TLSSettings(ca_data=CA))
    named = TLSSettings(ca_data=CA, server_name="extender.test")
    assert post(by_address, *listed, tls=named).status == 200


def test_insecure_and_client_certificates(tls_port: int) -> None:
    url = f"https://127.0.0.1:{tls_port}/echo"
    assert post(url, "127.0.0.1", tls=TLSSettings(insecure=True)).status == 200
    proof = TLSSettings(insecure=True, cert_data=CA, key_data=KEY)
    assert post(url, "127.0.0.1", tls=proof).status == 200
    with pytest.raises(RequestFailed, match="tls: "):
        post(url, "127.0.0.1", tls=TLSSettings(insecure=True, cert_data=CA, key_data=b"none"))


def test_files_count_where_the_machine_is_the_users_own(tls_port: int, tmp_path: Path) -> None:
    def answered(tls: TLSSettings) -> Reply:
        with HttpTransport(AllowedHosts.parse(["127.0.0.1"]), read_files) as transport:
            url = f"https://127.0.0.1:{tls_port}/echo"
            return transport.post(url, b"{}", PATIENT_NS, tls)

    files = TLSSettings(
        server_name="extender.test",
        ca_file=str(DATA / "server.pem"),
        cert_file=str(DATA / "server.pem"),
        key_file=str(DATA / "server-key.pem"),
    )
    assert answered(files).status == 200
    data_first = replace(files, ca_data=CA, ca_file=str(tmp_path / "gone.pem"))
    assert answered(data_first).status == 200
    with pytest.raises(RequestFailed, match=r"open .*gone\.pem: No such file"):
        answered(replace(files, ca_file=str(tmp_path / "gone.pem")))


@pytest.mark.parametrize("name", ["ca_file", "cert_file", "key_file"])
def test_no_file_of_the_server_is_read(tls_port: int, name: str) -> None:
    files: dict[str, Any] = {name: str(DATA / "server.pem")}
    tls = TLSSettings(**files)
    with pytest.raises(RequestFailed, match="kviz reads no certificate files"):
        post(f"https://127.0.0.1:{tls_port}/echo", "127.0.0.1", tls=tls)


# ---------------------------------------------------------------- the list


def test_by_default_nothing_is_called(port: int) -> None:
    before = asked(port)
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0"):
        with pytest.raises(RequestFailed, match="may not call"):
            post(f"http://{host}:{port}/echo/unlisted")
    assert asked(port) == before


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.7", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0",
     "::1", "fe80::1", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"],
)  # fmt: skip
def test_a_listed_name_must_not_lead_inside(
    port: int, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    resolve_to(monkeypatch, rebound_example_com=address)
    before = asked(port)
    with pytest.raises(RequestFailed, match="which is not public and not listed itself"):
        post(f"http://rebound.example.com:{port}/echo/inside", "rebound.example.com")
    assert asked(port) == before


def test_a_name_may_lead_inside_where_the_address_is_listed_too(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, extender_corp="127.0.0.1")
    url = f"http://extender.corp:{port}/echo"
    assert post(url, "extender.corp", "127.0.0.0/8").status == 200
    assert asked(port)[-1] == f"/echo extender.corp:{port}"
    with pytest.raises(RequestFailed):
        post(url, "127.0.0.0/8")


def test_a_name_is_resolved_once(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, extender_corp="127.0.0.1")
    with HttpTransport(AllowedHosts.parse(["extender.corp", "127.0.0.1"])) as transport:
        url = f"http://extender.corp:{port}/echo"
        assert transport.post(url, b"{}", PATIENT_NS, None).status == 200
        resolve_to(monkeypatch, extender_corp="192.0.2.1")
        assert transport.post(url, b"{}", PATIENT_NS, None).status == 200


def test_ports_and_spellings_of_the_list() -> None:
    allowed = AllowedHosts.parse(["Example.com:8080", "[::1]:9000", "::2", "localhost:7"])
    allowed.check_host("example.com", 8080)
    allowed.check_host("EXAMPLE.com.", 8080)
    allowed.check_host("0:0:0:0:0:0:0:1", 9000)
    allowed.check_host("::2", 1)
    assert allowed.pick("localhost", 7, ["::1"]) == "::1"
    for host, port in (("example.com", 80), ("::1", 9001), ("sub.example.com", 8080)):
        with pytest.raises(HostRefused):
            allowed.check_host(host, port)
    for word in ("a:b", "a:0", "10.0.0.1/99", ":80"):
        with pytest.raises(ValueError, match=r".+"):
            AllowedHosts.parse([word])


@pytest.mark.parametrize(
    "url",
    ["ftp://127.0.0.1/", "file:///etc/hosts", "gopher://x", "http:///x", "http://[", "http://h:x/"],
)
def test_only_http_is_spoken(url: str) -> None:
    with pytest.raises(RequestFailed, match=r"unsupported protocol scheme|no Host|parse"):
        post(url, "127.0.0.1")


# ---------------------------------------------------------------- a whole run over HTTP


def messages_of(port: int, way: str, **more: object) -> tuple[str, ExtenderCalled]:
    timeout = "500ms" if way == "late" else "20s"
    entry = {"urlPrefix": f"http://127.0.0.1:{port}/{way}", "filterVerb": "filter",
             "nodeCacheCapable": True, "httpTimeout": timeout, **more}  # fmt: skip
    configuration = load_configuration(configuration_text(f"- {json.dumps(entry)}"))
    with HttpTransport(AllowedHosts.parse(["127.0.0.1"])) as transport:
        options = RunOptions(configuration=configuration, transport=transport, max_cycles=1)
        trace = list(simulate([*recorded_nodes(), recorded_pod(CASES[0])], options))
    (end,) = [event for event in trace if isinstance(event, CycleFinished)]
    (call,) = [event for event in trace if isinstance(event, ExtenderCalled)]
    return end.message, call


@pytest.mark.parametrize(
    ("way", "recorded"),
    [("error", "case-07"), ("malformed", "case-10"), ("late", "case-12"), ("unknown", "case-13")],
)
def test_failures_read_as_recorded(port: int, way: str, recorded: str) -> None:
    (case,) = [case for case in CASES if case["case"] == recorded]
    expected = case["condition"]["message"].replace(
        "127.0.0.1:9998/scheduler", f"127.0.0.1:{port}/{way}"
    )
    message, call = messages_of(port, way)
    assert message == call.error == expected
    assert not call.ignored
    message, call = messages_of(port, way, ignorable=True)
    assert message == ""
    assert call.ignored


@pytest.mark.parametrize("capable", [True, False])
def test_what_goes_over_the_wire_equals_the_recording(port: int, capable: bool) -> None:
    _, call = messages_of(port, "echo", nodeCacheCapable=capable)
    recorded = EXCHANGES["case-01-1-filter.json" if capable else "case-29-1-filter.json"]
    entry = {"urlPrefix": f"http://127.0.0.1:{port}/echo", "filterVerb": "f",
             "nodeCacheCapable": capable}  # fmt: skip
    bodies = []

    class Listening(HttpTransport):
        def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
            reply = super().post(url, body, timeout_ns, tls)
            bodies.append(json.loads(reply.body))
            return reply

    case = CASES[0 if capable else 28]
    configuration = load_configuration(configuration_text(f"- {json.dumps(entry)}"))
    with Listening(AllowedHosts.parse(["127.0.0.1"])) as transport:
        options = RunOptions(configuration=configuration, transport=transport, max_cycles=1)
        list(simulate([*recorded_nodes(), recorded_pod(case)], options))
    assert call.status == 200
    (body,) = bodies
    assert_same_request("filter", body, recorded["request"]["body"])
