"""Plugin names and how to make each plugin; which extension points a plugin implements.

Upstream: v1.36 pkg/scheduler/framework/plugins/registry.go and framework/runtime/registry.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from scheduler_core.config import ExtensionPoint, JsonValue
from scheduler_core.config.types import (
    Args,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    UnknownArgs,
    VolumeBindingArgs,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.per_node import PerNode, is_per_node
from scheduler_core.plugins.default_binder import DefaultBinder
from scheduler_core.plugins.default_preemption import DefaultPreemption
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.image_locality import ImageLocality
from scheduler_core.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.plugins.node_name import NodeName
from scheduler_core.plugins.node_ports import NodePorts
from scheduler_core.plugins.node_resources import BalancedAllocation, Fit
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from scheduler_core.plugins.priority_sort import PrioritySort
from scheduler_core.plugins.scheduling_gates import SchedulingGates
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.plugins.volume_binding import VolumeBinding
from scheduler_core.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.plugins.volume_zone import VolumeZone

METHOD_OF_POINT: Mapping[ExtensionPoint, str] = {
    ExtensionPoint.PRE_ENQUEUE: "pre_enqueue",
    ExtensionPoint.QUEUE_SORT: "sort_key",
    ExtensionPoint.PRE_FILTER: "pre_filter",
    ExtensionPoint.FILTER: "filter",
    ExtensionPoint.POST_FILTER: "post_filter",
    ExtensionPoint.PRE_SCORE: "pre_score",
    ExtensionPoint.SCORE: "score",
    ExtensionPoint.RESERVE: "reserve",
    ExtensionPoint.PERMIT: "permit",
    ExtensionPoint.PRE_BIND: "pre_bind",
    ExtensionPoint.BIND: "bind",
    ExtensionPoint.POST_BIND: "post_bind",
}

Factory = Callable[[Args | None, Handle], Plugin]
"""`(args, handle) -> plugin`; `args` are the plugin's typed arguments, None if it has none."""


PER_NODE_METHOD_OF_POINT: Mapping[ExtensionPoint, str] = {
    ExtensionPoint.FILTER: "filter_node",
    ExtensionPoint.SCORE: "score_node",
}


def points_of(plugin_type: type) -> frozenset[ExtensionPoint]:
    """Return the extension points a plugin class implements: those whose method it has."""
    return frozenset(
        point
        for methods in (METHOD_OF_POINT, PER_NODE_METHOD_OF_POINT)
        for point, method in methods.items()
        if hasattr(plugin_type, method)
    )


@dataclass(frozen=True, slots=True)
class Registration:
    """`normalizes`: the plugin maps its raw scores itself, in upstream's NormalizeScore."""

    points: frozenset[ExtensionPoint]
    normalizes: bool
    factory: Factory


class RegistryError(ValueError):
    """A plugin name is taken or not there, or a class is no plugin; the message says which."""


class Registry:
    """Plugins by name. Out-of-tree ones are registered beside those in the tree."""

    def __init__(self) -> None:
        self._plugins: dict[str, Registration] = {}

    def register(self, name: str, plugin_type: type, factory: Factory) -> None:
        """Add a plugin. Raises RegistryError if the name is taken."""
        if name in self._plugins:
            raise RegistryError(f"a plugin named {name} already exists")
        self._plugins[name] = Registration(
            points_of(plugin_type), hasattr(plugin_type, "normalize_score"), factory
        )

    def register_out_of_tree(self, name: str, plugin_type: type) -> None:
        """Add somebody else's plugin, written for columns or per node.

        It is made with `(args, handle)`: its arguments as they stand in the configuration, None
        if there are none. Raises RegistryError if the name is taken or the class is no plugin.
        """
        if not points_of(plugin_type):
            raise RegistryError(f"plugin {name} has the method of no extension point")
        own_name = getattr(plugin_type, "name", None)
        if own_name != name:
            raise RegistryError(f"plugin {name} must say so in its attribute name, not {own_name}")
        self.register(name, plugin_type, _as_written(plugin_type))

    def unregister(self, name: str) -> None:
        """Take a plugin out. Raises RegistryError if there is none of that name."""
        if name not in self._plugins:
            raise RegistryError(f"no plugin named {name} exists")
        del self._plugins[name]

    def merge(self, other: Registry) -> None:
        """Add all plugins of another registry, or none. Raises RegistryError if a name is taken."""
        for name in other:
            if name in self._plugins:
                raise RegistryError(f"a plugin named {name} already exists")
        self._plugins.update(other._plugins)

    def __iter__(self) -> Iterator[str]:
        return iter(self._plugins)

    def implements(self) -> Mapping[str, frozenset[ExtensionPoint]]:
        return {name: plugin.points for name, plugin in self._plugins.items()}

    def normalizes(self, name: str) -> bool:
        return self._plugins[name].normalizes

    def make(self, name: str, args: Args | None, handle: Handle) -> Plugin:
        return self._plugins[name].factory(args, handle)


A = TypeVar("A")


def _plain(make: Callable[[], Plugin]) -> Factory:
    return lambda _, __: make()


def _handled(make: Callable[[Handle], Plugin]) -> Factory:
    return lambda _, handle: make(handle)


def _argued(make: Callable[[A, Handle], Plugin], args_type: type[A]) -> Factory:
    """Return a factory that falls back to the default arguments."""
    return lambda args, handle: make(args if isinstance(args, args_type) else args_type(), handle)


def _as_written(plugin_type: type) -> Factory:
    """Return a factory that hands over arguments as they are in the file, and lifts the plugin."""
    make = cast("Callable[[JsonValue, Handle], Plugin]", plugin_type)

    def factory(args: Args | None, handle: Handle) -> Plugin:
        plugin = make(args.value if isinstance(args, UnknownArgs) else None, handle)
        return PerNode(plugin) if is_per_node(plugin_type) else plugin

    return factory


def in_tree_registry() -> Registry:
    """Return the plugins of kube-scheduler v1.36."""
    registry = Registry()
    for plain in (
        SchedulingGates,
        PrioritySort,
        NodeUnschedulable,
        NodeName,
        NodePorts,
    ):
        registry.register(plain.name, plain, _plain(plain))
    for handled in (
        TaintToleration,
        VolumeRestrictions,
        NodeVolumeLimits,
        VolumeZone,
        ImageLocality,
        NodeDeclaredFeatures,
        DefaultBinder,
    ):
        registry.register(handled.name, handled, _handled(handled))
    registry.register(NodeAffinity.name, NodeAffinity, _argued(NodeAffinity, NodeAffinityArgs))
    registry.register(
        DynamicResources.name, DynamicResources, _argued(DynamicResources, DynamicResourcesArgs)
    )
    registry.register(Fit.name, Fit, _argued(Fit, NodeResourcesFitArgs))
    registry.register(
        BalancedAllocation.name,
        BalancedAllocation,
        _argued(BalancedAllocation, NodeResourcesBalancedAllocationArgs),
    )
    registry.register(VolumeBinding.name, VolumeBinding, _argued(VolumeBinding, VolumeBindingArgs))
    registry.register(
        PodTopologySpread.name,
        PodTopologySpread,
        _argued(PodTopologySpread, PodTopologySpreadArgs),
    )
    registry.register(
        InterPodAffinity.name, InterPodAffinity, _argued(InterPodAffinity, InterPodAffinityArgs)
    )
    registry.register(
        DefaultPreemption.name,
        DefaultPreemption,
        _argued(DefaultPreemption, DefaultPreemptionArgs),
    )
    return registry
