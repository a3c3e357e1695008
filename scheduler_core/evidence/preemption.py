"""Why preemption does not help on a node, or which pods it would evict there.

Upstream: v1.36 plugins/defaultpreemption (PodEligibleToPreemptOthers, SelectVictimsOnNode).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.interface import NodeToStatus, Refilter
from scheduler_core.framework.status import Code
from scheduler_core.plugins.default_preemption import DefaultPreemption
from scheduler_core.preemption.report import DryRun
from scheduler_core.wording import say, series

NodeOutcome = Literal["ineligible", "unresolvable", "noLesserPods", "notEnough", "candidate"]


@dataclass(frozen=True, slots=True)
class VictimEvidence:
    pod: str
    priority: int
    violates_pdb: bool
    budgets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodePreemption:
    """What preemption finds on one node.

    `ineligible`: the pod may not preempt at all, for `reason`. `unresolvable`: `reason` is of the
    plugin that no eviction changes the mind of. `noLesserPods`: every pod there is at least as
    important, the least of them has `lowest_priority`. `notEnough`: without all `n_lesser` pods of
    lower priority it still does not fit, for `reason`. `candidate`: evicting `victims` makes room.
    """

    outcome: NodeOutcome
    priority: int
    reason: str = ""
    plugin: str = ""
    n_lesser: int = 0
    lowest_priority: int | None = None
    victims: tuple[VictimEvidence, ...] = ()

    @property
    def sentence(self) -> str:
        match self.outcome:
            case "ineligible":
                reason = self.reason.removesuffix(".")
                return say("preemption.may_not", "may not preempt: {reason}", reason=reason)
            case "unresolvable":
                return say(
                    "preemption.no_help",
                    "no eviction helps: {plugin} rejects the node with any pods on it",
                    plugin=self.plugin,
                )
            case "noLesserPods":
                if self.lowest_priority is None:
                    return say("preemption.no_pod", "there is no pod to evict")
                return say(
                    "preemption.no_lower_priority",
                    "has priority {priority:,}, every pod there has at least {lowest_priority:,}",
                    priority=self.priority,
                    lowest_priority=self.lowest_priority,
                )
            case "notEnough":
                if self.n_lesser == 1:
                    return say(
                        "preemption.even_without_one",
                        "even without its 1 pod of lower priority: {why}",
                        why=self.reason,
                    )
                return say(
                    "preemption.even_without",
                    "even without its {n} pods of lower priority: {why}",
                    n=self.n_lesser,
                    why=self.reason,
                )
            case "candidate":
                victims = series(map(_victim_text, self.victims))
                return say(
                    "preemption.makes_room", "evicting {victims} makes room", victims=victims
                )


def _victim_text(victim: VictimEvidence) -> str:
    if victim.budgets:
        return say(
            "preemption.pod_breaks",
            "{pod} (priority {priority:,}, breaks budget {budgets})",
            pod=victim.pod,
            priority=victim.priority,
            budgets=series(victim.budgets),
        )
    return say(
        "preemption.pod_priority",
        "{pod} (priority {priority:,})",
        pod=victim.pod,
        priority=victim.priority,
    )


@dataclass(frozen=True, slots=True)
class Preempting:
    """The pod's preemption: the plugin, and how Filter is run again over hypothetical nodes."""

    plugin: DefaultPreemption
    pod: PodInfo
    statuses: NodeToStatus
    refilter: Refilter

    @property
    def ineligible(self) -> str:
        """Return why the pod may not preempt, empty if it may."""
        return self.plugin.why_ineligible(self.pod, self.statuses)

    def on(self, node: Nodes) -> tuple[NodePreemption, Change | None]:
        """Return what preemption finds on a single node that was rejected.

        The change leads to the world in which the pod still does not fit; `reason` is left open.
        """
        priority, pods = self.pod.priority, node.pods(0)
        if reason := self.ineligible:
            return NodePreemption("ineligible", priority, reason), None
        status = self.statuses.status(node.name(0))
        if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            plugin = status.plugin or "PreFilter"
            return NodePreemption("unresolvable", priority, status.message, plugin), None
        lesser = tuple(pod for pod in pods if pod.priority < priority)
        lowest = min((pod.priority for pod in pods), default=None)
        if not lesser:
            return NodePreemption("noLesserPods", priority, lowest_priority=lowest), None
        (run,) = self.plugin.dry_run(self.pod, node, self.refilter)
        if not run.is_candidate:
            found = NodePreemption(
                "notEnough", priority, run.status.message, run.status.plugin, len(lesser), lowest
            )
            return found, Change(removed=lesser)
        victims = _victims(run)
        return NodePreemption(
            "candidate", priority, n_lesser=len(lesser), lowest_priority=lowest, victims=victims
        ), None


def _victims(run: DryRun) -> tuple[VictimEvidence, ...]:
    broken = {each.pod.uid: each.budgets for each in run.reprieves}
    return tuple(
        VictimEvidence(
            victim.key, victim.priority, bool(broken.get(victim.uid)), broken.get(victim.uid, ())
        )
        for victim in run.victims
    )
