"""Plugins that look at one node at a time: what might be is filtered as if it were."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from scheduler_core.api import Pod
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import (
    DEFAULT_RESOURCES,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from scheduler_core.framework.interface import Prepared
from scheduler_core.plugins.image_locality import ImageLocality
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.plugins.node_ports import NodePorts
from scheduler_core.plugins.node_resources import BalancedAllocation, Fit
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.plugins.taint_toleration import TaintToleration
from tests.generator.dumps import dump, read
from tests.plugins.harness import World

FEATURES = (
    *("bare", "cordon", "declared", "extended", "images", "init", "names", "nodeaffinity"),
    *("nodeselector", "odd", "overhead", "podlevel", "ports", "taints", "tight", "tolerations"),
)
WITH_GPU = (*DEFAULT_RESOURCES, ResourceSpec(name="example.com/gpu", weight=3))
CURVE = RequestedToCapacityRatioParam(
    shape=tuple(
        UtilizationShapePoint(utilization=at, score=score)
        for at, score in ((10, 0), (60, 9), (90, 3))
    )
)


def fit(kind: Any, specs: Any = DEFAULT_RESOURCES, curve: Any = None) -> Any:
    strategy = ScoringStrategy(type=kind, resources=specs, requested_to_capacity_ratio=curve)
    return lambda world: Fit(NodeResourcesFitArgs(scoring_strategy=strategy), world)


def balanced(specs: Any) -> Any:
    args = NodeResourcesBalancedAllocationArgs(resources=specs)
    return lambda world: BalancedAllocation(args, world)


PLUGINS = {
    "NodeUnschedulable": lambda world: NodeUnschedulable(),
    "TaintToleration": TaintToleration,
    "NodeAffinity": lambda world: NodeAffinity(NodeAffinityArgs(), world),
    "NodePorts": lambda world: NodePorts(),
    "LeastAllocated": fit("LeastAllocated"),
    "MostAllocated": fit("MostAllocated", WITH_GPU),
    "RequestedToCapacityRatio": fit("RequestedToCapacityRatio", WITH_GPU, CURVE),
    "BalancedAllocation": balanced(DEFAULT_RESOURCES),
    "BalancedAllocation of three": balanced(WITH_GPU),
    "ImageLocality": ImageLocality,
    "NodeDeclaredFeatures": NodeDeclaredFeatures,
}


def prepared(outcome: Any) -> tuple[bool, Any]:
    """Return whether the plugin takes part, and its state."""
    return isinstance(outcome, Prepared), getattr(outcome, "state", None)


def filtered(plugin: Any, pod: PodInfo, nodes: Nodes, everything: Nodes) -> Any:
    """Return codes and reasons of the nodes, None if the plugin takes no part."""
    takes_part, state = hasattr(plugin, "filter"), None
    if hasattr(plugin, "pre_filter"):
        takes_part, state = prepared(plugin.pre_filter(pod, everything))
    if not takes_part:
        return None
    verdict = plugin.filter(state, pod, nodes)
    assert (verdict.code.dtype, verdict.reasons.dtype) == (np.int8, np.uint64)
    assert verdict.code.shape == verdict.reasons.shape == (nodes.n,)
    assert ((verdict.code == 0) == (verdict.reasons == 0)).all()
    return [(int(verdict.code[i]), verdict.texts_at(i)) for i in range(nodes.n)]


def scored(plugin: Any, pod: PodInfo, nodes: Nodes) -> Any:
    """Return raw scores, None if the plugin takes no part."""
    takes_part, state = hasattr(plugin, "score"), None
    if hasattr(plugin, "pre_score"):
        takes_part, state = prepared(plugin.pre_score(None, pod, nodes))
    if not takes_part:
        return None
    scores = plugin.score(state, pod, nodes)
    assert (scores.dtype, scores.shape) == (np.int64, (nodes.n,))
    return scores.tolist()


def answers(world: World, incoming: Pod, nodes: Nodes) -> dict[str, Any]:
    """Return verdicts and raw scores of the nodes, by plugin."""
    pod, everything = world.info(incoming), world.all_nodes()
    plugins = {name: make(world) for name, make in PLUGINS.items()}
    return {
        name: (filtered(plugin, pod, nodes, everything), scored(plugin, pod, nodes))
        for name, plugin in plugins.items()
    }


def placed(pods: Sequence[Pod], node_name: str) -> list[Pod]:
    """Return pods of the same kinds on a node."""
    return [
        replace(
            pod,
            metadata=replace(pod.metadata, name=f"{pod.name}-{node_name}", uid=f"{i}-{node_name}"),
            spec=replace(pod.spec, node_name=node_name),
        )
        for i, pod in enumerate(pods)
    ]


def ports_of(pods: Sequence[Pod]) -> list[int]:
    containers = [
        each for pod in pods for each in (*pod.spec.containers, *pod.spec.init_containers)
    ]
    return [port.host_port for each in containers for port in each.ports if port.host_port]


@given(st.integers(0, 2**32 - 1), st.data())
def test_a_hypothetical_world_is_like_one_in_which_the_pods_are_placed(
    seed: int, data: st.DataObject
) -> None:
    """Take some pods off, put others on: the view must answer as the cluster that came of it.

    No two pods of a node have the same port: upstream gives it back with either.
    """
    objects = read(dump(seed, 5, 8, FEATURES, 0.6))
    pods = [item for item in objects if isinstance(item, Pod)]
    incoming, *kinds = [pod for pod in pods if not pod.spec.node_name]
    world, really = (
        World(*(item for item in objects if not isinstance(item, Pod))) for _ in range(2)
    )
    everything, changes = world.all_nodes(), {}
    for at, name in enumerate(everything.names):
        here, added = list[Pod](), list[Pod]()
        for pods_of_node, candidates in (
            (here, [pod for pod in pods if pod.spec.node_name == name]),
            (added, placed(kinds, name) if data.draw(st.booleans()) else []),
        ):
            for pod in candidates:
                ports = ports_of([*here, *added, pod])
                if len(ports) == len(set(ports)):
                    pods_of_node.append(pod)
        world.add(*here)
        removed = [pod for pod in here if data.draw(st.booleans())]
        changes[at] = Change(tuple(map(world.info, added)), tuple(map(world.info, removed)))
        really.add(*(pod for pod in here if pod not in removed), *added)
    hypothetical = answers(world, incoming, everything.what_if(changes))
    assert hypothetical == answers(really, incoming, really.all_nodes())
