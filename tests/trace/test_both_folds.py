"""Python and the browser make the same of traces of generated clusters and scenarios."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kviz.out_of_tree import load_plugins
from kviz.samples import Sample, sample_texts
from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import ingest
from scheduler_core.config import ConfigError, default_configuration, load_configuration
from scheduler_core.sim import RunOptions
from scheduler_core.sim.run import Run
from scheduler_core.sim.scenario import Scenario, ScenarioError, load_scenario
from scheduler_core.trace.codec import Chunk, TraceWriter, read_headers, starts_cycle
from scheduler_core.trace.cycle_record import CycleRecord, cycle_record
from scheduler_core.trace.events import CycleStarted, HeaderEvent
from scheduler_core.trace.fold import TraceState, apply
from tests.effort import examples
from tests.fuzz.dumps import dumps, scenarios
from tests.fuzz.test_accepted_inputs import read
from tests.generator.as_run import run_of
from tests.generator.documents import cycle_document, sequence_document
from tests.generator.draw import Json
from tests.trace.story import plain

ROOT: Final = Path(__file__).parents[2]
FRONTEND: Final = ROOT / "frontend"
MAX_CYCLES: Final = 200
ANSWER_LINES: Final = """
import { createServer } from "vite";
const server = await createServer({
  configFile: false, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, watch: null },
});
const { answerLines } = await server.ssrLoadModule("/src/testing/folds.ts");
await answerLines();
await server.close();
"""
FIELDS: Final = (
    *("started", "finished", "pre_filter", "filter", "pre_score", "selected", "post_filter"),
    *("preemption_started", "preemption_decided", "preemption_ineligible", "extender_calls"),
)
"""What both languages keep of a cycle, beside what each extension point came to."""


class FrontEnd:
    """The front end's fold in a process of its own, asked over its standard input."""

    def __init__(self) -> None:
        path = os.pathsep.join((str(ROOT / ".node" / "bin"), os.environ.get("PATH", "")))
        node = shutil.which("node", path=path)
        assert node is not None, "there is no Node.js: run `make setup`"
        self._process = subprocess.Popen(
            [node, "--input-type=module", "--eval", ANSWER_LINES],
            cwd=FRONTEND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, chunks: Sequence[Chunk], moments: Sequence[int]) -> Any:
        """Return the states at some moments, and the records of all cycles."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {
            "chunks": [base64.b64encode(chunk.headers).decode() for chunk in chunks],
            "moments": moments,
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return as_doubles(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def front_end() -> Iterator[FrontEnd]:
    started = FrontEnd()
    yield started
    started.close()


@pytest.mark.parametrize("sample", sample_texts(), ids=lambda sample: sample.slug)
def test_of_the_samples(front_end: FrontEnd, sample: Sample) -> None:
    cluster = ingest([(sample.slug, sample.path.read_bytes())])
    configuration = default_configuration()
    if sample.scheduler_config:
        configuration = load_configuration(sample.scheduler_config)
    options = RunOptions(
        configuration=configuration,
        registry=load_plugins(configuration).registry,
        scenario=load_scenario(sample.scenario) if sample.scenario else Scenario(),
    )
    check(front_end, list(cluster.objects), options)


@given(st.integers(0, 2**32 - 1), st.sampled_from([cycle_document, sequence_document]))
@examples(8)
def test_of_generated_clusters_and_what_happens_to_them(
    front_end: FrontEnd, seed: int, make: Any
) -> None:
    try:
        objects, options = run_of(make(seed), max_cycles=MAX_CYCLES)
    except ConfigError:
        return
    check(front_end, objects, options)


@given(dumps(), scenarios())
@examples(8)
def test_of_any_dump_and_scenario(front_end: FrontEnd, items: list[Json], text: str) -> None:
    cluster = read(items)
    try:
        scenario = load_scenario(text) if text else Scenario()
    except ScenarioError:
        return
    if cluster.counts:
        options = RunOptions(scenario=scenario, max_cycles=MAX_CYCLES)
        check(front_end, list(cluster.objects), options)


def check(front_end: FrontEnd, objects: Sequence[KubeObject], options: RunOptions) -> None:
    chunks = chunks_of(objects, options)
    headers = [event for chunk in chunks for event in read_headers(chunk.headers)[1]]
    moments = sorted({len(headers) // 3, len(headers) // 2, len(headers)}, reverse=True)
    found = front_end.ask(chunks, moments)
    for moment, state in zip(moments, found["states"], strict=True):
        assert state == state_after(headers[:moment]), f"after {moment} of {len(headers)} events"
    starts = [i for i, event in enumerate(headers) if isinstance(event, CycleStarted)]
    ends = [*starts, len(headers)][1:]
    for start, end, cycle in zip(starts, ends, found["cycles"], strict=True):
        record = cycle_record(headers[start:end], headers[end:])
        known = plain_cycle(record)
        # The browser has more points than are traced as such, and does not show this one.
        known["points"].pop("PreBindPreFlight", None)
        cycle["points"] = {point: cycle["points"][point] for point in known["points"]}
        assert cycle == known, f"cycle {record.started.cycle}"


def chunks_of(objects: Sequence[KubeObject], options: RunOptions) -> list[Chunk]:
    """Run the scheduler; a chunk for every few cycles."""
    writer, chunks, n_cycles = TraceWriter(), [], 0
    for event in Run(objects, options).events():
        if starts_cycle(event):
            n_cycles += 1
            if n_cycles % 5 == 0:
                chunks.append(writer.cut())
        writer.add(event)
    chunks.append(writer.cut())
    return [chunk for chunk in chunks if chunk is not None]


def state_after(events: Sequence[HeaderEvent]) -> Any:
    state = TraceState()
    for event in events:
        apply(state, event)
    return as_doubles(json.dumps(plain(state)))


def plain_cycle(record: CycleRecord) -> Any:
    """Return what both languages know of a cycle; of each extension point its last status."""
    parts = {name: getattr(record, name) for name in FIELDS}
    parts["points"] = {event.point: event.status for event in record.points}
    return as_doubles(msgspec.json.encode(parts))


def as_doubles(text: str | bytes) -> Any:
    """Read JSON as the browser does: nanoseconds since the epoch exceed what it counts exactly."""
    return json.loads(text, parse_int=float)
