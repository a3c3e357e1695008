"""The recorded calls of a real scheduler to extenders, as data and as a cluster to replay them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scheduler_core.api import Node, Pod
from scheduler_core.api.errors import Place
from scheduler_core.api.parse import convert
from scheduler_core.config import load_configuration
from scheduler_core.extender.transport import TIMED_OUT, Reply, RequestFailed, TLSSettings
from scheduler_core.scheduler.assembly import SchedulerOptions
from tests.simulated import Cluster

DATA = Path(__file__).parent / "data"
Json = Any


def lines(name: str) -> Iterator[Json]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


EXCHANGES: Mapping[str, Json] = {row["file"]: row for row in lines("exchanges.jsonl.gz")}
CASES: Sequence[Json] = list(lines("cases.jsonl.gz"))


def exchanges_of(case: Json) -> dict[str, Json]:
    """The exchanges of a case by verb."""
    return {name.rsplit("-", 1)[1][:-5]: EXCHANGES[name] for name in case["exchanges"]}


def parse_pod(raw: Json) -> Pod:
    return convert(raw, Pod, Place("recording"))  # type: ignore[return-value]


def parse_node(raw: Json) -> Node:
    return convert(raw, Node, Place("recording"))  # type: ignore[return-value]


def configuration_text(extenders: str) -> str:
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    return f"{head}extenders:\n{extenders}\n"


@dataclass
class RecordedAnswers:
    """A transport that answers as the recording says and keeps what it was asked."""

    exchanges: Mapping[str, Json]
    timed_out: str = ""
    """The verb whose answer came too late."""
    requests: list[tuple[str, Json]] = field(default_factory=list)

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        verb = url.rsplit("/", 1)[1]
        assert timeout_ns == 2_000_000_000
        if ":9997" in url:
            raise RequestFailed("dial tcp 127.0.0.1:9997: connect: connection refused")
        if verb in self.exchanges:
            self.requests.append((verb, json.loads(body)))
        if verb == self.timed_out:
            raise RequestFailed(TIMED_OUT)
        exchange = self.exchanges[verb]
        answer = exchange["response"]["body"]
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Reply(exchange["response"]["status"], text.encode(), 1_000_000)


def recorded_nodes() -> list[Node]:
    """The four nodes; the extended resource of one of them came late."""
    raw = EXCHANGES["case-29-1-filter.json"]["request"]["body"]["Nodes"]["items"]
    nodes = [parse_node(item) for item in raw]
    return sorted(nodes, key=lambda node: node.name)


def recorded_victims(case: Json) -> list[Pod]:
    """The pods that fill the nodes in the cases about preemption, with the uids of the case."""
    preempt = exchanges_of(case).get("preempt")
    if preempt is None:
        return []
    body = preempt["request"]["body"]
    whole = EXCHANGES["case-73-1-preempt.json"]["request"]["body"]["NodeNameToVictims"]
    whole = body["NodeNameToVictims"] or whole
    pods = {node: dict(victims["Pods"][0]) for node, victims in whole.items()}
    for node, victims in (body["NodeNameToMetaVictims"] or {}).items():
        metadata = {**pods[node]["metadata"], "uid": victims["Pods"][0]["UID"]}
        pods[node] = {**pods[node], "metadata": metadata}
    return [parse_pod(raw) for raw in pods.values()] + [_neighbour(raw) for raw in pods.values()]


def _neighbour(raw: Json) -> Pod:
    """The other pod on a victim's node, spared because it started earlier."""
    metadata = {"name": f"early-{raw['metadata']['name']}", "namespace": "default"}
    status = {"phase": "Running", "startTime": "2026-11-21T03:00:00Z"}
    return parse_pod({"metadata": metadata, "spec": raw["spec"], "status": status})


def recorded_pod(case: Json) -> Pod:
    for exchange in exchanges_of(case).values():
        if "Pod" in exchange["request"]["body"]:
            return parse_pod(exchange["request"]["body"]["Pod"])
    metadata = {"name": case["case"], "namespace": "default", "uid": case["case"]}
    return parse_pod({"metadata": metadata, "spec": case["podSpec"]})


def cluster_of(case: Json) -> tuple[Cluster, RecordedAnswers]:
    """The cluster of a case, with the pod to be scheduled."""
    late = re.search(r"(filter|bind) timeout", case["label"])
    answers = RecordedAnswers(exchanges_of(case), late[1] if late else "")
    options = SchedulerOptions(
        configuration=load_configuration(configuration_text(case["extenderConfigYaml"])),
        transport=answers,
    )
    objects = [*recorded_nodes(), *recorded_victims(case), recorded_pod(case)]
    return Cluster(*objects, options=options), answers
