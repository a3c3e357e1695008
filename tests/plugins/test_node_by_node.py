"""What holds for every plugin that looks at one node at a time, over generated clusters."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import Container, ContainerPort, ContainerRestartRule, Node, Pod
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import (
    DEFAULT_RESOURCES,
    DynamicResourcesArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from scheduler_core.framework.interface import Prepared
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.image_locality import ImageLocality
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.plugins.node_name import NodeName
from scheduler_core.plugins.node_ports import NodePorts
from scheduler_core.plugins.node_resources import BalancedAllocation, Fit
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.plugins.taint_toleration import TaintToleration
from tests.builders import container, make_node, make_pod
from tests.plugins.harness import World, affinity, expression, named, taint, term, tolerate

GPU = "example.com/gpu"
RESTART = "RestartAllContainersOnContainerExits"
WITH_GPU = (*DEFAULT_RESOURCES, ResourceSpec(name=GPU, weight=3))
CURVE = RequestedToCapacityRatioParam(
    shape=tuple(
        UtilizationShapePoint(utilization=at, score=score)
        for at, score in ((10, 0), (60, 9), (90, 3))
    )
)


def fit(kind: Any, specs: Any = DEFAULT_RESOURCES, curve: Any = None) -> Any:
    strategy = ScoringStrategy(type=kind, resources=specs, requested_to_capacity_ratio=curve)
    return lambda world: Fit(NodeResourcesFitArgs(scoring_strategy=strategy), world)


PLUGINS = {
    "NodeUnschedulable": lambda world: NodeUnschedulable(),
    "NodeName": lambda world: NodeName(),
    "TaintToleration": TaintToleration,
    "NodeAffinity": lambda world: NodeAffinity(NodeAffinityArgs(), world),
    "NodePorts": lambda world: NodePorts(),
    "LeastAllocated": fit("LeastAllocated"),
    "MostAllocated": fit("MostAllocated", WITH_GPU),
    "RequestedToCapacityRatio": fit("RequestedToCapacityRatio", WITH_GPU, CURVE),
    "BalancedAllocation": lambda world: BalancedAllocation(
        NodeResourcesBalancedAllocationArgs(), world
    ),
    "BalancedAllocation of three": lambda world: BalancedAllocation(
        NodeResourcesBalancedAllocationArgs(resources=WITH_GPU), world
    ),
    "ImageLocality": ImageLocality,
    "NodeDeclaredFeatures": NodeDeclaredFeatures,
    "DynamicResources": lambda world: DynamicResources(DynamicResourcesArgs(), world),
}

# ---------------------------------------------------------------- generated clusters


def some(*choices: Any, most: int = 3) -> st.SearchStrategy[Any]:
    return st.lists(st.sampled_from(choices), max_size=most, unique=True)


TAINTS = [
    taint(t)
    for t in ("a=1:NoSchedule", "b:NoExecute", "a=1:PreferNoSchedule", "c:PreferNoSchedule")
]
TOLERATIONS = [
    tolerate("a", "1"),
    tolerate("b", operator="Exists"),
    tolerate("c", effect="NoSchedule"),
]
TERMS = [
    term(expression("zone", "In", "x", "y")),
    term(expression("zone", "DoesNotExist")),
    term(expression("cores", "Gt", "3"), expression("zone", "NotIn", "x")),
    named("n0"),
    named("n1"),
]
PORTS = [
    ContainerPort(host_port=80),
    ContainerPort(host_port=80, protocol="UDP"),
    ContainerPort(host_port=81, host_ip="10.0.0.1"),
    ContainerPort(host_port=81, host_ip="10.0.0.2"),
]
PORTS_OF_NEW_PODS: list[list[list[ContainerPort]]] = [[], [[]], [[PORTS[0]], []]]
quantities = st.sampled_from(["0", "1", "2", "7"])
optional_requests = st.dictionaries(st.sampled_from(["cpu", "memory", GPU]), quantities)
node_labels = st.fixed_dictionaries(
    {}, optional={"zone": st.sampled_from("xyz"), "cores": st.sampled_from(["2", "4", "many"])}
)


@st.composite
def nodes_of_a_cluster(draw: st.DrawFn) -> list[Node]:
    amounts = st.fixed_dictionaries(
        {}, optional={"cpu": quantities, "memory": quantities, GPU: quantities}
    )
    return [
        make_node(f"n{i}")
        .labels(draw(node_labels))
        .allocatable(draw(amounts))
        .taints(*draw(some(*TAINTS)))
        .cordoned(draw(st.booleans()))
        .images(draw(st.dictionaries(st.sampled_from(["app:latest", "db:1"]), st.just(600 << 20))))
        .features(*draw(some(RESTART)))
        .pods(draw(st.sampled_from(["1", "3", "110"])))
        .obj()
        for i in range(draw(st.integers(1, 5)))
    ]


@st.composite
def pods_of_a_cluster(draw: st.DrawFn, n_nodes: int) -> dict[int, list[Pod]]:
    """Return pods by node, no two of a node with ports in conflict."""
    placed: dict[int, list[Pod]] = {}
    for i in range(n_nodes):
        free = list(PORTS)
        for j in range(draw(st.integers(0, 3))):
            its_ports = draw(some(*free, most=1)) if free else []
            free = [port for port in free if port not in its_ports]
            its_pod = (
                make_pod(f"p{i}-{j}")
                .on(f"n{i}")
                .requests(draw(optional_requests))
                .ports(*its_ports)
                .obj()
            )
            placed.setdefault(i, []).append(its_pod)
    return placed


@st.composite
def incoming_pods(draw: st.DrawFn) -> Pod:
    rules = draw(some(ContainerRestartRule(action="RestartAllContainers")))
    first = container(draw(optional_requests), ports=draw(some(*PORTS)))
    second = container(draw(optional_requests), image="db:1")
    return (
        make_pod("incoming")
        .on(draw(st.sampled_from(["", "n0"])))
        .containers(type(first)(**_fields(first, restart_policy_rules=tuple(rules))), second)
        .tolerations(*draw(some(*TOLERATIONS)))
        .affinity(
            affinity(
                *draw(some(*TERMS)),
                preferred=[
                    (draw(st.integers(0, 100)), preference) for preference in draw(some(*TERMS))
                ],
            )
        )
        .node_selectors(draw(st.sampled_from([{}, {"zone": "x"}])))
        .obj()
    )


def _fields(struct: Container, **changed: Sequence[ContainerRestartRule]) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__} | changed


@st.composite
def clusters(draw: st.DrawFn) -> Any:
    """Return nodes, pods by node position, and a pod to schedule."""
    nodes = draw(nodes_of_a_cluster())
    return nodes, draw(pods_of_a_cluster(len(nodes))), draw(incoming_pods())


def build(nodes: Sequence[Node], placed: Mapping[int, Sequence[Pod]]) -> World:
    return World(*nodes, *(each for pods in placed.values() for each in pods))


# ---------------------------------------------------------------- running one plugin


def filtered(
    plugin: Any, incoming: PodInfo, nodes: Nodes, everything: Nodes
) -> list[tuple[int, tuple[str, ...]]] | None:
    """Return codes and reasons of the nodes, None if the plugin takes no part."""
    if not hasattr(plugin, "filter"):
        return None
    state = None
    if hasattr(plugin, "pre_filter"):
        prepared = plugin.pre_filter(incoming, everything)
        if not isinstance(prepared, Prepared):
            return None
        state = prepared.state
    verdict = plugin.filter(state, incoming, nodes)
    assert verdict.code.dtype == np.int8
    assert verdict.reasons.dtype == np.uint64
    assert verdict.code.shape == verdict.reasons.shape == (nodes.n,)
    assert ((verdict.code == 0) == (verdict.reasons == 0)).all()
    return [(int(verdict.code[i]), verdict.texts_at(i)) for i in range(nodes.n)]


def score(plugin: Any, incoming: PodInfo, nodes: Nodes) -> tuple[list[int], ...] | None:
    """Return raw and normalised scores, None if the plugin takes no part."""
    if not hasattr(plugin, "score"):
        return None
    state = None
    if hasattr(plugin, "pre_score"):
        prepared = plugin.pre_score(None, incoming, nodes)
        if not isinstance(prepared, Prepared):
            return None
        state = prepared.state
    raw = normalized = plugin.score(state, incoming, nodes)
    if hasattr(plugin, "normalize_score"):
        normalized = plugin.normalize_score(state, incoming, nodes, raw)
    for scores in (raw, normalized):
        assert scores.dtype == np.int64
        assert scores.shape == (nodes.n,)
    return raw.tolist(), normalized.tolist()


def answers(world: World, incoming: Pod, nodes: Nodes) -> dict[str, Any]:
    """Return verdicts and raw scores of the nodes, by plugin."""
    info, everything = world.info(incoming), world.all_nodes()
    found = {}
    for name, make in PLUGINS.items():
        plugin = make(world)
        scores = score(plugin, info, nodes)
        found[name] = filtered(plugin, info, nodes, everything), scores and scores[0]
    return found


# ---------------------------------------------------------------- what holds


@given(cluster=clusters(), data=st.data())
def test_a_hypothetical_world_is_like_one_in_which_the_pods_are_placed(
    cluster: tuple[Sequence[Node], Mapping[int, Sequence[Pod]], Pod], data: st.DataObject
) -> None:
    """Take some pods off, put others on: the view must answer as the cluster that came of it."""
    nodes, placed, incoming = cluster
    world = build(nodes, placed)
    changes, kept = {}, {}
    for i in range(len(nodes)):
        pods = placed.get(i, [])
        removed = data.draw(some(*range(len(pods)))) if pods else []
        added = [
            make_pod(f"new{i}-{j}")
            .on(f"n{i}")
            .requests(data.draw(optional_requests))
            .ports(*ports)
            .obj()
            for j, ports in enumerate(data.draw(st.sampled_from(PORTS_OF_NEW_PODS)))
        ]
        changes[i] = Change(
            added=tuple(world.info(each) for each in added),
            removed=tuple(world.info(pods[j]) for j in removed),
        )
        kept[i] = [each for j, each in enumerate(pods) if j not in removed] + added
    everything = world.all_nodes()
    positions = {everything.names.index(f"n{i}"): change for i, change in changes.items()}
    hypothetical = answers(world, incoming, everything.what_if(positions))
    really = build(nodes, kept)
    assert hypothetical == answers(really, incoming, really.all_nodes())
