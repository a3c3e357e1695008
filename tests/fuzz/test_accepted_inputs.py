"""Whatever a dump holds: it is refused by file and field, or read, run, shown and explained."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace

from hypothesis import event, given

from kviz.engine_build import engine_build
from kviz.questions.why.answer import explain
from kviz.questions.why.text import as_json, as_text
from kviz.run_file import Inputs, Part, RunFile, read_records
from kviz.runs.reading.projection import cycle_document
from kviz.simulate import Outcome, run
from scheduler_core.api import Pod
from scheduler_core.api.ingest import Ingested, ingest
from scheduler_core.api.packing import pack, unpack
from scheduler_core.sim import RunOptions
from scheduler_core.sim.scenario import Scenario, ScenarioError, load_scenario
from scheduler_core.trace import codec
from scheduler_core.trace.checking import TraceChecker
from scheduler_core.trace.codec import Chunk
from scheduler_core.trace.cycle_record import cycle_range, cycle_record
from scheduler_core.trace.fold import TraceState, apply
from scheduler_core.trace.names import Names
from scheduler_core.trace.why import why, why_document
from tests.effort import examples
from tests.fuzz.dumps import as_file, dumps, scenarios
from tests.generator.draw import Json

FILE = "cluster.json"


@given(dumps(), scenarios())
@examples(30)
def test_a_dump_is_refused_with_reason_or_runs_to_its_end(items: list[Json], scenario: str) -> None:
    cluster = read(items)
    if not cluster.counts:
        event("refused")
        return
    event("some left out" if cluster.left_out else "accepted")
    played = play(cluster, scenario)
    read_cycles(played.chunks)
    explain_pods(cluster)


def read(items: list[Json]) -> Ingested:
    """Read a dump as an upload would be; what is refused of it is named."""
    cluster = ingest([(FILE, io.BytesIO(as_file(items)))])
    for error in cluster.errors:
        assert error.place.source == FILE
        assert error.place.document
        assert error.field, str(error)
        assert error.message
    assert cluster.errors or cluster.counts
    assert cluster.left_out or not cluster.errors
    assert list(unpack(pack(cluster.objects))) == list(cluster.objects)
    return cluster


@dataclass
class Played:
    outcome: Outcome
    chunks: list[Chunk]


def play(cluster: Ingested, text: str) -> Played:
    """Run it as the command line does, into a file that is read again."""
    file = io.BytesIO()
    inputs = Inputs(
        engine_version=engine_build(),
        name="fuzz",
        sha256="0" * 64,
        ignored=cluster.ignored,
        warnings=list(map(str, cluster.warnings)),
        problems=[],
        scheduler_config="",
        scenario=text,
        seed=0,
        plugins=[],
        objects=pack(cluster.objects),
        left_out=list(map(str, cluster.left_out)),
    )
    options = RunOptions(
        scenario=scenario_of(text),
        max_cycles=300,
        ignored=cluster.ignored,
        left_out=cluster.left_out,
    )
    outcome = run(list(cluster.objects), options, RunFile(file, inputs))
    json.dumps(outcome.as_json())
    file.seek(0)
    chunks = [record.chunk for record in read_records(file) if isinstance(record, Part)]
    checker = TraceChecker(max_bytes=1 << 30)
    for chunk in chunks:
        checker.take(chunk)
    assert checker.trace_hash() == outcome.trace_hash
    assert checker.n_cycles == outcome.finished.n_cycles == len(outcome.cycles)
    return Played(outcome, chunks)


def scenario_of(text: str) -> Scenario:
    """Return the scenario; none where it is refused, as it should be."""
    try:
        return load_scenario(text) if text else Scenario()
    except ScenarioError as error:
        problems = error.problems
    event("scenario refused")
    assert all(problem.path and problem.message for problem in problems)
    return Scenario()


def read_cycles(chunks: list[Chunk]) -> None:
    """Make of every cycle what REST and pages show: its document, and why its pod is pending."""
    names, state = Names(), TraceState()
    for chunk in chunks:
        _, headers = codec.read_headers(chunk.headers)
        n_folded = n_named = 0
        for cycle in range(chunk.first_cycle, chunk.last_cycle + 1):
            place = cycle_range(headers, cycle)
            for header in headers[n_folded : place.start]:
                apply(state, header)
            names.take(headers[n_named : place.start])
            then = replace(names, order=names.order)
            names.take(headers[place.start : place.stop])
            n_folded, n_named = place.start, place.stop
            details = codec.decode_details(codec.details_of(chunk.details, cycle))
            later = list(headers[place.stop :])
            record = cycle_record(headers[place.start : place.stop], later, details)
            json.dumps(cycle_document(then, record))
            json.dumps(why_document(why(record, state)))
        names.take(headers[n_named:])
        for header in headers[n_folded:]:
            apply(state, header)


def explain_pods(cluster: Ingested) -> None:
    """Explain every pod without a node, and one that has one."""
    objects = list(cluster.objects)
    found = [item for item in objects if isinstance(item, Pod)]
    for pod in [pod for pod in found if not pod.spec.node_name][:6] + found[:1]:
        explanation = explain(objects, pod.key, ignored=cluster.ignored)
        json.dumps(as_json(explanation))
        assert as_text(explanation).startswith(pod.key)
