"""The example extender of the docs, started as the docs say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kviz.common.extender_http import HttpTransport
from kviz.common.hosts import AllowedHosts
from scheduler_core.config import load_configuration
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.events import (
    CycleFinished,
    ExtenderCalled,
    NodeAdded,
)
from tests.extender.recordings import EXCHANGES, configuration_text, parse_pod, recorded_nodes
from tests.waiting import PATIENCE_S

READY = re.compile(r"running on http://127\.0\.0\.1:(\d+)")
FOLDER = Path(__file__).parents[2] / "docs/examples/extender"


@pytest.fixture(scope="module")
def example() -> Iterator[int]:
    command = [sys.executable, "-m", "uvicorn", "extender:app", "--port", "0", "--no-access-log"]
    process = subprocess.Popen(
        command,
        cwd=FOLDER,
        env={"PYTHONDONTWRITEBYTECODE": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process.stderr as log:
        ready = next(filter(None, map(READY.search, log)))
        yield int(ready[1])
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.mark.parametrize("capable", [True, False])
def test_the_example_filters_and_scores(example: int, capable: bool) -> None:
    entry = {
        "urlPrefix": f"http://127.0.0.1:{example}",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 1,
        "nodeCacheCapable": capable,
    }
    raw = EXCHANGES["case-01-1-filter.json"]["request"]["body"]["Pod"]
    pods = [
        parse_pod({**raw, "metadata": {"name": name, "namespace": "d", "labels": labels}})
        for name, labels in (("free", {}), ("choosy", {"only-on": "ext-3"}))
    ]
    configuration = load_configuration(configuration_text(f"- {json.dumps(entry)}"))
    with HttpTransport(AllowedHosts.parse(["127.0.0.1"])) as transport:
        options = RunOptions(configuration=configuration, transport=transport)
        trace = list(simulate([*recorded_nodes(), *pods], options))
    names = {event.node: event.name for event in trace if isinstance(event, NodeAdded)}
    ends = [names[event.node] for event in trace if isinstance(event, CycleFinished)]
    assert ends == ["ext-1", "ext-3"]
    summaries = [event.summary for event in trace if isinstance(event, ExtenderCalled)]
    assert "drops 3 of 4 nodes: 3 pod wants a node whose name starts with ext-3" in summaries


@pytest.mark.parametrize("recorded", ["case-72-1-preempt.json", "case-78-1-preempt.json"])
def test_the_example_agrees_to_victims(example: int, recorded: str) -> None:
    asked = EXCHANGES[recorded]["request"]["body"]
    with HttpTransport(AllowedHosts.parse(["127.0.0.1"])) as transport:
        url = f"http://127.0.0.1:{example}/preempt"
        reply = transport.post(url, json.dumps(asked).encode(), 5_000_000_000, None)
    answered = json.loads(reply.body)["NodeNameToMetaVictims"]
    assert answered.keys() == (asked["NodeNameToMetaVictims"] or asked["NodeNameToVictims"]).keys()
    assert all(len(victims["Pods"]) == 1 for victims in answered.values())
