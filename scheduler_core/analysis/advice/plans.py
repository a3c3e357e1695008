"""The plans worth a try for a pending pod, cheapest first: single actions, then pairs.

A single action is any that stands against something that keeps the pod from some node. A pair is
made where two plugins are against it on one node: one action against each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from msgspec.structs import replace

from scheduler_core.analysis.advice.actions import Action, Plan, action, set_on
from scheduler_core.analysis.advice.blockers import Blocked
from scheduler_core.analysis.advice.devices import classes_there
from scheduler_core.analysis.advice.remedies import Remedies
from scheduler_core.api import ObjectMeta, Pod, PriorityClass
from scheduler_core.api.priority import PREEMPT_LOWER_PRIORITY, SYSTEM_CRITICAL_PRIORITY
from scheduler_core.changes.owners import like
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import Create, Delete, SetField, target_of
from scheduler_core.evidence.cycle import PluginEvidence
from scheduler_core.framework.status import Code
from scheduler_core.scheduler.event_handlers import is_visible

NEVER: Final = "Never"
PAIR_OF: Final = 2


def plans(pod: Pod, objects: Objects, remedies: Remedies, blocked: Sequence[Blocked]) -> list[Plan]:
    """Return the plans, cheapest first; among equals those of the nodes that come nearest first."""
    higher = list(priorities(pod, objects))
    found: dict[tuple[str, ...], Plan] = {}
    for each in sorted(blocked, key=lambda each: remedies.is_of_control_plane(each.node)):
        against = [_against(one, each.node, remedies, higher) for one in each.plugins]
        ways = [one for actions in against for one in actions]
        # A pod that is brought to a node where more is in the way helps elsewhere, by chance.
        singles = (Plan((one,)) for one in ways if len(against) == 1 or one.kind != "bring")
        pairs = map(Plan, product(*against)) if len(against) == PAIR_OF else ()
        for plan in (*singles, *pairs, Plan((remedies.one_more(each.node),))):
            if len(set(plan.lines)) == len(plan.lines):  # one action against both is a single
                found.setdefault(plan.lines, plan)
    for plan in (Plan((one,)) for one in (*higher, *classes_there(pod, objects))):
        found.setdefault(plan.lines, plan)
    return sorted(found.values(), key=lambda plan: plan.price)


def _against(
    plugin: PluginEvidence, node: str, remedies: Remedies, higher: Sequence[Action]
) -> list[Action]:
    if plugin.point == "PreFilter":
        return remedies.against_pod(plugin.unmet)
    preemptible = plugin.status.code is Code.UNSCHEDULABLE
    return [*remedies.against(plugin.unmet, node), *(higher if preemptible else ())]


def priorities(pod: Pod, objects: Objects) -> Iterator[Action]:
    """Yield the ways to let a pod preempt: by the classes above it, or by one to be made."""
    own = pod.spec.priority or 0
    preempts: tuple[SetField, ...] = ()
    if pod.spec.preemption_policy == NEVER:
        preempts = (set_on(pod, "spec.preemptionPolicy", PREEMPT_LOWER_PRIORITY),)
        yield action("priority", *preempts)
    classes = [each for each in objects.all(PriorityClass) if each.preemption_policy != NEVER]
    open_to_all = [each for each in classes if own < each.value < SYSTEM_CRITICAL_PRIORITY]
    above = sorted(open_to_all, key=lambda each: each.value)
    for each in above:
        yield action("priority", set_on(pod, "spec.priorityClassName", each.name), *preempts)
    highest = above[-1].value if above else own
    wanted = pod.spec.priority_class_name
    if wanted and objects.get(PriorityClass, wanted) is None:
        running = (each.spec.priority or 0 for each in _running(objects))
        usual = (each for each in running if each < SYSTEM_CRITICAL_PRIORITY)
        missing = PriorityClass(metadata=ObjectMeta(name=wanted), value=max(usual, default=0) + 1)
        again = like(pod, pod.name)
        again = replace(again, spec=replace(again.spec, priority=None))
        made = (Create((missing,)), Delete(target_of(pod)), Create((again,)))
        yield action("class", *made, *preempts)
    others = {each.spec.priority or 0 for each in _running(objects)}
    for level in sorted(each for each in others if highest <= each < SYSTEM_CRITICAL_PRIORITY)[:1]:
        above_all = PriorityClass(metadata=ObjectMeta(name=f"above-{level}"), value=level + 1)
        named = set_on(pod, "spec.priorityClassName", above_all.name)
        yield action("class", Create((above_all,)), named, *preempts)


def _running(objects: Objects) -> Iterator[Pod]:
    return (pod for pod in objects.all(Pod) if pod.spec.node_name and is_visible(pod))
