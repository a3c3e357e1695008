"""What must hold of the evidence of any cycle, checked while a run decides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler_core.api import KubeObject
from scheduler_core.cluster.columns import PODS
from scheduler_core.evidence.cycle import CycleEvidence, NodeEvidence, PluginEvidence
from scheduler_core.evidence.document import node_document
from scheduler_core.evidence.ports import PortFree
from scheduler_core.evidence.preemption import NodePreemption
from scheduler_core.evidence.raw_score import StatedScore
from scheduler_core.evidence.requirement import Stated
from scheduler_core.evidence.resources import ResourceRoom
from scheduler_core.evidence.spread import SpreadKept
from scheduler_core.evidence.taints import TaintTolerated
from scheduler_core.framework.status import SUCCESS, Code
from scheduler_core.preemption.report import PreemptionReport
from scheduler_core.scheduler.cycle_evidence import evidence_of
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.trace.events import AnyEvent


@dataclass
class Checked:
    """What was checked, to see that a test is not empty."""

    rejections: dict[str, int] = field(default_factory=dict)
    scores: dict[str, int] = field(default_factory=dict)
    preemptions: dict[str, int] = field(default_factory=dict)
    pods: dict[str, int] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)
    """One for every kind of requirement that was not met."""


def count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


class Observer:
    """Checks every cycle of a run, about at most `max_nodes` of its nodes."""

    def __init__(self, checked: Checked, max_nodes: int = 60) -> None:
        self._checked = checked
        self._max_nodes = max_nodes
        self._expected: list[tuple[Cycle, dict[str, NodePreemption]]] = []
        self.run: Run | None = None

    def __call__(self, cycle: Cycle) -> None:
        assert self.run is not None
        evidence = evidence_of(cycle, self.run.simulation.objects)
        check_requests(cycle, evidence)
        check_whole_pod(cycle, evidence)
        for each in evidence.pod:
            check_pod(each, self._checked)
        preemptions = {}
        for name in evidence.node_names[: self._max_nodes]:
            found = evidence.node(name)
            check_node(cycle, found, self._checked)
            if found.preemption is not None:
                preemptions[name] = found.preemption
                count(self._checked.preemptions, found.preemption.outcome)
        if preemptions:
            self._expected.append((cycle, preemptions))

    def check_preemptions(self) -> None:
        """Compare with what the attempts then found, once the run is over."""
        for cycle, found in self._expected:
            report = cycle.post_filter.report if cycle.post_filter is not None else None
            if isinstance(report, PreemptionReport):
                check_preemption(report, found)


def run_checked(
    objects: Sequence[KubeObject], options: RunOptions, checked: Checked, max_nodes: int = 60
) -> list[AnyEvent]:
    """Simulate a run and check the evidence of all its cycles; return its trace."""
    observer = Observer(checked, max_nodes)
    observer.run = Run(objects, options, on_decision=observer)
    events = list(observer.run.events())
    observer.check_preemptions()
    return events


def check_requests(cycle: Cycle, evidence: CycleEvidence) -> None:
    asked = cycle.pod.template.requests.asked
    assert {each.resource: each.total for each in evidence.requests} == {
        name: amount for name, amount in asked.items() if amount
    }
    for each in evidence.requests:
        decided = each.pod_level if each.pod_level is not None else max(each.main, each.init)
        # Parts finer than the unit are rounded up one by one.
        assert abs(decided + each.overhead - each.total) <= len(each.shares) + 1


def check_whole_pod(cycle: Cycle, evidence: CycleEvidence) -> None:
    """What rejected the pod before any node was looked at is among its evidence."""
    status = cycle.pre_filter.status if cycle.pre_filter is not None else SUCCESS
    if status.is_rejected and status.plugin:
        assert status.plugin in {each.plugin for each in evidence.pod}, cycle.pod.key


def check_pod(found: PluginEvidence, checked: Checked) -> None:
    assert not found.status.is_success
    assert found.unmet
    assert found.sentence
    count(checked.pods, found.plugin)


def check_node(cycle: Cycle, found: NodeEvidence, checked: Checked) -> None:
    node_document(found)  # it can be written down
    for each in found.plugins:
        check_plugin(each, checked)
    recorded = cycle.diagnosis.status(found.node)
    rejecting = {each.plugin for each in found.rejections}
    filtered = cycle.filtering is not None and found.node in cycle.filtering.examined.names
    if filtered and recorded.is_rejected and recorded.plugin:
        assert recorded.plugin in rejecting
    if cycle.filtering is not None and found.node in cycle.filtering.feasible.names:
        assert not rejecting
    check_scores(cycle, found, checked)


def check_plugin(found: PluginEvidence, checked: Checked) -> None:
    assert bool(found.unmet) == (not found.status.is_success), found
    for each in found.requirements:
        assert "".join(text for text, _ in each.asks_parts) == each.asks
        assert "".join(text for text, _ in each.has_parts) == each.has
        differs = any(each_differs for _, each_differs in (*each.asks_parts, *each.has_parts))
        assert not (each.met and differs), each
    if found.status.is_success:
        assert not found.sentence
        return
    count(checked.rejections, found.plugin)
    for each in found.unmet:
        assert each.sentence
        checked.sentences.setdefault(each.kind, each.sentence)
        stated_error = found.status.code is Code.ERROR or "CSI" in found.sentence
        assert stated_error or not isinstance(each, Stated), found
    check_numbers(found)


def check_numbers(found: PluginEvidence) -> None:
    """Numbers and texts agree with the verdict."""
    for each in found.requirements:
        if isinstance(each, ResourceRoom):
            check_room(each, found)
        elif isinstance(each, SpreadKept) and each.domain is not None:
            assert each.met == (each.skew <= each.max_skew)
        elif isinstance(each, TaintTolerated):
            assert each.met == (each.toleration is not None and not each.differs)
        elif isinstance(each, PortFree):
            assert each.met == (not each.holder)


def check_room(room: ResourceRoom, found: PluginEvidence) -> None:
    assert room.short == room.requested - (room.allocatable - room.used)
    assert room.met == (room.short <= 0 or room.by_devices)
    if room.resource == PODS:
        reason = "Too many pods"
    else:
        reason = f"Insufficient {room.resource}"
        assert sum(holder.amount for holder in room.top) <= max(room.used, 0)
    assert (reason in found.status.reasons) == (not room.met)
    if not room.met and room.requested > room.allocatable and room.resource != PODS:
        assert found.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def check_scores(cycle: Cycle, found: NodeEvidence, checked: Checked) -> None:
    """What is recomputed equals what the engine found, raw, normalised and in total."""
    scoring, filtering = cycle.scoring, cycle.filtering
    if scoring is None or filtering is None or found.node not in filtering.feasible.names:
        assert not found.scores
        return
    at = filtering.feasible.names.index(found.node)
    assert [each.plugin for each in found.scores] == [each.plugin for each in scoring.scores]
    for got, expected in zip(found.scores, scoring.scores, strict=True):
        assert not isinstance(got.raw, StatedScore)
        assert got.raw.value == expected.raw[at], (got, expected.raw[at])
        assert got.normalized.value == expected.normalized[at], (got, expected.normalized[at])
        assert got.raw.text
        assert got.normalized.text
        count(checked.scores, got.raw.kind)
    assert found.total == scoring.totals[at]


def check_preemption(report: PreemptionReport, found: dict[str, NodePreemption]) -> None:
    """Every dry run that was made came out as said."""
    for run in report.dry_runs:
        if run.node_name in found:
            said = found[run.node_name]
            assert (said.outcome == "candidate") == run.is_candidate, (said, run.status)
            if run.is_candidate:
                assert tuple(each.pod for each in said.victims) == tuple(
                    victim.key for victim in run.victims
                )
    for said in found.values():
        assert (said.outcome == "ineligible") == bool(report.ineligible)
        assert said.sentence
