"""Objects at random, made from the types that read them: every kind and every field, few at a time.

What an engine would trip over is more likely than elsewhere: names that others bear, amounts and
times at the ends of their range, texts of no use. Most objects are accepted, many refused.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from scheduler_core.api import KINDS, KubeObject
from tests.generator.draw import Json

NAMES: Final = ("n0", "n1", "p0", "new-0", "old-0", "a", "web", "late", "held", "shared", "own")
NAMESPACES: Final = ("default", "shop", "other", "")
LABEL_KEYS: Final = (
    "app",
    "disk",
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "node.kubernetes.io/unschedulable",
    "gpu",
)
RESOURCES: Final = (
    "cpu",
    "memory",
    "pods",
    "ephemeral-storage",
    "storage",
    "hugepages-2Mi",
    "example.com/gpu",
    "attachable-volumes-csi-disks.example.com",
)
QUANTITIES: Final = (
    "0",
    "1",
    "100m",
    "1n",
    "5Gi",
    "1.5",
    "1e3",
    "9223372036854775807",
    "99999999999E",
    "8Ei",
    "1e400",
)
INTEGERS: Final = (0, 1, 2, -1, 30, 100, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
TIMES: Final = (
    "2026-01-01T00:00:00Z",
    "2025-12-31T12:00:00Z",
    "2026-01-01T00:00:00.000000001Z",
    "1700-01-01T00:00:00Z",
    "2200-12-31T23:59:60Z",
    "2025-12-31T23:59:59+14:00",
)
FAR_TIMES: Final = ("2300-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z")
EXPRESSIONS: Final = (
    "true",
    'device.driver == "gpu.example.com"',
    'device.attributes["gpu.example.com"].model == "a"',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) > 0',
    "device",
    "1 / 0 == 1",
    "(",
)
TEXTS: Final = ("", "x", "yes", "é", "名", "a" * 63, "a" * 253, "A b", "1", "..", "a/b")
BY_FIELD: Final[dict[str, tuple[str, ...]]] = {
    "name": NAMES,
    "namespace": NAMESPACES,
    "uid": ("", "new-0", "old-0", "u"),
    "key": LABEL_KEYS,
    "topologyKey": LABEL_KEYS[2:4],
    "operator": ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", ""),
    "values": ("a", "b", "ssd", "z1", "5", "n0", ""),
    "effect": ("NoSchedule", "PreferNoSchedule", "NoExecute", "", "None"),
    "nodeName": ("n0", "n1", "gone", ""),
    "nominatedNodeName": ("n0", "gone", ""),
    "schedulerName": ("default-scheduler", "another", ""),
    "phase": ("Pending", "Running", "Succeeded", "Failed", "Bound", "Released", ""),
    "type": ("Ready", "PodScheduled", "DisruptionTarget"),
    "status": ("True", "False", "Unknown"),
    "whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
    "nodeAffinityPolicy": ("Honor", "Ignore"),
    "nodeTaintsPolicy": ("Honor", "Ignore"),
    "preemptionPolicy": ("Never", "PreemptLowerPriority", ""),
    "priorityClassName": ("urgent", "unknown", "system-node-critical", ""),
    "restartPolicy": ("Always", "Never", "OnFailure", ""),
    "claimName": ("late", "held", "bound-1", "open-late", "disk-2", "missing"),
    "volumeName": ("pv-0", "pv-held", "missing", ""),
    "storageClassName": ("late", "now", "made", "missing", ""),
    "volumeBindingMode": ("Immediate", "WaitForFirstConsumer", ""),
    "provisioner": ("kubernetes.io/no-provisioner", "disks.example.com", ""),
    "accessModes": ("ReadWriteOnce", "ReadWriteOncePod", "ReadOnlyMany"),
    "driver": ("gpu.example.com", "disks.example.com"),
    "deviceClassName": ("gpu", "missing", ""),
    "resourceClaimName": ("shared", "missing", ""),
    "resourceClaimTemplateName": ("own", "missing", ""),
    "allocationMode": ("ExactCount", "All", ""),
    "expression": EXPRESSIONS,
    "matchAttribute": ("gpu.example.com/numa", "numa"),
    "distinctAttribute": ("gpu.example.com/numa",),
    "kind": ("Pod", "ReplicaSet", "StatefulSet", "DaemonSet", "Node", "Job"),
    "matchLabelKeys": LABEL_KEYS,
    "protocol": ("TCP", "UDP", ""),
    "hostIp": ("", "0.0.0.0", "127.0.0.1"),
    "extendedResourceName": ("example.com/gpu", ""),
    "resource": ("pods",),
    "annotations": ("yes", "n0", "kubernetes.io/aws-ebs"),
}
KEYS_BY_FIELD: Final[dict[str, tuple[str, ...]]] = {
    "annotations": (
        "pv.kubernetes.io/bind-completed",
        "volume.kubernetes.io/selected-node",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "volume.beta.kubernetes.io/storage-class",
    ),
    "labels": LABEL_KEYS,
    "matchLabels": LABEL_KEYS,
    "nodeSelector": LABEL_KEYS,
    "selector": LABEL_KEYS,
    "attributes": ("model", "gpu.example.com/numa", "gpu.example.com/model"),
    "capacity": ("storage", "memory", "gpu.example.com/memory"),
}
ALWAYS: Final = frozenset(
    {"name", "containers", "topologyKey", "whenUnsatisfiable", "maxSkew", "claimName", "operator"}
)
"""Fields that are nearly always needed."""
MAX_DEPTH: Final = 9


@st.composite
def objects(draw: st.DrawFn) -> Json:
    """Draw an object of any kind."""
    return draw(objects_of(draw(st.sampled_from(sorted(KINDS)))))


def objects_of(kind: str) -> st.SearchStrategy[Json]:
    """Objects of one kind; a namespace stands in those that have one."""
    cls = KINDS[kind]
    return st.builds(_complete, st.just(cls), _struct(cls, 0), st.sampled_from(NAMESPACES[:3]))


def _complete(cls: type[KubeObject], fields: Json, namespace: str) -> Json:
    metadata = {"name": "a", **fields.get("metadata", {})}
    if cls.namespaced:
        metadata = {"namespace": namespace, **metadata}
    return {"apiVersion": cls.api_version, "kind": cls.kind, **fields, "metadata": metadata}


@st.composite
def _struct(draw: st.DrawFn, cls: type[msgspec.Struct], depth: int) -> Json:
    """Draw up to four fields of a struct beside those that are always needed."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    fields = {field.encode_name: field.type for field in info.fields}
    wanted: list[str] = []
    if fields:
        wanted = draw(st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True))
    if depth == 0:
        wanted += ["spec", "metadata"]
    names = [name for name in fields if name in wanted or name in ALWAYS]
    if depth >= MAX_DEPTH:
        names = [name for name in names if not _is_deep(fields[name])]
    return {name: draw(_value(name, fields[name], depth + 1)) for name in names}


def _is_deep(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(map(_is_deep, kind.types))
    return isinstance(kind, inspect.StructType | inspect.VarTupleType | inspect.DictType)


def _value(field: str, kind: inspect.Type, depth: int) -> st.SearchStrategy[Any]:
    match kind:
        case inspect.StructType(cls=cls):
            return _struct(cls, depth)
        case inspect.UnionType(types=types):
            given = [each for each in types if not isinstance(each, inspect.NoneType)]
            return st.one_of([_value(field, each, depth) for each in given])
        case inspect.Metadata(type=inner, extra=extra):
            quantity = bool(extra and extra.get("quantity"))
            return st.sampled_from(QUANTITIES) if quantity else _value(field, inner, depth)
        case inspect.VarTupleType(item_type=item):
            return st.lists(_value(field, item, depth), min_size=field == "containers", max_size=2)
        case inspect.DictType(value_type=item):
            keys = st.sampled_from(KEYS_BY_FIELD.get(field, RESOURCES))
            return st.dictionaries(keys, _value(field, item, depth), max_size=2)
        case inspect.IntType(ge=lowest, le=highest):
            low, high = -(2**63) if lowest is None else lowest, highest or 2**63 - 1
            return st.sampled_from([n for n in INTEGERS if low <= n <= high])
        case inspect.CustomType():
            return st.sampled_from(TIMES)
        case inspect.BoolType():
            return st.booleans()
        case _:
            usual = st.sampled_from(BY_FIELD.get(field, TEXTS))
            return usual if field in BY_FIELD else usual | st.sampled_from(NAMES)
