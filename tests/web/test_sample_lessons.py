"""What the lessons of the samples claim, the engine does."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import pytest

from kviz.out_of_tree import load_plugins
from kviz.samples import Outcome, Sample
from kviz.snapshots.samples import SAMPLES
from scheduler_core.api import Pod
from scheduler_core.api.ingest import ingest
from scheduler_core.config import default_configuration, load_configuration
from scheduler_core.sim import RunOptions, Scenario, load_scenario, simulate
from scheduler_core.trace.events import (
    AnyEvent,
    Bound,
    ClockAdvanced,
    CycleFinished,
    CycleStarted,
    FilterFinished,
    NodeAdded,
    NodeSelected,
    PermitResolved,
    PermitWaiting,
    PodAdded,
    PodEvicted,
    PreemptionDecided,
    RunFinished,
    RunStarted,
    ScenarioStepped,
)


@dataclass
class Story:
    """What happened in a run, in names."""

    placed: dict[str, str] = field(default_factory=dict)
    """pod -> node, of pods the run bound."""
    messages: dict[str, str] = field(default_factory=dict)
    """pod -> the message of its last failed attempt."""
    picks: dict[str, NodeSelected] = field(default_factory=dict)
    rejected: dict[str, dict[str, int]] = field(default_factory=dict)
    evicted: list[str] = field(default_factory=list)
    preemptions: dict[str, PreemptionDecided] = field(default_factory=dict)
    nodes: dict[int, str] = field(default_factory=dict)

    @property
    def pending(self) -> set[str]:
        return set(self.messages) - set(self.placed)


@cache
def objects_of(slug: str) -> tuple[object, ...]:
    [sample] = [sample for sample in SAMPLES if sample.slug == slug]
    with sample.path.open("rb") as file:
        ingested = ingest([(sample.path.name, file)])
    assert ingested.errors == ()
    return tuple(ingested.objects)


def story_of(slug: str) -> Story:
    story = Story()
    pods: dict[int, str] = {}
    plugins: tuple[str, ...] = ()
    current = ""
    for event in simulate(objects_of(slug)):  # type: ignore[arg-type]
        match event:
            case RunStarted():
                plugins = event.plugins
                assert event.not_modelled == ()
            case NodeAdded():
                story.nodes[event.node] = event.name
            case PodAdded():
                pods[event.pod] = event.name
            case CycleStarted():
                current = pods[event.pod]
            case FilterFinished():
                story.rejected[current] = {plugins[r.plugin]: r.n_nodes for r in event.rejected}
            case NodeSelected():
                story.picks[current] = event
            case PreemptionDecided():
                story.preemptions[current] = event
            case PodEvicted():
                story.evicted.append(pods[event.pod])
            case CycleFinished() if event.message:
                story.messages[current] = event.message
            case Bound():
                story.placed[pods[event.pod]] = story.nodes[event.node]
            case _:
                pass
    return story


def test_gpu_pods_land_on_gpu_nodes_and_no_other_pod_does() -> None:
    wants_gpu = {
        item.name: "nvidia.com/gpu" in item.spec.containers[0].resources.requests
        for item in objects_of("gpu-pool")
        if isinstance(item, Pod) and not item.spec.node_name
    }
    story = story_of("gpu-pool")
    assert story.placed.keys() == wants_gpu.keys()
    assert {pod: node.startswith("gpu-") for pod, node in story.placed.items()} == wants_gpu
    assert story.rejected["report-nightly-0"] == {"NodeAffinity": 6}
    assert story.rejected["search-index-0"] == {"TaintToleration": 6}
    assert story.rejected["train-small-0"].keys() == {"NodeResourcesFit"}


def test_a_toleration_opens_a_door_and_pushes_nobody() -> None:
    story = story_of("taints-and-tolerations")
    assert story.placed["orders-db-0"] == story.placed["cache-0"] == "database-1"
    assert story.picks["orders-db-0"].rule == "single"
    assert story.picks["cache-0"].n_tied == 3
    assert story.pending == {"reports-db-0"}
    assert story.placed["frontend-2"].startswith("worker-")
    assert story.placed["thumbnails-0"].startswith("spot-")


def test_two_scorers_disagree_and_a_tie_is_not_always_the_first() -> None:
    story = story_of("fit-and-balance")
    pick = story.picks["join-0"]
    assert pick.total - pick.runner_up_total == 4
    assert len(pick.deciders) == 2
    assert story.picks["sidecar-free-0"].n_tied == 5
    assert (story.placed["web-1"], story.picks["web-1"].n_tied) == ("twin-4", 3)
    assert story.picks["web-2"].n_tied == 2
    assert story.pending == {"reindex-0"}


def test_a_zone_that_takes_no_pod_still_counts() -> None:
    story = story_of("zone-spread")
    assert story.pending == {"checkout-2", "checkout-3"}
    assert story.rejected["checkout-2"] == {"TaintToleration": 2, "PodTopologySpread": 4}
    assert {story.placed["cart-2"][:6], story.placed["cart-3"][:6]} == {"node-a", "node-b"}


def test_the_last_criterion_decides_who_leaves() -> None:
    story = story_of("preemption-budget")
    decided = story.preemptions["authorize-0"]
    kept = [{story.nodes[node] for node in step.kept} for step in decided.criteria]
    assert kept == [
        {"node-2", "node-3", "node-4", "node-5"},
        {"node-3", "node-4", "node-5"},
        {"node-4", "node-5"},
        {"node-4", "node-5"},
        {"node-5"},
    ]
    assert story.placed["authorize-0"] == "node-5"
    assert story.evicted[0] == "render-1"
    assert "refunds-0" in story.pending


@pytest.fixture(scope="module")
def clinic() -> Story:
    return story_of("why-pending")


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        ("analytics-0", "2 Insufficient cpu, 2 Insufficient memory"),
        ("archiver-0", "pod has unbound immediate PersistentVolumeClaims"),
        ("backup-0", 'persistentvolumeclaim "backup-target" not found'),
        ("ingress-2", "2 node(s) didn't have free ports for the requested pod ports"),
        ("ledger-2", "2 node(s) didn't match pod anti-affinity rules"),
        ("router-0", "2 node(s) didn't match pod affinity rules"),
        ("sensor-0", "2 node(s) didn't match Pod's node affinity/selector"),
        ("train-1", "3 Insufficient nvidia.com/gpu"),
        ("train-2", "2 node(s) had untolerated taint(s)"),
        ("zonal-0", "missing required label"),
    ],
)
def test_every_patient_of_the_clinic_has_an_illness_of_its_own(
    clinic: Story, pod: str, reason: str
) -> None:
    assert reason in clinic.messages[pod]


def test_one_patient_is_healthy(clinic: Story) -> None:
    assert set(clinic.placed) == {"patient-zero-0"}


def test_a_claim_decides_on_the_device_and_with_it_on_the_node() -> None:
    story = story_of("devices")
    assert story.placed["train-0"] == "room-2"
    assert story.placed["serve-0"] == "room-1"
    assert story.placed["watch-0"] == story.placed["watch-1"]
    assert story.pending == {"legacy-0", "batch-1"}
    assert story.rejected["legacy-0"] == {"DynamicResources": 4}


def events_of(slug: str) -> list[AnyEvent]:
    """The run of a sample, with what it brings beside its cluster."""
    [sample] = [sample for sample in SAMPLES if sample.slug == slug]
    configuration = (
        load_configuration(sample.scheduler_config)
        if sample.scheduler_config
        else default_configuration()
    )
    options = RunOptions(
        configuration=configuration,
        registry=load_plugins(configuration).registry,
        scenario=load_scenario(sample.scenario) if sample.scenario else Scenario(),
    )
    return list(simulate(objects_of(slug), options))  # type: ignore[arg-type]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.slug)
def test_cards_say_how_the_run_ends(sample: Sample) -> None:
    events = events_of(sample.slug)
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    scheduled, evicted = (
        sum(isinstance(event, kind) for event in events) for kind in (Bound, PodEvicted)
    )
    assert sample.outcome == Outcome(scheduled, finished.n_pending, evicted)


def permits_of(slug: str) -> list[tuple[int, str, str]]:
    """What happens on Permit in the run of a sample: `(second, pod, decision)`."""
    found, pods, start_ns, now_ns = [], dict[int, str](), 0, 0
    for event in events_of(slug):
        match event:
            case RunStarted():
                start_ns = now_ns = event.now_ns
            case ClockAdvanced():
                now_ns = event.now_ns
            case PodAdded():
                pods[event.pod] = event.name
            case PermitWaiting():
                found.append(((now_ns - start_ns) // 10**9, pods[event.pod], "wait"))
            case PermitResolved():
                found.append(((now_ns - start_ns) // 10**9, pods[event.pod], event.decision))
            case ScenarioStepped():
                assert not event.refused
            case _:
                pass
    assert isinstance(event, RunFinished)
    assert event.n_pending == 0
    return found


def test_gangs_are_released_timed_out_and_rejected() -> None:
    permits = permits_of("gangs")
    assert (4, "pair-0", "allow") in permits
    assert (10, "late-0", "timeout") in permits
    assert (0, "train-0", "reject") in permits
    assert (0, "train-1", "reject") in permits
    alone = [(second, what) for second, pod, what in permits if pod == "train-2"]
    assert alone == [(0, "wait"), (10, "timeout")]
    assert [pod for second, pod, what in permits if second == 31 and what == "allow"] == [
        "train-0",
        "train-1",
        "late-0",
    ]
