"""What can be said of a pod before any plan is run: from the run as it is, and from previews."""

from __future__ import annotations

from scheduler_core.analysis.advice.actions import Plan
from scheduler_core.analysis.advice.trial import Trials
from scheduler_core.api import ResourceClaimTemplate
from scheduler_core.changes import ChangeError
from scheduler_core.changes.vocabulary import Put
from scheduler_core.plugins.dynamic_resources.plugin import DynamicResources
from scheduler_core.sim.preview import CannotPreview
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.trace.events import CycleFinished, PreemptionDecided
from scheduler_core.trace.records import NONE
from scheduler_core.wording import say, some_of


def bound_by_run(trials: Trials, pod: str) -> str:
    """Say where the run without changes places a pod that is pending when it begins."""
    text = say(
        "unblock.bound_by_run",
        "{pod} is pending in the file, and the run places it on {node}: nothing has to change",
        pod=pod,
        node=trials.as_it_is.of(pod).node,
    )
    evicted = trials.as_it_is.keys("evicted")
    if not evicted:
        return text
    return say(
        "unblock.run_evicts", "{what}; the run evicts {pods}", what=text, pods=some_of(evicted)
    )


def n_with_devices(held: ReenactedCycle | None) -> int:
    """Return on how many nodes the pod of a cycle has its devices."""
    if held is None:
        return -1
    against = (held.individually.nodes.get(name, ()) for name in held.nodes.names)
    return sum(all(each.plugin != DynamicResources.name for each in one) for one in against)


def may_help(plan: Plan, held: ReenactedCycle) -> bool:
    """Return whether the cycle finds a node with the changes, or makes room for the pod.

    Three things a preview cannot show: templates of claims were read before the cycle, a pod that
    was terminating stays until its end, and a pod that is started again has no node yet.
    """
    if any(each.kind in ("wait", "bring") for each in plan.parts):
        return True
    puts = (item for each in plan.changes if isinstance(each, Put) for item in each.objects)
    if any(isinstance(item, ResourceClaimTemplate) for item in puts):
        return True
    try:
        found = held.previews.change(plan.changes)
    except ChangeError:
        return False
    except CannotPreview:
        return True
    return any(
        (isinstance(event, CycleFinished) and event.node != NONE)
        or (isinstance(event, PreemptionDecided) and event.winner != NONE)
        for event in found.cycle
    )
