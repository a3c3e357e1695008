"""Runs to be compared: simulated, and read as a comparison reads them."""

from __future__ import annotations

from collections.abc import Iterable

from kviz.out_of_tree import load_plugins
from kviz.samples import sample_texts
from scheduler_core.analysis.compare import RunLines, read_lines
from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import ingest
from scheduler_core.config import FeatureGates, default_configuration, load_configuration
from scheduler_core.sim import RunOptions, Scenario, load_scenario, simulate
from scheduler_core.trace.codec import Chunk, TraceWriter, starts_cycle
from scheduler_core.trace.events import AnyEvent

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      disabled: [{name: NodeResourcesBalancedAllocation}]
      enabled: [{name: NodeResourcesBalancedAllocation, weight: 10}]
"""
HEAVIER = RunOptions(configuration=load_configuration(CONFIGURATION))
"""Options of a run in which one plugin weighs more."""


def run(objects: Iterable[KubeObject], options: RunOptions | None = None) -> RunLines:
    return read_lines(chunks(simulate(list(objects), options or RunOptions())))


def chunks(events: Iterable[AnyEvent], n_cycles: int = 3) -> list[Chunk]:
    """Cut a trace into chunks of so many cycles."""
    writer, found, n = TraceWriter(), [], 0
    for event in events:
        if starts_cycle(event) and (n := n + 1) % n_cycles == 0:
            found.append(writer.cut())
        writer.add(event)
    return [chunk for chunk in (*found, writer.cut()) if chunk is not None]


def sample(name: str) -> tuple[list[KubeObject], RunOptions]:
    """Return the objects of a sample cluster, and what a run of it brings along."""
    found = next(each for each in sample_texts() if each.slug == name)
    configuration = default_configuration(FeatureGates())
    if found.scheduler_config:
        configuration = load_configuration(found.scheduler_config)
    options = RunOptions(
        configuration=configuration,
        registry=load_plugins(configuration, ()).registry,
        scenario=load_scenario(found.scenario) if found.scenario else Scenario(),
    )
    with found.path.open("rb") as file:
        return list(ingest([(found.path.name, file)]).objects), options
