"""kviz as the extender of a real scheduler: the recorded questions again, over HTTP."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from html import unescape

import httpx
import numpy as np
import pytest
from websockets.sync.client import ClientConnection, connect

from kviz.extenders import incoming
from kviz.extenders.incoming import Verb
from kviz.extenders.models import ExtenderSession
from kviz.extenders.recorder import recorder
from kviz.extenders.services import session_create
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.config import load_configuration
from scheduler_core.extender import answers, wire
from scheduler_core.extender.client import HTTPExtender
from scheduler_core.framework.extenders import Candidate
from scheduler_core.trace.codec import read_headers
from scheduler_core.trace.events import CycleFinished, RunFinished, RunStarted
from tests.extender.recordings import EXCHANGES, Json, parse_node, parse_pod, recorded_nodes
from tests.running_server import Server
from tests.waiting import PATIENCE_S, eventually
from tests.web.cast import Person, person

WATCHED = [name for name in EXCHANGES if not name.endswith("bind.json")]


@pytest.fixture(scope="module")
def web(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.base_url, follow_redirects=True, timeout=60) as client:
        yield client


def submit(web: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """Send a form as a browser does."""
    web.get("/extender/")
    token = web.cookies["kviz_csrf"]
    answer = web.post(path, data={"csrfmiddlewaretoken": token, **fields})
    assert answer.status_code == 200
    return answer


@pytest.fixture(scope="module")
def session_page(web: httpx.Client) -> httpx.Response:
    """The page of a new session."""
    return submit(web, "/extender/", name="Staging")


@pytest.fixture(scope="module")
def snippet(session_page: httpx.Response) -> Json:
    found = re.search(r"<pre[^>]*>(.*?)</pre>", session_page.text, re.DOTALL)
    assert found is not None
    return load_configuration(unescape(found[1])).extenders[0]


def ask(client: httpx.Client, snippet: Json, verb: str, body: Json) -> httpx.Response:
    return client.post(f"{snippet.url_prefix}/{verb}", json=body)


def test_the_configuration_of_the_page_makes_a_watcher_that_stops_nothing(snippet: Json) -> None:
    assert snippet.node_cache_capable
    assert snippet.ignorable
    assert snippet.http_timeout_ns == 200_000_000
    assert (snippet.filter_verb, snippet.prioritize_verb, snippet.preempt_verb) == (
        "filter",
        "prioritize",
        "preempt",
    )
    assert not snippet.bind_verb


def test_the_configuration_brings_the_kubeconfig_that_config_overrides(
    session_page: httpx.Response,
) -> None:
    found = re.search(r"<pre[^>]*>(.*?)</pre>", session_page.text, re.DOTALL)
    assert found is not None
    text = unescape(found[1])
    connection = load_configuration(text).client_connection
    assert connection.kubeconfig == "/etc/kubernetes/scheduler.conf"
    assert "no longer looks at --kubeconfig" in text
    assert "does not use OpportunisticBatching" in session_page.text
    assert "calls no extender: it is not shown" in session_page.text


@pytest.mark.parametrize("name", WATCHED)
def test_recorded_questions_get_answers_that_change_nothing(
    web: httpx.Client, snippet: Json, name: str
) -> None:
    verb = name.rsplit("-", 1)[1].removesuffix(".json")
    body = EXCHANGES[name]["request"]["body"]
    reply = ask(web, snippet, verb, body)
    assert reply.status_code == 200
    if verb == "preempt":
        assert_same_candidates(snippet, body, reply.content)
        return
    cluster = cluster_of(body)
    names = body["NodeNames"] or [node["metadata"]["name"] for node in body["Nodes"]["items"]]
    nodes = Nodes(cluster, np.array([cluster.row_of[each] for each in names], np.int64))
    if verb == "filter":
        result = wire.filter_result(reply.content)
        assert result.error == ""
        assert not result.failed
        assert not result.failed_and_unresolvable
        extender = HTTPExtender(snippet, None)  # type: ignore[arg-type]
        extender.node_cache_capable = body["NodeNames"] is not None
        assert answers.nodes_left(extender, result, nodes).names == names
    else:
        priorities = wire.host_priorities(reply.content)
        assert {each.host for each in priorities} == set(names)
        assert answers.scores_of(priorities, nodes).tolist() == [0] * len(names)


def cluster_of(body: Json) -> ClusterColumns:
    cluster = ClusterColumns()
    for node in recorded_nodes():
        cluster.set_node(node)
    for raw in (body["Nodes"] or {"items": []})["items"]:
        cluster.set_node(parse_node(raw))
    return cluster


def assert_same_candidates(snippet: Json, body: Json, reply: bytes) -> None:
    """The answer, read as the scheduler reads it, is the candidates it asked about."""
    cluster = cluster_of({"Nodes": None})
    asked = []
    victims = body["NodeNameToVictims"] or body["NodeNameToMetaVictims"]
    for node, each in victims.items():
        pods = []
        for raw in each["Pods"]:
            uid = raw.get("UID") or raw["metadata"]["uid"]
            metadata = {"name": f"victim-{node}", "namespace": "default", "uid": uid}
            pods.append(
                cluster.templates.info(
                    parse_pod({"metadata": metadata, "spec": {"containers": [{"name": "c"}]}})
                )
            )
            cluster.add_pod(pods[-1], node)
        asked.append(Candidate(node, tuple(pods), each["NumPDBViolations"]))
    extender = HTTPExtender(snippet, None)  # type: ignore[arg-type]
    wanted = wire.preemption_result(reply)
    left = answers.candidates_left(extender, wanted, asked, cluster)
    assert [(c.node_name, [p.uid for p in c.victims], c.n_pdb_violations) for c in left] == [
        (c.node_name, [p.uid for p in c.victims], c.n_pdb_violations) for c in asked
    ]


def test_every_node_of_a_large_cluster_comes_back(web: httpx.Client, snippet: Json) -> None:
    body = dict(EXCHANGES["case-01-1-filter.json"]["request"]["body"])
    body["NodeNames"] = [f"worker-{i:05}.example.internal" for i in range(5_000)]
    reply = ask(web, snippet, "filter", body)
    assert reply.status_code == 200
    assert reply.json()["NodeNames"] == body["NodeNames"]


def test_the_light_goes_on_with_the_first_call(web: httpx.Client) -> None:
    page = submit(web, "/extender/", name="Light")
    assert "Not connected yet" in page.text
    assert f'data-session="/api/v1/runs/{run_id_of(page)}/"' in page.text
    for verb in ("1-filter", "2-prioritize"):
        body = EXCHANGES[f"case-01-{verb}.json"]["request"]["body"]
        assert web.post(f"{url_prefix_of(page)}/{verb[2:]}", json=body).status_code == 200
    eventually(lambda: "Connected" in web.get(str(page.url)).text or None)
    assert "data-session" not in web.get(str(page.url)).text


def test_the_page_lists_what_was_asked_in_order(
    web: httpx.Client, session_page: httpx.Response, snippet: Json
) -> None:
    for name in ("case-01-1-filter", "case-01-2-prioritize", "case-78-1-preempt"):
        body = EXCHANGES[f"{name}.json"]["request"]["body"]
        assert ask(web, snippet, name.rsplit("-", 1)[1], body).status_code == 200

    def page_with_both() -> str | None:
        text = web.get(str(session_page.url)).text
        rows = re.findall(r'<th scope="row" class="mono">(.*?)</th>', text)
        return text if rows[-2:] == ["default/case-01", "default/case-78"] else None

    text = eventually(page_with_both)
    assert "ext-1, ext-3, ext-4, ext-2" in text
    assert "ext-4: default/fill-false-0" in text
    assert "The scheduler sends whole nodes." in text
    assert 'http-equiv="refresh"' not in text


def test_viewers_of_the_run_are_notified_as_the_scheduler_asks(
    web: httpx.Client, server: Server
) -> None:
    page = submit(web, "/extender/", name="Live")
    run_id = run_id_of(page)
    url = url_prefix_of(page)
    cookies = "; ".join(f"{name}={value}" for name, value in web.cookies.items())
    address = f"ws{server.base_url.removeprefix('http')}/ws/runs/{run_id}/?after=-1"
    headers = {"Cookie": cookies, "Origin": server.base_url}
    with connect(address, additional_headers=headers) as socket:
        assert kinds_until(socket, RunStarted)
        for verb in ("1-filter", "2-prioritize"):
            body = EXCHANGES[f"case-01-{verb}.json"]["request"]["body"]
            assert web.post(f"{url}/{verb[2:]}", json=body).status_code == 200
        told = kinds_until(socket, CycleFinished)
        assert [kind for kind in told if kind in ("NodeAdded", "PodAdded", "ExtenderCalled")] == [
            *("NodeAdded",) * 4,
            "PodAdded",
            "ExtenderCalled",
            "ExtenderCalled",
        ]
        submit(web, f"{page.url.path}/revoke")
        assert kinds_until(socket, RunFinished)
    assert web.get(f"/api/v1/runs/{run_id}/").json()["status"] == "finished"


def run_id_of(page: httpx.Response) -> str:
    found = re.search(r"/runs/([0-9a-f-]{36})/explore", page.text)
    assert found is not None
    return found[1]


def url_prefix_of(page: httpx.Response) -> str:
    found = re.search(r"urlPrefix: (\S+)", unescape(page.text))
    assert found is not None
    return found[1]


def kinds_until(socket: ClientConnection, last: type) -> list[str]:
    """The kinds of events that come, up to a chunk with one of the kind."""
    told: list[str] = []
    while last.__name__ not in told:
        frame = socket.recv(timeout=PATIENCE_S)
        if isinstance(frame, bytes):
            first_seq, events = read_headers(frame)
            told += [type(event).__name__ for event in events]
            socket.send(json.dumps({"ack": first_seq + len(events) - 1}))
    return told


def test_bad_requests_are_refused(web: httpx.Client, snippet: Json) -> None:
    url = f"{snippet.url_prefix}/filter"
    assert web.post(url, content=b"no json").status_code == 400
    assert web.post(url, content=b"[" * 100_000).status_code == 400
    assert web.post(url, json={"Pod": 1}).status_code == 400
    assert web.get(url).status_code == 405
    assert web.post(f"{snippet.url_prefix}/bind", json={}).status_code == 404
    too_long = web.post(url, content=b" " * (16 * 1024 * 1024 + 1))
    assert too_long.status_code == 413
    assert web.post(url, content=iter([b"{}"])).status_code == 411


def test_a_revoked_token_is_as_good_as_a_guessed_one(web: httpx.Client) -> None:
    page = submit(web, "/extender/", name="Soon over")
    url, run_id = url_prefix_of(page), run_id_of(page)
    body = EXCHANGES["case-01-1-filter.json"]["request"]["body"]
    assert web.post(f"{url}/filter", json=body).status_code == 200
    page = submit(web, f"{page.url.path}/revoke")
    assert "This session is revoked" in page.text
    assert web.post(f"{url}/filter", json=body).status_code == 404
    guessed = f"{url.rpartition('/')[0]}/guess"
    assert web.post(f"{guessed}/filter", json=body).status_code == 404
    submit(web, f"{page.url.path}/delete")
    assert web.get(page.url.path).status_code == 404
    assert "Observing a real scheduler" in web.get(f"/runs/{run_id}").text


# ---------------------------------------------------------------- without a server


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def url_of(session: ExtenderSession, verb: str = "filter") -> str:
    return f"/api/v1/extender/{session.token}/{verb}"


def test_a_token_may_ask_only_so_often(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    second = 1_800_000_000
    monkeypatch.setattr("kviz.extenders.known.MAX_PER_SECOND", 3)
    missed: list[object] = []
    monkeypatch.setattr(recorder, "miss", missed.append)
    monkeypatch.setattr(time, "time", lambda: second + 0.5)
    session = session_create(workspace=ada.workspace)

    def statuses(n: int) -> list[int]:
        sent = (
            ada.client.post(url_of(session), b"none", content_type="application/json")
            for _ in range(n)
        )
        return [answer.status_code for answer in sent]

    assert statuses(5) == [400, 400, 400, 429, 429]
    second += 1
    assert statuses(4) == [400, 400, 400, 429]
    assert missed == [session.run_id] * 3


def test_tokens_differ_and_are_long(ada: Person) -> None:
    tokens = {session_create(workspace=ada.workspace).token for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 43


def test_long_lists_are_kept_in_part() -> None:
    names = [f"n-{i}" for i in range(12_000)]
    content = httpx.Request(
        "POST", "http://x", json={"Pod": {"metadata": {"name": "p" * 999}}, "NodeNames": names}
    ).content
    asked = incoming.answer(Verb.FILTER, content)
    assert (asked.n_nodes, len(asked.nodes)) == (12_000, incoming.MAX_NAMES)
    assert len(asked.pod) <= 512
    assert wire.filter_result(asked.answer).node_names == tuple(names)


def test_of_a_pod_that_is_too_long_only_the_name_is_kept() -> None:
    labels = {f"key-{i}": "x" * 60 for i in range(5_000)}
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u", "labels": labels}}
    asked = incoming.answer(Verb.FILTER, json.dumps({"Pod": pod, "NodeNames": []}).encode())
    assert (asked.pod, asked.pod_key, asked.pod_json) == ("n/p", "u", b"")
