"""The cluster when a cycle of a run begins, as the objects and options of a separate problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from scheduler_core.analysis.model.building import InstanceError
from scheduler_core.api import KubeObject, Pod
from scheduler_core.sim.api_server import bound_to
from scheduler_core.sim.run import Run, RunOptions


class NoSuchCycle(InstanceError):
    """The run has no such cycle; the text says so."""


@dataclass(frozen=True)
class Moment:
    """What there is when a cycle begins; of `options` what is still to come is left.

    Pods that were assumed on a node count as bound there, pods that are leaving as gone.
    """

    objects: list[KubeObject]
    options: RunOptions


def moment_of(objects: Sequence[KubeObject], options: RunOptions, cycle: int) -> Moment:
    """Run the scheduler until a cycle is about to begin. The first is the cluster as it is given.

    Raises NoSuchCycle; ConfigError and PluginFailure as a run does.
    """
    if cycle <= 1:
        return Moment(list(objects), options)
    run = Run(objects, replace(options, details=False))
    if not run.go_to(cycle):
        n = run.simulation.scheduler.n_cycles
        raise NoSuchCycle(f"there is no cycle {cycle:,}: the run has {n:,}")
    steps, later = run.still_to_come
    left = replace(options, scenario=replace(options.scenario, steps=steps), later=later)
    return Moment(list(_standing(run)), left)


def _standing(run: Run) -> Iterator[KubeObject]:
    simulation = run.simulation
    assumed = {pod.key: pod.node_name for pod in simulation.scheduler.cache.assumed_pods()}
    for each in simulation.server.objects():
        if isinstance(each, Pod):
            node = each.spec.node_name or assumed.get(each.key, "")
            if each.metadata.deletion_timestamp is not None and node:
                continue
            if node and not each.spec.node_name:
                each = bound_to(each, node)
        yield each
