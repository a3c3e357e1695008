# ruff: noqa: RUF012 - msgspec gives every value its own copy of an empty default
"""Nodes: the fields that the scheduler and the pages read."""

from typing import ClassVar

from scheduler_core.api.meta import ApiStruct, Int64, KubeObject, ResourceList, Timestamp


class Taint(ApiStruct, frozen=True, kw_only=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Timestamp | None = None


class NodeSpec(ApiStruct, frozen=True, kw_only=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeCondition(ApiStruct, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class ContainerImage(ApiStruct, frozen=True, kw_only=True):
    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeSystemInfo(ApiStruct, frozen=True, kw_only=True):
    kubelet_version: str = ""
    architecture: str = ""
    operating_system: str = ""


class NodeStatus(ApiStruct, frozen=True, kw_only=True):
    """Reported state of a node; resource amounts are quantities as text."""

    capacity: ResourceList = {}
    allocatable: ResourceList = {}
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()


class Node(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "Node"
    api_version: ClassVar[str] = "v1"

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
