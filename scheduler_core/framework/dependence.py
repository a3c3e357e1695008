"""What a plugin's answers depend on, besides the pod's template.

A template is all of a pod but its name (`cluster/pods.py`). The less an answer depends on, the
longer it holds: `memo.py` calls a plugin only about what is new since it was last called.
Upstream has no counterpart: there every plugin is called about every node (docs/adr/0018).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, runtime_checkable

from scheduler_core.api import PodSpec
from scheduler_core.framework.interface import Plugin, implements
from scheduler_core.framework.resource_names import may_be_backed_by_devices


class PreparedFrom(Enum):
    """What PreFilter and PreScore read besides the pod's template."""

    CLUSTER = auto()
    """Anything: other nodes and pods, objects, what the plugin itself remembers."""
    TEMPLATE = auto()
    """Nothing."""
    TEMPLATE_WITHOUT_VOLUMES = auto()
    """Nothing for a pod without volumes; anything for others."""
    TEMPLATE_WITHOUT_DEVICES = auto()
    """Nothing for a pod that can have no devices; anything for others."""

    def is_template(self, spec: PodSpec) -> bool:
        """Return whether the answer about a pod holds for all pods of its template."""
        if self is PreparedFrom.TEMPLATE_WITHOUT_DEVICES:
            return not may_have_devices(spec)
        if self is PreparedFrom.TEMPLATE_WITHOUT_VOLUMES:
            return not spec.volumes
        return self is PreparedFrom.TEMPLATE


class NodeFacts(Enum):
    """What a node's verdict (Filter) and raw score (Score) depend on besides the pod's template."""

    CLUSTER = auto()
    """Anything, other nodes and the pods on them included."""
    NODE = auto()
    """The node object and the pods on that node."""
    RESOURCES = auto()
    """What the node has of resources, what its pods request of them, and how many pods it has."""
    OBJECT = auto()
    """The node object alone; normalised scores then depend on the raw scores alone."""
    OBJECT_AND_IMAGES = auto()
    """As OBJECT, and on how many nodes the node says that its images are."""
    OBJECT_WITHOUT_DEVICES = auto()
    """As OBJECT for a pod that can have no devices; anything for others."""

    def of_pod(self, spec: PodSpec) -> NodeFacts:
        """Return what answers about this pod depend on."""
        if self is NodeFacts.OBJECT_WITHOUT_DEVICES:
            return NodeFacts.CLUSTER if may_have_devices(spec) else NodeFacts.OBJECT
        return self

    @property
    def is_local(self) -> bool:
        """Return whether a verdict stays the same as long as the node and its pods do."""
        return self not in (NodeFacts.CLUSTER, NodeFacts.OBJECT_WITHOUT_DEVICES)


def may_have_devices(spec: PodSpec) -> bool:
    """Return whether a pod claims devices, or requests what a class of devices may back."""
    if spec.resource_claims:
        return True
    containers = (*spec.containers, *spec.init_containers)
    requested = (name for each in containers for name in each.resources.requests)
    return any(map(may_be_backed_by_devices, (*requested, *spec.overhead)))


@dataclass(frozen=True, slots=True)
class DependsOn:
    """One plugin's declaration; as it stands, that nothing can be cached."""

    prepared: PreparedFrom = PreparedFrom.CLUSTER
    per_node: NodeFacts = NodeFacts.CLUSTER


@runtime_checkable
class DeclaringPlugin(Plugin, Protocol):
    """A plugin that says what its answers depend on; all plugins of the tree do."""

    @property
    def depends_on(self) -> DependsOn: ...


def dependence_of(plugin: Plugin) -> DependsOn:
    """Return what a plugin declares; one from outside the tree need not declare anything."""
    return plugin.depends_on if implements(plugin, DeclaringPlugin) else DependsOn()
