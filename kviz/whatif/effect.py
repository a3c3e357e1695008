"""Two runs of one cluster, without and with some changes, and what became of every pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scheduler_core.api import KubeObject, Pod
from scheduler_core.evidence.lead import Lead
from scheduler_core.sim.pending import leads_of
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.trace.events import CycleFinished, DetailEvent, PodEvicted
from scheduler_core.trace.fold import TraceState, apply
from scheduler_core.trace.tables import TERMINAL_PHASES

Outcome = Literal["bound", "pending", "evicted", "finished", "absent"]


@dataclass(frozen=True)
class PodEnd:
    """Where a pod is when a run is over; `cycle` is its last one, 0 if it had none.

    `message` is what its last cycle said, `lead` what keeps a pending pod from a node.
    """

    outcome: Outcome
    node: str = ""
    cycle: int = 0
    message: str = ""
    lead: Lead | None = None


@dataclass(frozen=True)
class RunEnd:
    """What became of the pods of a run, by `namespace/name`."""

    pods: Mapping[str, PodEnd]

    def of(self, pod: str) -> PodEnd:
        return self.pods.get(pod, PodEnd("absent"))


@dataclass(frozen=True)
class Other:
    """A pod beside the one asked for that ends differently."""

    pod: str
    what: str
    before: PodEnd
    after: PodEnd


@dataclass(frozen=True)
class Effect:
    """What follows from changes: for one pod, and for others."""

    pod: str
    before: PodEnd
    after: PodEnd
    others: tuple[Other, ...]
    sentences: tuple[str, ...]


class UnknownPodError(LookupError):
    """There is no such pod in either run."""


def effect(
    pod: str,
    before: tuple[Sequence[KubeObject], RunOptions],
    after: tuple[Sequence[KubeObject], RunOptions],
    sentences: tuple[str, ...],
) -> Effect:
    """Run both, each a cluster and its options, and set them side by side.

    Raises UnknownPodError, and ConfigError and PluginFailure as a run does.
    """
    ends = [_run_end(*each, pod) for each in (before, after)]
    if all(end.of(pod).outcome == "absent" for end in ends):
        raise UnknownPodError(pod)
    then, now = ends
    keys = dict.fromkeys((*then.pods, *now.pods))
    others = tuple(
        Other(key, what, then.of(key), now.of(key))
        for key in keys
        if key != pod and (what := difference(then.of(key), now.of(key)))
    )
    return Effect(pod, then.of(pod), now.of(pod), others, sentences)


def difference(before: PodEnd, after: PodEnd) -> str:
    """Name how a pod ends differently, empty if it does not."""
    match before.outcome, after.outcome:
        case "bound", "bound":
            return "" if before.node == after.node else "moved"
        case was, now if was == now:
            return ""
        case "absent", now:
            return f"new, {now}"
        case _, "bound":
            return "newly bound"
        case _, "pending":
            return "newly pending"
        case _, "evicted":
            return "evicted"
        case _, "finished":
            return "finished"
        case _:
            return "gone"


def _run_end(objects: Sequence[KubeObject], options: RunOptions, pod: str) -> RunEnd:
    run = Run(objects, options)
    state, messages = TraceState(), {0: ""}
    evicted: set[str] = set()
    for event in run.events():
        if isinstance(event, DetailEvent):
            continue
        apply(state, event)
        if isinstance(event, CycleFinished):
            messages[event.cycle] = event.message
        elif isinstance(event, PodEvicted):
            evicted.add(state.names.pod(event.pod))
    known = {state.names.pod(number): pod_state for number, pod_state in state.pods.items()}
    ends = {key: PodEnd("evicted") for key in sorted(evicted)}
    for item in run.simulation.server.all(Pod):
        cycle = known[item.key].cycle if item.key in known else 0
        end = PodEnd(_outcome(item), item.spec.node_name, cycle, messages.get(cycle, ""))
        if item.key == pod and end.outcome == "pending":
            leads = leads_of(objects, options, {cycle})
            end = replace(end, lead=leads.of(pod, cycle, item.spec.scheduler_name))
        ends[item.key] = end
    return RunEnd(ends)


def _outcome(pod: Pod) -> Outcome:
    if pod.status.phase in TERMINAL_PHASES:
        return "finished"
    if pod.metadata.deletion_timestamp is not None:
        return "evicted"
    return "bound" if pod.spec.node_name else "pending"
