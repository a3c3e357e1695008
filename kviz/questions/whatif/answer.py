"""Two runs of one cluster, without and with some changes, and what became of every pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_core.analysis.advice.trial import Differing, PodEnd, RunEnd, differences, trial
from scheduler_core.api import KubeObject
from scheduler_core.evidence.lead import Lead
from scheduler_core.sim.pending import leads_of
from scheduler_core.sim.run import RunOptions


@dataclass(frozen=True)
class Side:
    """The pod asked for in one of the runs; `lead` is what keeps a pending one from a node."""

    end: PodEnd
    lead: Lead | None = None


@dataclass(frozen=True)
class Effect:
    """What follows from changes: for one pod, and for others."""

    pod: str
    before: Side
    after: Side
    others: tuple[Differing, ...]
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
    then, now = trial(*before), trial(*after)
    if then.of(pod).outcome == now.of(pod).outcome == "absent":
        raise UnknownPodError(pod)
    others = tuple(each for each in differences(then, now) if each.pod != pod)
    return Effect(pod, _side(pod, then, *before), _side(pod, now, *after), others, sentences)


def _side(pod: str, run: RunEnd, objects: Sequence[KubeObject], options: RunOptions) -> Side:
    end = run.of(pod)
    if end.outcome != "pending":
        return Side(end)
    leads = leads_of(objects, options, {end.cycle})
    return Side(end, leads.of(pod, end.cycle, end.scheduler_name))
