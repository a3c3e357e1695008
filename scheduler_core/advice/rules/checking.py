"""Checking rules: one run of the cluster, one more for each loss, and the copies of headroom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np

from scheduler_core.advice.capacity import capacity
from scheduler_core.advice.rules.vocabulary import (
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
from scheduler_core.advice.survival import (
    Aftermath,
    Loss,
    Standing,
    goes_with_node,
    standing_run,
    workload_of,
)
from scheduler_core.advice.trial import RunEnd, Trials, played_out
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.findings import counted
from scheduler_core.changes.owners import comes_back, is_terminating
from scheduler_core.cluster.columns import PODS
from scheduler_core.config.types import JsonValue
from scheduler_core.sim.run import Run, RunOptions, admitted

MAX_NAMED: Final = 3
"""So many pods or nodes are named in a sentence; the values have them all."""


NOT_MADE_AGAIN: Final = "nobody makes it again"
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
            return True, f"All {counted(len(pods), 'pod')} are on nodes", values
        text = f"{len(unbound)} of {counted(len(pods), 'pod')} have no node: {_named(unbound)}"
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
        listed = ", ".join(f"{value} {n}" for value, n in sorted(counts.items())) or "none"
        text = f"{counted(len(there), 'pod')} over {len(counts)} of {rule.over} ({listed})"
        return len(counts) >= rule.at_least, f"{text}; {rule.at_least} are asked for", values

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
            text = f"None of {counted(len(pods), 'pod')} is on one of {counted(len(nodes), 'node')}"
            return True, text, values
        listed = _named([f"{pod} on {node}" for pod, node in there])
        return False, f"{len(there)} of {counted(len(pods), 'pod')} are there: {listed}", values

    def _evict(self, rule: Evict) -> _Found:
        priorities = {pod.key: pod.spec.priority or 0 for pod in Pods().of(self._objects)}
        gone = [(key, priorities[key]) for key in self._end.keys("evicted") if key in priorities]
        above = [(key, priority) for key, priority in gone if priority > rule.nobody_above]
        values: dict[str, JsonValue] = {
            "evicted": len(gone),
            "above": [{"pod": key, "priority": priority} for key, priority in above],
        }
        if not above:
            text = f"{counted(len(gone), 'pod')} evicted, none of them above {rule.nobody_above}"
            return True, text, values
        listed = _named([f"{key} ({priority})" for key, priority in above])
        text = f"{counted(len(above), 'pod')} above {rule.nobody_above} evicted: {listed}"
        return False, text, values

    # ------------------------------------------------------------ what is left, what would fit

    def _survive(self, rule: Survive) -> _Found:
        chosen = _Chosen.of(rule.pods, self._standing[1])
        if not chosen.pods:
            return False, "No pod that is selected has a node to lose", {"selected": 0}
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
        what = "node" if rule.loss_of == NODE else f"value of {rule.loss_of}"
        n_pods = counted(len(chosen.pods), "pod")
        if not lost:
            text = f"All {n_pods} find nodes without any one {what}; {len(losses)} were tried"
            return bool(losses), text if losses else f"There is no {what} to lose", values
        text = (
            f"{len(lost)} of {len(losses)} losses leave pods without a node; worst {worst}: "
            f"{len(worst_pods)} of {n_pods}, {_named(worst_pods)}"
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
        if found.count >= rule.copies:
            return True, f"{rule.copies} copies of {rule.pod.key} fit", values
        text = f"{found.count} of {rule.copies} copies of {rule.pod.key} fit"
        return False, f"{text}; {found.stop.message}" if found.stop.message else text, values

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
            return False, f"No node that is selected has {rule.resource}", values
        share = f"{takes / has * 100:.1f} % of {rule.resource} on {counted(view.n, 'node')}"
        text = f"{share}; below {rule.below * 100:g} % is asked for"
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
NO_POD: Final[_Found] = (False, "No pod is selected", {"selected": 0})


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
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more
