"""Steps of scenarios at random, as they stand in a file, over the objects of `surroundings`.

Many of them cannot be carried out, or make no sense: a scenario may say anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.generator.draw import Json
from tests.generator.dumps import manifest

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
NODES = ("n0", "n1", "n2")
PODS = ("p0", "p1", "p2", "p3", "p4", "p5", "old-0", "old-1")
CLAIMS = ("late", "made", "held", "now", "missing")
DRIVER = "gpu.example.com"
LABELS = ("hold", "work", "reserve", "permit", "pre_bind")
"""What a plugin of the tests does to a pod with such a label; nothing without that plugin."""


def surroundings() -> list[Json]:
    """Nodes, pods on them, and all that pods of `pods` refer to: volumes, devices, budgets, ..."""
    return [
        *map(node, NODES),
        *(_storage_class(name) for name in ("late", "made", "now")),
        *(_volume(f"pv-{i}", f"n{i}") for i in range(2)),
        _volume("pv-held", "n0", "held"),
        *(_claim(name) for name in CLAIMS[:-1]),
        _device_class(),
        *map(_slice, NODES[:2]),
        _device_claim("shared"),
        _template(),
        _budget(1),
        manifest("PriorityClass", "urgent", "scheduling.k8s.io/v1", value=1000),
        _replica_set(),
        manifest("CSINode", "n0", "storage.k8s.io/v1", spec=_csi_drivers(1)),
        *map(_running, range(len(NODES))),
    ]


# ---------------------------------------------------------------- objects


def node(name: str, cpu: str = "4") -> Json:
    return manifest(
        "Node",
        name,
        metadata={"labels": {HOST: name, ZONE: f"z-{name}"}},
        status={"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "8"}},
    )


def _running(i: int) -> Json:
    """Return a pod that nearly fills its node, of a priority that any other pod exceeds."""
    owner = {"apiVersion": "v1", "kind": "ReplicaSet", "name": "web", "controller": True}
    spec = {
        "nodeName": NODES[i],
        "priority": -2,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}],
        "terminationGracePeriodSeconds": 1,
    }
    metadata = {"labels": {"app": "web"}, "ownerReferences": [owner]}
    status = {"phase": "Running"}
    return manifest(
        "Pod", f"old-{i}", namespace="default", metadata=metadata, spec=spec, status=status
    )


def _storage_class(name: str) -> Json:
    return manifest(
        "StorageClass",
        name,
        "storage.k8s.io/v1",
        provisioner="disks.example.com" if name == "made" else "kubernetes.io/no-provisioner",
        volumeBindingMode="Immediate" if name == "now" else "WaitForFirstConsumer",
    )


def _volume(name: str, node_name: str, claim: str = "") -> Json:
    match = {"key": HOST, "operator": "In", "values": [node_name]}
    spec: Json = {
        "capacity": {"storage": "5Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "late",
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [match]}]}},
    }
    if claim:
        spec["claimRef"] = {"namespace": "default", "name": claim}
    return manifest("PersistentVolume", name, spec=spec)


def _claim(name: str) -> Json:
    spec: Json = {
        "storageClassName": "late" if name == "held" else name,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    annotations = {}
    if name == "held":
        spec["volumeName"] = "pv-held"
        annotations["pv.kubernetes.io/bind-completed"] = "yes"
    return manifest(
        "PersistentVolumeClaim",
        name,
        namespace="default",
        metadata={"annotations": annotations},
        spec=spec,
    )


def _csi_drivers(count: int) -> Json:
    return {
        "drivers": [{"name": "disks.example.com", "nodeID": "x", "allocatable": {"count": count}}]
    }


def _device_class() -> Json:
    return manifest("DeviceClass", "gpu", "resource.k8s.io/v1", spec={})


def _slice(node_name: str, n_devices: int = 2, generation: int = 1) -> Json:
    pool = {"name": node_name, "generation": generation, "resourceSliceCount": 1}
    devices = [{"name": f"g{i}"} for i in range(n_devices)]
    spec = {"driver": DRIVER, "nodeName": node_name, "pool": pool, "devices": devices}
    return manifest("ResourceSlice", f"slice-{node_name}", "resource.k8s.io/v1", spec=spec)


def _device_requests(count: int = 1) -> Json:
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    return {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}


def _device_claim(name: str, count: int = 1) -> Json:
    return manifest(
        "ResourceClaim",
        name,
        "resource.k8s.io/v1",
        namespace="default",
        spec=_device_requests(count),
    )


def _template() -> Json:
    return manifest(
        "ResourceClaimTemplate",
        "own",
        "resource.k8s.io/v1",
        namespace="default",
        spec={"spec": _device_requests()},
    )


def _budget(allowed: int) -> Json:
    return manifest(
        "PodDisruptionBudget",
        "web",
        "policy/v1",
        namespace="default",
        spec={"selector": {"matchLabels": {"app": "web"}}},
        status={"disruptionsAllowed": allowed},
    )


def _replica_set() -> Json:
    return manifest(
        "ReplicaSet",
        "web",
        "apps/v1",
        namespace="default",
        metadata={
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
            ]
        },
        spec={"selector": {"matchLabels": {"app": "web"}}},
    )


_DEMANDS: tuple[Json, ...] = (
    {},
    {"priorityClassName": "urgent"},
    {"priorityClassName": "unknown"},
    {"preemptionPolicy": "Never"},
    {"schedulingGates": [{"name": "later"}]},
    {"nodeName": "n1"},
    {"nodeName": "gone"},
    {"schedulerName": "another"},
    {"tolerations": [{"operator": "Exists", "tolerationSeconds": 2}]},
    {"nodeSelector": {ZONE: "z-n1"}},
    {
        "topologySpreadConstraints": [
            {
                "topologyKey": ZONE,
                "maxSkew": 1,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ]
    },
    {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}}}
                ]
            }
        }
    },
)
_STORAGE_AND_DEVICES: tuple[Json, ...] = (
    {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]},
    {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "own"}]},
    {"resourceClaims": [{"name": "gpu", "resourceClaimName": "missing"}]},
    *({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": n}}]} for n in CLAIMS),
    {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]},
)
_demands = st.sampled_from(_DEMANDS) | st.sampled_from(_STORAGE_AND_DEVICES)
_OWNERS = ("", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")


@st.composite
def pods(draw: st.DrawFn, name: str) -> Json:
    """Draw a pod with up to two demands on its node, its volumes or its devices."""
    spec: Json = {
        "containers": [
            {"name": "c", "resources": {"requests": {"cpu": draw(st.sampled_from(_CPUS))}}}
        ],
        "terminationGracePeriodSeconds": draw(st.integers(0, 3)),
    }
    if draw(st.booleans()):
        spec["priority"] = draw(st.integers(-1, 2))
    for demand in draw(st.lists(_demands, max_size=2)):
        spec |= demand
    labels = {"app": draw(st.sampled_from(("web", "db")))}
    if label := draw(st.sampled_from(("", "", *LABELS))):
        labels[label] = "yes"
    metadata: Json = {"labels": labels}
    if kind := draw(st.sampled_from(_OWNERS)):
        owner = {"apiVersion": "v1", "kind": kind, "name": "web", "uid": kind, "controller": True}
        metadata["ownerReferences"] = [owner]
    return manifest("Pod", name, namespace="default", metadata=metadata, spec=spec)


_CPUS = ("0", "500m", "1", "3", "9")

# ---------------------------------------------------------------- what steps act on

_NEW: tuple[Json, ...] = (
    node("n1", "1"),
    _slice("n2", 1),
    _slice("n0", 0, 2),
    _device_claim("missing", 3),
    manifest("Namespace", "new"),
    manifest("Service", "web", namespace="default", spec={"selector": {"app": "web"}}),
    manifest("CSIDriver", "disks.example.com", "storage.k8s.io/v1", spec={"attachRequired": True}),
    manifest(
        "CSIStorageCapacity",
        "room",
        "storage.k8s.io/v1",
        namespace="default",
        storageClassName="made",
        capacity="1Gi",
    ),
    manifest(
        "VolumeAttachment",
        "at",
        "storage.k8s.io/v1",
        spec={
            "attacher": "disks.example.com",
            "nodeName": "n0",
            "source": {"persistentVolumeName": "pv-0"},
        },
    ),
    manifest("StatefulSet", "web", "apps/v1", namespace="default", spec={}),
    manifest("ReplicationController", "web", namespace="default", spec={"selector": {"app": "x"}}),
)
_KNOWN = (*surroundings(), *_NEW)
_MERGES: dict[str, tuple[Json, ...]] = {
    "Pod": (
        *({"spec": {"nodeName": name}} for name in (*NODES, "gone")),
        {"spec": {"schedulingGates": []}},
        {"spec": {"schedulingGates": [{"name": "again"}]}},
        {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]}},
        {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "7"}}}]}},
        {"spec": {"priority": 2000}},
        {"spec": {"tolerations": [{"operator": "Exists"}]}},
        {"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "late"}}]}},
        {"spec": {"resourceClaims": None}},
        {"spec": {"schedulerName": "another"}},
        {"metadata": {"labels": {"app": "db"}}},
        {"metadata": {"labels": None, "ownerReferences": None}},
        {"metadata": {"finalizers": ["example.com/hold"]}},
        {"metadata": {"uid": "other"}},
        {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
        *({"status": {"phase": phase}} for phase in ("Running", "Succeeded", "Failed", "Pending")),
        {"status": {"nominatedNodeName": "n2"}},
        {"status": {"nominatedNodeName": None}},
        {"status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "shared"}]}},
        {"status": {"conditions": None, "startTime": None}},
    ),
    "Node": (
        {"status": {"allocatable": {"cpu": "1"}}},
        {"status": {"allocatable": {"cpu": "6", "pods": "0"}}},
        {"status": {"allocatable": None}},
        {"metadata": {"labels": {ZONE: "z-other", "disk": "ssd"}}},
        {"metadata": {"labels": None}},
        {"spec": {"taints": [{"key": "odd", "effect": "NoExecute"}], "unschedulable": True}},
        {"spec": None},
    ),
    "PersistentVolume": (
        {"spec": {"claimRef": {"namespace": "default", "name": "late"}}},
        {"spec": {"claimRef": None}},
        {"spec": {"nodeAffinity": None, "capacity": {"storage": "1"}}},
        {"spec": {"storageClassName": "now"}},
    ),
    "PersistentVolumeClaim": (
        {"spec": {"volumeName": "pv-1"}},
        {"spec": {"volumeName": "nowhere"}},
        {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "n2"}}},
        {"metadata": {"annotations": None}},
        {"spec": {"storageClassName": None, "accessModes": ["ReadWriteOncePod"]}},
        {"status": {"phase": "Lost"}},
    ),
    "StorageClass": ({"volumeBindingMode": "Immediate"}, {"provisioner": "disks.example.com"}),
    "ResourceClaim": (
        {"status": {"allocation": None, "reservedFor": None}},
        {"status": {"reservedFor": [{"resource": "pods", "name": "p0", "uid": "default/p0"}]}},
        {"status": {"allocation": {"devices": {"results": []}}}},
        {"spec": _device_requests(2)},
        {"metadata": {"finalizers": None}},
    ),
    "ResourceSlice": (
        {"spec": {"devices": []}},
        {"spec": {"pool": {"generation": 2}}},
        {"spec": {"pool": {"resourceSliceCount": 2}}},
        {"spec": {"nodeName": None, "allNodes": True}},
        {"spec": {"devices": [{"name": "g0", "taints": [{"key": "x", "effect": "NoExecute"}]}]}},
    ),
    "DeviceClass": (
        {"spec": {"selectors": [{"cel": {"expression": "device.driver == 'none'"}}]}},
        {"spec": {"selectors": [{"cel": {"expression": "1 / 0 == 1"}}]}},
        {"spec": {"extendedResourceName": "example.com/gpu"}},
    ),
    "ResourceClaimTemplate": ({"spec": {"spec": _device_requests(3)}},),
    "PodDisruptionBudget": (
        {"status": {"disruptionsAllowed": 0}},
        {"status": None, "spec": {"selector": None}},
    ),
    "PriorityClass": ({"value": 5}, {"globalDefault": True}),
    "CSINode": ({"spec": _csi_drivers(0)}, {"spec": {"drivers": None}}),
    "ReplicaSet": ({"metadata": {"ownerReferences": None}}, {"spec": {"selector": None}}),
}
_NAMED = tuple(
    (item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])
    for item in _KNOWN
)
_TARGETS = tuple({*_NAMED, ("PersistentVolume", "", "nowhere")})


def steps(pod_names: Sequence[str] = PODS) -> st.SearchStrategy[Json]:
    """Draw one step without its time; half of them are about pods."""
    about_pods = _patches("Pod", pod_names) | _deletes("Pod", pod_names)
    about_pods |= st.sampled_from(pod_names).flatmap(pods).flatmap(_creates)
    targets = st.sampled_from(sorted(_TARGETS))
    others: st.SearchStrategy[Json] = st.one_of(
        (st.sampled_from(_NEW) | st.sampled_from(_KNOWN)).flatmap(_creates),
        targets.flatmap(lambda target: _patches(target[0], [target[2]])),
        targets.flatmap(lambda target: _deletes(target[0], [target[2]])),
        st.builds(
            lambda name, action: {action: name},
            st.sampled_from((*NODES, "gone")),
            st.sampled_from(("cordon", "uncordon", "drain")),
        ),
        st.builds(
            lambda name, key, effect: {"taint": {"node": name, "key": key, "effect": effect}},
            st.sampled_from(NODES),
            st.sampled_from(("odd", "even")),
            st.sampled_from(("NoSchedule", "PreferNoSchedule", "NoExecute")),
        ),
        st.builds(
            lambda name, key: {"untaint": {"node": name, "key": key}},
            st.sampled_from(NODES),
            st.sampled_from(("odd", "even")),
        ),
        st.builds(
            lambda kind, n: {"scale": {"kind": kind, "name": "web", "replicas": n}},
            st.sampled_from(("ReplicaSet", "StatefulSet", "Deployment", "Job", "DaemonSet")),
            st.integers(0, 3),
        ),
    )
    return about_pods | others


def _creates(item: Json) -> st.SearchStrategy[Json]:
    once: Json = {"create": item}
    return st.sampled_from((once, once, {"create": item, "copies": 2}))


def _patches(kind: str, names: Sequence[str]) -> st.SearchStrategy[Json]:
    merges: tuple[Json, ...] = _MERGES.get(kind, ({"metadata": {"labels": {"odd": "yes"}}},))
    return st.builds(
        lambda name, merge: {"patch": {"kind": kind, "name": name, "merge": merge}},
        st.sampled_from(names),
        st.sampled_from(merges),
    )


def _deletes(kind: str, names: Sequence[str]) -> st.SearchStrategy[Json]:
    def delete(name: str, seconds: int | None) -> Json:
        target: dict[str, Any] = {"kind": kind, "name": name}
        return {"delete": target if seconds is None else target | {"gracePeriodSeconds": seconds}}

    return st.builds(delete, st.sampled_from(names), st.sampled_from((None, None, 0, 1, -1)))
