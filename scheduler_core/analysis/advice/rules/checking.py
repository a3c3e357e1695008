"""Checking rules: one run of the cluster, one more for each loss, and the copies of headroom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np

from scheduler_core.analysis.advice.capacity import capacity
from scheduler_core.analysis.advice.rules.vocabulary import (
    NODE,
    Avoid,
    Bind,
    Evict,
    Headroom,
    Kind,
    Pods,
    Rule,
    Spread,
    Survive,
    Utilisation,
)
from scheduler_core.analysis.advice.survival import (
    Aftermath,
    Loss,
    Standing,
    goes_with_node,
    standing_run,
    workload_of,
)
from scheduler_core.analysis.advice.trial import RunEnd, Trials, played_out
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.changes.owners import comes_back, is_terminating
from scheduler_core.cluster.columns import PODS
from scheduler_core.config.types import JsonValue
from scheduler_core.sim.run import Run, RunOptions, admitted
from scheduler_core.wording import SEMICOLON, say, series, some_of

MAX_NAMED: Final = 3
"""So many pods or nodes are named in a sentence; the values have them all."""


NOT_MADE_AGAIN: Final = say("pod.bare", "bare pod, no controller")
"""Of a pod without an owner that is gone with its node, or is evicted."""
Lose: TypeAlias = Callable[[Run, Standing, Sequence[Loss]], Sequence[Aftermath]]
"""Runs each loss in a copy of a settled run, and leaves the run itself as it stands."""


@dataclass(frozen=True)
class Verdict:
    """Whether a rule is kept: the statement, and the values it rests on."""

    rule: str
    kind: Kind
    holds: bool
    sentence: str
    values: Mapping[str, JsonValue] = field(default_factory=dict)


def check(
    rules: Sequence[Rule],
    objects: Sequence[KubeObject],
    options: RunOptions,
    lose: Lose | None = None,
) -> tuple[Verdict, ...]:
    """Run the scheduler over a cluster, and say of each rule whether it is kept.

    `lose` runs losses, each in a copy of a settled run; without it every loss gets a run of its
    own. Raises ConfigError and PluginFailure as a run does.
    """
    checked = _Checked(objects, options, lose)
    return tuple(checked.verdict(rule) for rule in rules)


def runs_needed(rules: Sequence[Rule], objects: Sequence[KubeObject]) -> int:
    """Return how many runs of the cluster a check takes at most; fifty copies count as one."""
    nodes = [item for item in objects if isinstance(item, Node)]
    n_runs = 1
    if any(isinstance(rule.demand, Survive) for rule in rules):
        n_runs += 1
    for demand in (rule.demand for rule in rules):
        match demand:
            case Survive():
                values = {_lost_with(node, demand.loss_of) for node in nodes}
                n_runs += len(values)
            case Headroom():
                n_runs += 1 + demand.copies // 50
            case _:
                pass
    return n_runs


class _Checked:
    """A cluster, run once for all rules."""

    def __init__(
        self, objects: Sequence[KubeObject], options: RunOptions, lose: Lose | None
    ) -> None:
        self._lose = lose
        self._objects = admitted(objects)[0]
        self._options = replace(options, details=False)
        self._trials = Trials(objects, options)
        self._aftermaths: dict[tuple[Loss, ...], Sequence[Aftermath]] = {}

    @cached_property
    def _run_and_end(self) -> tuple[Run, RunEnd]:
        run = Run(self._trials.objects, self._options)
        return run, played_out(run)

    @property
    def _end(self) -> RunEnd:
        return self._run_and_end[1]

    def verdict(self, rule: Rule) -> Verdict:
        demand = rule.demand
        match demand:
            case Bind():
                found = self._bind(demand)
            case Spread():
                found = self._spread(demand)
            case Survive():
                found = self._survive(demand)
            case Avoid():
                found = self._avoid(demand)
            case Evict():
                found = self._evict(demand)
            case Headroom():
                found = self._headroom(demand)
            case Utilisation():
                found = self._utilisation(demand)
        holds, sentence, values = found
        return Verdict(rule.name, demand.kind, holds, sentence, values)

    # ------------------------------------------------------------ where pods are

    def _bind(self, rule: Bind) -> _Found:
        pods = rule.pods.of(self._objects)
        if not pods:
            return NO_POD
        unbound = [pod.key for pod in pods if not self._node_of(pod)]
        values: dict[str, JsonValue] = {
            "selected": len(pods),
            "bound": len(pods) - len(unbound),
            "not_bound": [
                {"pod": key, "outcome": end.outcome, "message": end.message}
                for key in unbound
                for end in (self._end.of(key),)
            ],
        }
        if not unbound:
            placed = (
                say("rules.only_placed", "The only pod has a node")
                if len(pods) == 1
                else say("rules.all_placed", "All {pods} are on nodes", pods=_pods(len(pods)))
            )
            return True, placed, values
        text = say(
            "rules.some_pending",
            "{n} of {pods} without a node: {names}",
            n=len(unbound),
            pods=_pods(len(pods)),
            names=_named(unbound),
        )
        return False, text, values

    def _spread(self, rule: Spread) -> _Found:
        pods = rule.pods.of(self._objects)
        if not pods:
            return NO_POD
        labels = {node.name: node.metadata.labels for node in self._nodes}
        there = [node for pod in pods if (node := self._node_of(pod))]
        counts = Counter(labels.get(node, {}).get(rule.over, "") for node in there)
        without = counts.pop("", 0)
        values: dict[str, JsonValue] = {
            "selected": len(pods),
            "bound": len(there),
            "at_least": rule.at_least,
            "pods_by_value": dict(sorted(counts.items())),
            "on_nodes_without": without,
        }
        text = say(
            "rules.spread_short",
            "{pods} over {n} of {label} ({listed}); {asked} are asked for",
            pods=_pods(len(there)),
            n=len(counts),
            label=rule.over,
            listed=series(f"{value} {n}" for value, n in sorted(counts.items()))
            or say("value.none", "none"),
            asked=rule.at_least,
        )
        return len(counts) >= rule.at_least, text, values

    def _avoid(self, rule: Avoid) -> _Found:
        pods = rule.pods.of(self._objects)
        nodes = {node.name for node in rule.nodes.of(self._nodes)}
        placed = [(pod.key, self._node_of(pod)) for pod in pods]
        there = [(pod, node) for pod, node in placed if node in nodes]
        values: dict[str, JsonValue] = {
            "selected": len(pods),
            "nodes": len(nodes),
            "there": [{"pod": pod, "node": node} for pod, node in there],
        }
        if not there:
            text = say(
                "rules.none_there",
                "None of {pods} is on one of {nodes}",
                pods=_pods(len(pods)),
                nodes=_n_nodes(len(nodes)),
            )
            return True, text, values
        text = say(
            "rules.some_there",
            "{n} of {pods} are there: {names}",
            n=len(there),
            pods=_pods(len(pods)),
            names=_named(
                [say("pod.on_node", "{pod} on {node}", pod=pod, node=node) for pod, node in there]
            ),
        )
        return False, text, values

    def _evict(self, rule: Evict) -> _Found:
        priorities = {pod.key: pod.spec.priority or 0 for pod in Pods().of(self._objects)}
        gone = [(key, priorities[key]) for key in self._end.keys("evicted") if key in priorities]
        above = [(key, priority) for key, priority in gone if priority > rule.nobody_above]
        values: dict[str, JsonValue] = {
            "evicted": len(gone),
            "above": [{"pod": key, "priority": priority} for key, priority in above],
        }
        if not above:
            text = say(
                "rules.evictions_kept",
                "{pods} evicted, none of them above {priority}",
                pods=_pods(len(gone)),
                priority=rule.nobody_above,
            )
            return True, text, values
        text = say(
            "rules.evictions_above",
            "{pods} above {priority} evicted: {names}",
            pods=_pods(len(above)),
            priority=rule.nobody_above,
            names=_named([f"{key} ({priority})" for key, priority in above]),
        )
        return False, text, values

    # ------------------------------------------------------------ what is left, what would fit

    def _survive(self, rule: Survive) -> _Found:
        chosen = _Chosen.of(rule.pods, self._standing[1])
        if not chosen.pods:
            return (
                False,
                say("rules.no_pod_on_nodes", "No pod that is selected has a node to lose"),
                {"selected": 0},
            )
        losses = self._losses(rule.loss_of, chosen)
        lost: list[JsonValue] = []
        worst, worst_pods = "", list[str]()
        for value, after in zip(losses, self._after(tuple(losses.values())), strict=True):
            homeless = chosen.without_node(after)
            if homeless:
                told: list[JsonValue] = [
                    {"pod": key, "message": why} for key, why in homeless.items()
                ]
                lost.append({"lost": value, "nodes": len(after.loss.nodes), "pods": told})
            if len(homeless) > len(worst_pods):
                worst, worst_pods = value, list(homeless)
        values: dict[str, JsonValue] = {
            "bound": len(chosen.pods),
            "tried": len(losses),
            "not_survived": lost,
        }
        what = say("rules.node", "node")
        if rule.loss_of != NODE:
            what = say("rules.value_of_label", "value of {label}", label=rule.loss_of)
        pods = _pods(len(chosen.pods))
        if not losses:
            return (
                False,
                say("rules.nothing_to_lose", "There is no {what} to lose", what=what),
                values,
            )
        if not lost:
            text = say(
                "rules.survive_all",
                "All {pods} find nodes without any one {what}; {n} were tried",
                pods=pods,
                what=what,
                n=len(losses),
            )
            return True, text, values
        text = say(
            "rules.survive_not",
            "{n} of {all} losses leave pods without a node; "
            "worst {worst}: {n_pods} of {pods}, {names}",
            n=len(lost),
            all=len(losses),
            worst=worst,
            n_pods=len(worst_pods),
            pods=pods,
            names=_named(worst_pods),
        )
        return False, text, values

    def _losses(self, loss_of: str, chosen: _Chosen) -> dict[str, Loss]:
        """Return every loss that these pods could notice, by what is lost.

        It is one of their nodes, or of a pod that comes back and may evict some of them.
        """
        pods = chosen.pods.values()
        lowest = min(pod.spec.priority or 0 for pod in pods)
        above = (p for p in self._standing[1].pods if (p.spec.priority or 0) > lowest)
        theirs = {pod.spec.node_name for pod in (*pods, *filter(comes_back, above))}
        losses: dict[str, list[str]] = {}
        for node in self._standing[1].nodes:
            if value := _lost_with(node, loss_of):
                losses.setdefault(value, []).append(node.name)
        kind: Literal["node", "set"] = "node" if loss_of == NODE else "set"
        return {
            value: Loss(kind, value, tuple(nodes))
            for value, nodes in losses.items()
            if theirs.intersection(nodes)
        }

    def _after(self, losses: tuple[Loss, ...]) -> Sequence[Aftermath]:
        if losses not in self._aftermaths:
            if self._lose is not None:
                self._aftermaths[losses] = self._lose(*self._standing, losses)
            else:
                self._aftermaths[losses] = [self._lose_alone(loss) for loss in losses]
        return self._aftermaths[losses]

    def _lose_alone(self, loss: Loss) -> Aftermath:
        """Lose nodes in a settled run that nothing else is asked of."""
        run = standing_run(self._trials.objects, self._options)
        return Standing.before(run).after(run, loss)

    @cached_property
    def _standing(self) -> tuple[Run, Standing]:
        """The cluster in which the scheduler has done what it can: a loss comes after that."""
        run = standing_run(self._trials.objects, self._options)
        return run, Standing.before(run)

    def _headroom(self, rule: Headroom) -> _Found:
        found = capacity(self._trials.objects, self._options, [rule.pod], rule.copies)
        values: dict[str, JsonValue] = {
            "copies": rule.copies,
            "fit": found.count,
            "stopped_by": dict(found.stop.by),
            "message": found.stop.message,
        }
        pod = rule.pod.key
        if found.count >= rule.copies:
            return (
                True,
                say(
                    "rules.copies_fit", "{copies} copies of {pod} fit", copies=rule.copies, pod=pod
                ),
                values,
            )
        text = say(
            "rules.copies_short",
            "{n} of {copies} copies of {pod} fit",
            n=found.count,
            copies=rule.copies,
            pod=pod,
        )
        return False, series(filter(None, (text, found.stop.message)), SEMICOLON), values

    def _utilisation(self, rule: Utilisation) -> _Found:
        names = [node.name for node in rule.nodes.of(self._nodes)]
        view = self._run_and_end[0].simulation.scheduler.cache.update_snapshot()
        view = view.take(np.isin(np.array(view.names, np.str_), names))
        if rule.resource == PODS:
            has, takes = int(view.allowed_pods.sum()), int(view.n_pods.sum())
        else:
            has = int(view.allocatable(rule.resource).sum())
            takes = int(view.requested(rule.resource).sum())
        values: dict[str, JsonValue] = {
            "nodes": view.n,
            "allocatable": has,
            "requested": takes,
            "share": round(takes / has, 4) if has else None,
            "below": rule.below,
        }
        if not has:
            text = say(
                "rules.no_node_with_resource",
                "No node that is selected has {resource}",
                resource=rule.resource,
            )
            return False, text, values
        text = say(
            "rules.utilization",
            "{share:.1f} % of {resource} on {nodes}; below {below:g} % is asked for",
            share=takes / has * 100,
            resource=rule.resource,
            nodes=_n_nodes(view.n),
            below=rule.below * 100,
        )
        return takes < rule.below * has, text, values

    # ------------------------------------------------------------ the run

    @cached_property
    def _nodes(self) -> list[Node]:
        return [item for item in self._objects if isinstance(item, Node)]

    def _node_of(self, pod: Pod) -> str:
        """Return where the pod is in the end, empty if it has no node there."""
        end = self._end.of(pod.key)
        return end.node if end.outcome in ("bound", "finished") else ""


_Found: TypeAlias = "tuple[bool, str, Mapping[str, JsonValue]]"
NO_POD: Final[_Found] = (False, say("rules.no_pod_selected", "No pod is selected"), {"selected": 0})


@dataclass(frozen=True)
class _Chosen:
    """The pods on nodes that a rule selects, and what tells those that take their place.

    What an owner makes again has a new name, unless it is a StatefulSet: a pod that was not there
    before counts as one of these if its owner has one of them.
    """

    pods: Mapping[str, Pod]
    workloads: Collection[str]
    there: Collection[str]

    @classmethod
    def of(cls, pods: Pods, standing: Standing) -> _Chosen:
        chosen = [
            pod
            for pod in pods.of(standing.pods)
            if pod.spec.node_name and not goes_with_node(pod) and not is_terminating(pod)
        ]
        return cls(
            {pod.key: pod for pod in chosen},
            {name for pod in chosen if (name := workload_of(pod))},
            {pod.key for pod in standing.pods},
        )

    def without_node(self, after: Aftermath) -> dict[str, str]:
        """Return the pods that have no node after a loss, and why."""
        found = {
            each.pod: each.message
            for each in after.pending
            if each.pod in self.pods
            or (each.pod not in self.there and each.workload in self.workloads)
        }
        evicted = (key for key in after.evicted if key in self.pods)
        gone = [key for key in after.gone if key in self.pods]
        gone += [key for key in evicted if not comes_back(self.pods[key])]
        return found | dict.fromkeys(gone, NOT_MADE_AGAIN)


def _lost_with(node: Node, loss_of: str) -> str:
    """Return what a node is lost with, empty if with nothing."""
    return node.name if loss_of == NODE else node.metadata.labels.get(loss_of, "")


def _named(names: Sequence[str]) -> str:
    return some_of(names, most=MAX_NAMED)


def _pods(n: int) -> str:
    return say("count.pod_one", "1 pod") if n == 1 else say("count.pods", "{n:,} pods", n=n)


def _n_nodes(n: int) -> str:
    return say("count.node_one", "1 node") if n == 1 else say("count.nodes", "{n:,} nodes", n=n)
