"""What pending pods need of a node that is added: asked of the plugins, and of arithmetic."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.analysis.advice.nodes.offers import Offer
from scheduler_core.analysis.advice.settled import settled
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.selectors import label_selector_matches
from scheduler_core.changes.node_changes import HOSTNAME
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import pod_requests
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.status import Code, Status
from scheduler_core.sim.api_server import DEFAULT_SCHEDULER
from scheduler_core.sim.run import RunOptions

OWN_FAULT: Final = (
    *("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts"),
    "NodeResourcesFit",
)
"""Plugins whose rejection of a node holds whatever nodes are added, as long as nobody leaves it."""
ANTI_AFFINITY: Final = "anti-affinity rules"
"""So end the reasons of InterPodAffinity that hold in the same way; its others do not."""


@dataclass(frozen=True)
class Need:
    """A pending pod: what it asks for, and which offers (by index) would take it when empty.

    `apart` is a name that pods share of which a node takes one, empty for none. With `must_leave`
    no node that is there can ever take it, so that an added one has to.
    """

    pod: str
    requests: Mapping[str, int]
    offers: frozenset[int]
    apart: str
    must_leave: bool


def needs_of(
    objects: Sequence[KubeObject],
    options: RunOptions,
    pods: Sequence[Pod],
    offers: Sequence[Offer],
) -> tuple[Need, ...]:
    """Ask Filter about an empty node of each offer, in the cluster without what pends.

    Raises ConfigError and PluginFailure as a run does.
    """
    standing = [each for each in objects if not isinstance(each, Pod) or each.spec.node_name]
    added = [list(offer.items(1)) for offer in offers]
    run = settled([*standing, *(item for items in added for item in items)], options)
    scheduler = run.simulation.scheduler
    nodes = scheduler.cache.update_snapshot()
    index = {
        item.name: i for i, items in enumerate(added) for item in items if isinstance(item, Node)
    }
    found = []
    for pod in pods:
        framework = scheduler.profiles.get(pod.spec.scheduler_name or DEFAULT_SCHEDULER)
        info = scheduler.cache.columns.templates.info(pod)
        taken, left = set[int](), False
        if framework is not None:
            for name, status in _verdicts(framework, info, nodes):
                if name in index and status.is_success:
                    taken.add(index[name])
                elif name not in index and not _holds(status):
                    left = True
        requests = {**pod_requests(pod).asked, "pods": 1}
        found.append(Need(pod.key, requests, frozenset(taken), _apart(pod), not left))
    return tuple(found)


def _holds(status: Status) -> bool:
    """Return whether a node is rejected whatever nodes are added."""
    if status.plugin == "InterPodAffinity":
        return any(reason.endswith(ANTI_AFFINITY) for reason in status.reasons)
    return status.plugin in OWN_FAULT


def _verdicts(framework: Framework, pod: PodInfo, nodes: Nodes) -> Iterator[tuple[str, Status]]:
    """Yield every node and the status of the first plugin against it, success if none is."""
    state = CycleState()
    pre_filter = framework.run_pre_filter(state, pod, nodes)
    if not pre_filter.status.is_success:
        yield from ((name, pre_filter.status) for name in nodes.names)
        return
    wanted = pre_filter.node_names
    is_left = np.array([wanted is None or name in wanted for name in nodes.names], np.bool_)
    left_out = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (), "".join(pre_filter.narrowed_by))
    left = nodes.take(is_left)
    verdicts = framework.run_filter(state, pod, left)
    statuses = {name: verdicts.status(i) for i, name in enumerate(left.names)}
    yield from ((name, statuses.get(name, left_out)) for name in nodes.names)


def _apart(pod: Pod) -> str:
    """Return a name for pods that keep off each other's nodes: by a host port or anti-affinity."""
    ports = [port for each in pod.spec.containers for port in each.ports if port.host_port]
    if ports:
        return f"port {ports[0].host_port} {ports[0].protocol} {ports[0].host_ip}"
    affinity = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
    terms = affinity.required_during_scheduling_ignored_during_execution if affinity else ()
    for term in terms:
        if term.topology_key == HOSTNAME and label_selector_matches(
            term.label_selector, pod.metadata.labels
        ):
            return f"{pod.namespace}: {sorted(pod.metadata.labels.items())}"
    return ""


def resources_of(needs: Collection[Need]) -> tuple[str, ...]:
    """Return all resources that are asked for, in order of their names."""
    return tuple(sorted({name for need in needs for name, n in need.requests.items() if n}))
