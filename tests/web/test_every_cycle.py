"""Each cycle of a run can be enacted again: what it decided is what its trace says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kviz.lessons.enacting import enacted, planned_run
from kviz.lessons.library import bundled_files
from kviz.lessons.reading import read_lesson
from kviz.out_of_tree import load_plugins
from kviz.runs.reading.held_cycles import went_as_recorded
from kviz.samples import Sample
from kviz.snapshots.samples import SAMPLES
from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import ingest
from scheduler_core.changes.vocabulary import Create
from scheduler_core.config import default_configuration, load_configuration
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.sim import RunOptions
from scheduler_core.sim.decided import DecidedCycle
from scheduler_core.sim.run import Run
from scheduler_core.sim.scenario import Scenario, Step, load_scenario
from tests.builders import make_node, make_pod
from tests.effort import examples
from tests.generator.as_run import run_of
from tests.generator.draw import Json

ROOT = Path(__file__).parents[2]
SECOND_NS = 1_000_000_000
RECORDED = [
    json.loads(line)
    for folder in ("sequence", "batching", "devices", "differences")
    for file in sorted((ROOT / "tests/conformance/data" / folder).glob("*.jsonl.gz"))
    for line in gzip.decompress(file.read_bytes()).splitlines()
]
SEQUENCES = [document for document in RECORDED if document["mode"] == "sequence"]


def otherwise(objects: Sequence[KubeObject], options: RunOptions) -> list[int]:
    """Return the cycles whose trace says something else than they decided."""
    decided: dict[int, DecidedCycle] = {}

    def note(cycle: Cycle) -> None:
        found = decided[cycle.number] = DecidedCycle(cycle, run.simulation.objects)
        # Both are worked out before anything follows from the cycle, as where a run is stopped.
        assert found.feasible.isdisjoint(found.rejected)

    run = Run(objects, options, note)
    whole = enacted(objects, run.events())
    assert decided.keys() <= whole.cycles.keys()
    return [
        number
        for number, cycle in decided.items()
        if not went_as_recorded(cycle, whole.document(number))
    ]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.slug)
def test_of_a_sample(sample: Sample) -> None:
    cluster = ingest([(sample.slug, sample.path.read_bytes())])
    configuration = default_configuration()
    if sample.scheduler_config:
        configuration = load_configuration(sample.scheduler_config)
    options = RunOptions(
        configuration=configuration,
        registry=load_plugins(configuration).registry,
        scenario=load_scenario(sample.scenario) if sample.scenario else Scenario(),
    )
    assert otherwise(list(cluster.objects), options) == []


@pytest.mark.parametrize("path", bundled_files(), ids=lambda path: path.stem)
def test_of_a_lesson(path: Path) -> None:
    objects, options, _rules = planned_run(read_lesson(path.read_text()))
    assert otherwise(objects, options) == []


@pytest.mark.long
@pytest.mark.parametrize("document", SEQUENCES, ids=lambda document: document["name"])
def test_of_a_recorded_sequence(document: Json) -> None:
    assert otherwise(*run_of(document)) == []


PODS = st.tuples(
    st.integers(0, 3), st.sampled_from([0, 5, 10]), st.integers(1, 4), st.sampled_from([0, 80])
)
"""When a pod is created (s), its priority, how many cpu it asks for, and its host port."""


@given(st.lists(st.integers(2, 4), min_size=1, max_size=3), st.lists(PODS, max_size=10))
@examples(30)
def test_of_a_run_with_preemption(nodes: list[int], pods: list[tuple[int, int, int, int]]) -> None:
    """Victims take their time to end, so that room is held for nominated pods meanwhile."""
    objects = [make_node(f"n{i}").cpu(cpu).obj() for i, cpu in enumerate(nodes)]
    steps = []
    for i, (at_s, priority, cpu, port) in enumerate(sorted(pods)):
        pod = make_pod(f"p{i}").cpu(cpu).priority(priority).grace_seconds(2)
        pod = pod.host_port(port) if port else pod
        steps.append(Step(at_s * SECOND_NS, Create((pod.obj(),))))
    options = RunOptions(scenario=Scenario(tuple(steps)), max_cycles=60)
    assert otherwise(objects, options) == []
