"""Evidence is there exactly where plugins reject, and its numbers are those of the verdict.

Over every cluster that was recorded from kube-scheduler, and over random ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kviz.conformance.cases import Case, Json, list_of, read_cases, read_object
from kviz.conformance.dump import Dump
from kviz.conformance.recordings import find_recordings
from kviz.conformance.replay import completed
from scheduler_core.api import KubeObject
from scheduler_core.config import ConfigError, load_configuration
from scheduler_core.sim.run import RunOptions, simulate
from tests.effort import examples
from tests.evidence.checking import Checked, run_checked
from tests.generator.dumps import dumps, read

DATA = Path(__file__).parents[1] / "conformance" / "data"
FILES = sorted(DATA.glob("*/*.jsonl.gz"))
RANDOM = [file for file in FILES if file.name.startswith("random")]
MAX_CYCLES = 6
MAX_NODES = 6
"""So many cycles and nodes of each cluster are checked."""
ONE_IN = 6
"""Of the random clusters that were recorded, `make test` checks one in so many."""

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
OTHER_ARGUMENTS = f"""{HEAD}profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{{key: disk, operator: NotIn, values: [hdd]}}]
        preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 7
          preference:
            matchExpressions: [{{key: size, operator: Gt, values: ["2"]}}]
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{{name: cpu, weight: 3}}, {{name: example.com/gpu, weight: 5}}]
        requestedToCapacityRatio:
          shape:
          - {{utilization: 0, score: 10}}
          - {{utilization: 60, score: 2}}
          - {{utilization: 100, score: 9}}
  - name: NodeResourcesBalancedAllocation
    args:
      resources:
      - {{name: cpu, weight: 1}}
      - {{name: memory, weight: 1}}
      - {{name: example.com/gpu, weight: 1}}
"""
PACKING = f"""{HEAD}profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {{type: MostAllocated, resources: [{{name: memory, weight: 2}}]}}
"""
CONFIGURATIONS = st.sampled_from(["", OTHER_ARGUMENTS, PACKING])


@given(cluster=dumps(), configuration=CONFIGURATIONS)
@examples(12)
def test_evidence_of_random_clusters(cluster: list[Any], configuration: str) -> None:
    options = RunOptions(max_cycles=MAX_CYCLES)
    if configuration:
        loaded = load_configuration(configuration)
        options = RunOptions(configuration=loaded, max_cycles=MAX_CYCLES)
    objects = read(cluster)
    events = run_checked(objects, options, Checked())
    assert events == list(simulate(objects, options)), "to look changes nothing"


@pytest.mark.slow("simulates recorded clusters twice")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.split(".")[0])
def test_evidence_of_recorded_clusters(file: Path) -> None:
    checked = _checked(file)
    assert checked.rejections or checked.scores


@pytest.mark.long
@pytest.mark.parametrize("file", RANDOM, ids=lambda file: file.parent.name)
def test_evidence_of_every_random_cluster(file: Path) -> None:
    """Long: the evidence of all 340; the test above checks one in six."""
    checked = _checked(file, one_in=1)
    assert checked.rejections or checked.scores


def test_every_kind_of_evidence_and_of_score_is_among_them() -> None:
    found = [
        _checked(file) for file in FILES if file.name in ("curated.jsonl.gz", "cycle.jsonl.gz")
    ]
    assert {kind for each in found for kind in each.sentences} >= KINDS
    assert {kind for each in found for kind in each.scores} >= SCORES
    assert {outcome for each in found for outcome in each.preemptions} == {
        "ineligible",
        "unresolvable",
        "noLesserPods",
        "notEnough",
        "candidate",
    }
    plugins = {plugin for each in found for plugin in each.pods}
    assert plugins >= {"NodeAffinity", "VolumeBinding", "VolumeZone"}


KINDS = {
    "boundVolume",
    "claim",
    "cordoned",
    "declaredFeature",
    "disk",
    "existingAntiAffinity",
    "hostPort",
    "nodeAffinity",
    "nodeSelector",
    "podAffinity",
    "podAntiAffinity",
    "readWriteOncePod",
    "resource",
    "resourceClaim",
    "taint",
    "topologySpread",
    "unboundClaim",
    "volumeLimit",
    "volumeZone",
}
SCORES = {
    "balancedAllocation",
    "devices",
    "images",
    "leastAllocated",
    "mostAllocated",
    "podAffinity",
    "preferredNodeTerms",
    "requestedToCapacityRatio",
    "softTaints",
    "topologySpread",
}


@cache
def _checked(file: Path, one_in: int = ONE_IN) -> Checked:
    """Check the clusters of one file of recordings."""
    checked = Checked()
    cases = list(read_cases(file))
    for case in cases[::one_in] if file in RANDOM else cases:
        if (options := _options(case)) is not None:
            run_checked(_objects(case), options, checked, MAX_NODES)
    return checked


def _options(case: Case) -> RunOptions | None:
    try:
        configuration = case.configuration()
    except ConfigError:
        return None
    return RunOptions(configuration=configuration, features=case.gates, max_cycles=MAX_CYCLES)


def _objects(case: Case) -> list[KubeObject]:
    """The objects of a case, what its events create among them, each once."""
    found = list(case.objects)
    if "pod" in case.given:
        found.append(read_object(cast(Json, case.given["pod"])))
    found += [
        read_object(cast(Json, event["object"]))
        for event in list_of(case.given, "events")
        if event["op"] == "create"
    ]
    return list({(type(each), each.key): completed(each) for each in found}.values())


def _dumps() -> Iterator[Dump]:
    for found in find_recordings([DATA / "dumps"]):
        if isinstance(found, Dump):
            yield found


def test_evidence_of_recorded_dumps() -> None:
    n_dumps = 0
    for dump in _dumps():
        checked = Checked()
        run_checked(dump.objects(), RunOptions(max_cycles=MAX_CYCLES), checked, MAX_NODES)
        assert checked.scores or checked.rejections
        n_dumps += 1
    assert n_dumps
