"""What every plugin would say about every node: more than the scheduler itself finds out.

The scheduler stops at a node's first rejection, and at the first plugin that finds a pod
impossible. Here all plugins of PreFilter and Filter are called, each as if the others were not
there. Upstream has no counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.interface import PreFilterPlugin, Prepared, implements
from scheduler_core.framework.plugin_calls import call
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.status import Code, Status, Verdict

Rejections = dict[str, Status]
"""By plugin, in the order in which plugins run."""


@dataclass(frozen=True, slots=True)
class IndividualVerdicts:
    """Rejections of the pod as a whole (by PreFilter), and of each node that has any, by name."""

    pod: tuple[Status, ...]
    nodes: Mapping[str, tuple[Status, ...]]


@dataclass
class Preparation:
    """What plugins prepared, each as if it were alone, and which of them reject the pod."""

    state: CycleState = field(default_factory=CycleState)
    rejections: list[Status] = field(default_factory=list)
    narrowed: dict[str, frozenset[str]] = field(default_factory=dict)


def evaluate_individually(framework: Framework, pod: PodInfo, nodes: Nodes) -> IndividualVerdicts:
    """Ask every plugin of a profile about a pod and `nodes`, all nodes of the cluster.

    Nodes with nominated pods that matter are filtered with and without them, as in the cycle.
    """
    prepared = prepare_individually(framework, pod, nodes)
    by_node: list[Rejections] = [{} for _ in range(nodes.n)]
    for plugin, names in prepared.narrowed.items():
        left_out = left_out_by(plugin)
        for i, name in enumerate(nodes.names):
            if name not in names:
                by_node[i][plugin] = left_out
    at = np.arange(nodes.n)
    _add(by_node, at, framework.run_filter_individually(prepared.state, pod, nodes))
    changes = framework.nominated_changes(pod, nodes)
    if changes:
        at = np.array(sorted(changes), np.int64)
        crowded = nodes.take(at).what_if({i: changes[int(k)] for i, k in enumerate(at)})
        _add(by_node, at, framework.run_filter_individually(prepared.state, pod, crowded))
    return IndividualVerdicts(
        tuple(prepared.rejections),
        {
            name: tuple(rejections.values())
            for name, rejections in zip(nodes.names, by_node, strict=True)
            if rejections
        },
    )


def left_out_by(plugin: str) -> Status:
    """Return what is said of the nodes that a plugin leaves out in PreFilter."""
    text = f"node(s) didn't satisfy plugin(s) [{plugin}]"
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,), plugin)


def prepare_individually(framework: Framework, pod: PodInfo, nodes: Nodes) -> Preparation:
    """Let every plugin prepare; one that rejects the pod or skips is not called about nodes."""
    found = Preparation()
    for plugin, _ in framework.points.get(ExtensionPoint.PRE_FILTER, ()):
        if not implements(plugin, PreFilterPlugin):
            continue
        outcome = call("PreFilter", plugin.name, pod, plugin.pre_filter, pod, nodes)
        if isinstance(outcome, Prepared) and outcome.rejection is not None:
            outcome = outcome.rejection
        if isinstance(outcome, Prepared):
            found.state.pre_filter[plugin.name] = outcome.state
            if outcome.skip:
                found.state.skip_filter.add(plugin.name)
            elif outcome.node_names is not None:
                found.narrowed[plugin.name] = outcome.node_names
        elif not outcome.is_success:
            found.state.skip_filter.add(plugin.name)
            if not outcome.is_skip:
                found.rejections.append(outcome.by(plugin.name))
    return found


def _add(by_node: list[Rejections], at: IntArray, verdicts: Mapping[str, Verdict]) -> None:
    """Take over the rejections of the nodes at positions `at`; later ones go before earlier."""
    for plugin, verdict in verdicts.items():
        for i in np.flatnonzero(verdict.code):
            by_node[int(at[i])][plugin] = verdict.status(int(i)).by(plugin)
