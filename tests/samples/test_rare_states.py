"""Samples of rare states: the engine has each in the cycle that the sample names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from kviz.out_of_tree import load_plugins
from kviz.samples import Sample, sample_named, sample_texts
from scheduler_core.api.ingest import ingest
from scheduler_core.config import default_configuration, load_configuration
from scheduler_core.sim import RunOptions, Scenario, load_scenario, simulate
from scheduler_core.trace.events import (
    AnyEvent,
    Assumed,
    Bound,
    CycleFinished,
    CycleStarted,
    DetailEvent,
    Event,
    FilterFinished,
    NodeAdded,
    NominationChanged,
    PermitResolved,
    PermitWaiting,
    PodAdded,
    PodDeleted,
    PodEvicted,
    PreemptionDecided,
    QueueMoved,
)
from scheduler_core.trace.records import Queue, Result

Kind = TypeVar("Kind", bound=Event | DetailEvent)


@dataclass
class Told:
    """What happened from the beginning of one cycle to that of the next, in names."""

    pod: str = ""
    events: list[AnyEvent] = field(default_factory=list)
    nominated: dict[str, str] = field(default_factory=dict)
    """pod -> node, when the cycle begins."""
    waiting: set[str] = field(default_factory=set)
    """Pods that wait on Permit when the cycle begins."""
    backing_off: dict[str, int] = field(default_factory=dict)
    stopping: set[str] = field(default_factory=set)

    def of(self, kind: type[Kind]) -> Iterator[Kind]:
        return (event for event in self.events if isinstance(event, kind))


class Names(dict[int, str]):
    def __missing__(self, index: int) -> str:
        return ""


@dataclass
class Story:
    pods: Names = field(default_factory=Names)
    nodes: Names = field(default_factory=Names)
    cycles: dict[int, Told] = field(default_factory=dict)


def story_of(sample: Sample) -> Story:
    config = sample.scheduler_config
    configuration = load_configuration(config) if config else default_configuration()
    scenario = load_scenario(sample.scenario) if sample.scenario else Scenario()
    options = RunOptions(
        configuration=configuration,
        registry=load_plugins(configuration).registry,
        scenario=scenario,
    )
    objects = list(ingest([(sample.slug, sample.path.read_bytes())]).objects)
    story, now = Story(), Told()
    nominated: dict[str, str] = {}
    waiting: set[str] = set()
    backing_off: dict[str, int] = {}
    stopping: set[str] = set()
    for event in simulate(objects, options):
        match event:
            case NodeAdded():
                story.nodes[event.node] = event.name
            case PodAdded():
                story.pods[event.pod] = event.name
            case CycleStarted():
                now = Told(
                    story.pods[event.pod],
                    nominated={**nominated},
                    waiting={*waiting},
                    backing_off={**backing_off},
                    stopping={*stopping},
                )
                story.cycles[event.cycle] = now
            case NominationChanged():
                nominated[story.pods[event.pod]] = story.nodes[event.node]
            case PermitWaiting():
                waiting.add(story.pods[event.pod])
            case PermitResolved():
                waiting.discard(story.pods[event.pod])
            case QueueMoved(queue=Queue.BACKOFF):
                backing_off[story.pods[event.pod]] = event.backoff_until_ns
            case QueueMoved():
                backing_off.pop(story.pods[event.pod], None)
            case PodEvicted():
                stopping.add(story.pods[event.pod])
            case PodDeleted():
                stopping.discard(story.pods[event.pod])
            case _:
                pass
        now.events.append(event)
    return story


def is_held(story: Story, now: Told) -> bool:
    [filtered] = now.of(FilterFinished)
    return (
        now.pod == "banner-0" and filtered.n_held == 1 and now.nominated == {"checkout-0": "node-1"}
    )


def is_outbid(story: Story, now: Told) -> bool:
    changed = {story.pods[e.pod]: story.nodes[e.node] for e in now.of(NominationChanged)}
    return now.nominated["checkout-0"] == "node-1" and changed == {
        "alarm-0": "node-1",
        "checkout-0": "",
    }


def lands_elsewhere(story: Story, now: Told) -> bool:
    placed = [story.nodes[event.node] for event in now.of(Assumed)]
    return (
        now.nominated["checkout-0"] == "node-1"
        and "report-0" in now.stopping
        and (now.pod, placed) == ("checkout-0", ["node-2"])
    )


def is_bound_by_another(story: Story, now: Told) -> bool:
    assumed = [(story.pods[e.pod], story.nodes[e.node]) for e in now.of(Assumed)]
    bound = [(story.pods[e.pod], story.nodes[e.node]) for e in now.of(Bound)]
    failed = [
        event.cycle
        for each in story.cycles.values()
        for event in each.of(CycleFinished)
        if event.result == Result.BIND_ERROR
    ]
    return (assumed, bound, failed) == ([("ferry-0", "dock-1")], [("ferry-0", "dock-2")], [1])


def is_victim_on_permit(story: Story, now: Told) -> bool:
    [decided] = now.of(PreemptionDecided)
    victims = {story.pods[pod] for pod in decided.victims}
    rejected = {story.pods[event.pod] for event in now.of(PermitResolved)}
    return now.waiting == victims == rejected == {"duo-0"} and not any(now.of(PodEvicted))


def is_in_backoff(story: Story, now: Told) -> bool:
    gone = {story.pods[e.pod] for told in story.cycles.values() for e in told.of(PodDeleted)}
    [placed] = [
        number
        for number, told in story.cycles.items()
        if any(story.pods[event.pod] == "climber-0" for event in told.of(Assumed))
    ]
    return (
        now.pod == "crowd-6"
        and bool(now.backing_off["climber-0"])
        and placed == 18
        and gone
        == {
            "filler-0",
            "filler-1",
        }
    )


def is_tied(story: Story, now: Told) -> bool:
    [decided] = now.of(PreemptionDecided)
    kept = {each.name: [story.nodes[node] for node in each.kept] for each in decided.criteria}
    return (
        kept
        == {
            "pdbViolations": ["node-2", "node-3", "node-4", "node-5"],
            "highestPriority": ["node-3", "node-4", "node-5"],
            "sumPriorities": ["node-4", "node-5"],
            "numVictims": ["node-4", "node-5"],
            "latestStartTime": ["node-4", "node-5"],
        }
        and story.nodes[decided.winner] == "node-4"
    )


STATES: dict[str, Callable[[Story, Told], bool]] = {
    "held-place": is_held,
    "outbid": is_outbid,
    "lands-elsewhere": lands_elsewhere,
    "bound-elsewhere": is_bound_by_another,
    "permit-victim": is_victim_on_permit,
    "backoff": is_in_backoff,
    "preemption-ties": is_tied,
}


@pytest.mark.parametrize("slug", STATES)
def test_the_state_is_in_the_cycle_that_the_sample_names(slug: str) -> None:
    sample = sample_named(slug)
    assert sample is not None
    assert sample.look.startswith(f"Cycle {sample.cycle}: ")
    story = story_of(sample)
    assert STATES[slug](story, story.cycles[sample.cycle])


def test_every_sample_that_says_where_to_look_is_here() -> None:
    assert set(STATES) == {each.slug for each in sample_texts() if each.look}
