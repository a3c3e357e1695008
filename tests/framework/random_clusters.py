"""Random clusters, as kubectl prints them, in which every in-tree plugin has something to say."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import ingest

ZONE, HOST, GPU = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/gpu"
APPS, NAMESPACES = ("a", "b"), ("shop", "other")
CLASSES = {"now": "Immediate", "late": "WaitForFirstConsumer"}
CLAIMS = ("bound-1", "bound-2", "disk-1", "disk-2", "open-now", "open-late", "missing")
DRIVER = "disks.example.com"

Manifest = dict[str, Any]


def read(manifests: Sequence[Manifest]) -> list[KubeObject]:
    """Read manifests as an upload would be, in their order."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)})
    found = ingest([("cluster.json", io.BytesIO(text.encode()))])
    assert not found.errors, found.errors
    return list(found.objects)


def manifest(kind: str, name: str, api: str = "v1", namespace: str = "", **more: Any) -> Manifest:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": metadata | more.pop("metadata", {}),
        **more,
    }


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


# ---------------------------------------------------------------- nodes

taints = st.lists(
    st.builds(
        lambda key, value, effect: {"key": key, "value": value, "effect": effect},
        st.sampled_from(["gpu", "old"]),
        st.sampled_from(["", "yes"]),
        st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
    ),
    max_size=2,
    unique_by=lambda taint: (taint["key"], taint["effect"]),
)


@st.composite
def node_manifests(draw: st.DrawFn, name: str) -> Manifest:
    labels = {HOST: name} | draw(
        st.fixed_dictionaries(
            {},
            optional={
                ZONE: st.sampled_from(["z1", "z2"]),
                "disk": st.sampled_from(["ssd", "hdd"]),
                "size": st.sampled_from(["1", "5", "x"]),
            },
        )
    )
    amounts = {
        "cpu": str(draw(st.integers(1, 8))),
        "memory": f"{draw(st.integers(1, 16))}Gi",
        "pods": str(draw(st.integers(1, 6))),
    }
    gpus = draw(st.integers(0, 2))
    if gpus:
        amounts[GPU] = str(gpus)
    images = draw(st.lists(st.sampled_from(["app:1", "big:1"]), unique=True))
    sizes = {"app:1": 90_000_000, "big:1": 1_400_000_000}
    return manifest(
        "Node",
        name,
        metadata={"labels": labels},
        spec={"taints": draw(taints), "unschedulable": draw(st.integers(0, 9)) == 0},
        status={
            "allocatable": amounts,
            "images": [{"names": [image], "sizeBytes": sizes[image]} for image in images],
        },
    )


# ---------------------------------------------------------------- pods

expressions = st.one_of(
    st.builds(
        lambda operator, values: {"key": "disk", "operator": operator, "values": values},
        st.sampled_from(["In", "NotIn"]),
        st.lists(st.sampled_from(["ssd", "hdd", "tape"]), min_size=1, unique=True),
    ),
    st.builds(
        lambda key, operator: {"key": key, "operator": operator},
        st.sampled_from([ZONE, "disk"]),
        st.sampled_from(["Exists", "DoesNotExist"]),
    ),
    st.builds(
        lambda operator, value: {"key": "size", "operator": operator, "values": [str(value)]},
        st.sampled_from(["Gt", "Lt"]),
        st.integers(0, 6),
    ),
)
node_terms = st.one_of(
    st.builds(
        lambda found: {"matchExpressions": found}, st.lists(expressions, min_size=1, max_size=2)
    ),
    st.builds(
        lambda name: {
            "matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]
        },
        st.sampled_from(["n0", "n1", "nowhere"]),
    ),
)
selectors = st.sampled_from(
    [{"matchLabels": {"app": app}} for app in APPS]
    + [{"matchExpressions": [{"key": "app", "operator": "Exists"}]}]
)
keys = st.sampled_from([ZONE, HOST, "disk"])
pod_terms = st.builds(
    lambda selector, key, everywhere: (
        {"labelSelector": selector, "topologyKey": key}
        | ({"namespaceSelector": {}} if everywhere else {})
    ),
    selectors,
    keys,
    st.booleans(),
)
weights = st.integers(1, 100)
weighted_pod_terms = st.builds(
    lambda weight, term: {"weight": weight, "podAffinityTerm": term}, weights, pod_terms
)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def terms_of(required: Any, preferred: Any) -> Any:
    return st.fixed_dictionaries(
        {}, optional={REQUIRED: required, PREFERRED: st.lists(preferred, min_size=1, max_size=2)}
    )


affinities = st.fixed_dictionaries(
    {},
    optional={
        "nodeAffinity": terms_of(
            st.builds(
                lambda terms: {"nodeSelectorTerms": terms},
                st.lists(node_terms, min_size=1, max_size=2),
            ),
            st.builds(lambda weight, t: {"weight": weight, "preference": t}, weights, node_terms),
        ),
        "podAffinity": terms_of(st.lists(pod_terms, min_size=1, max_size=1), weighted_pod_terms),
        "podAntiAffinity": terms_of(
            st.lists(pod_terms, min_size=1, max_size=1), weighted_pod_terms
        ),
    },
)
constraints = st.builds(
    lambda key, selector, skew, hard, honors: {
        "topologyKey": key,
        "labelSelector": selector,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "nodeTaintsPolicy": "Honor" if honors else "Ignore",
    },
    keys,
    selectors,
    st.integers(1, 2),
    st.booleans(),
    st.booleans(),
)
tolerations = st.lists(
    st.sampled_from(
        [
            {"key": "gpu", "operator": "Exists"},
            {"key": "old", "operator": "Equal", "value": "yes", "effect": "NoSchedule"},
            {"operator": "Exists", "effect": "PreferNoSchedule"},
        ]
    ),
    max_size=2,
)


@st.composite
def containers(draw: st.DrawFn, *, sidecar: bool = False) -> Manifest:
    requests = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "cpu": st.sampled_from(["100m", "1", "2500m", "7"]),
                "memory": st.sampled_from(["100Mi", "2Gi", "9Gi"]),
                GPU: st.sampled_from(["1", "2"]),
            },
        )
    )
    made: Manifest = {
        "name": "s" if sidecar else "c",
        "image": draw(st.sampled_from(["app:1", "big:1"])),
        "resources": {"requests": requests, "limits": requests},
    }
    if sidecar:
        made["restartPolicy"] = draw(st.sampled_from(["Always", "Never"]))
        if made["restartPolicy"] == "Never":
            del made["restartPolicy"]
    elif draw(st.integers(0, 4)) == 0:
        port = draw(st.sampled_from([8080, 9090]))
        made["ports"] = [{"containerPort": port, "hostPort": port}]
    return made


@st.composite
def pod_manifests(draw: st.DrawFn, name: str, node_name: str = "") -> Manifest:
    spec: Manifest = {"containers": [draw(containers())], "priority": draw(st.integers(-1, 2))}
    if draw(st.integers(0, 3)) == 0:
        spec["initContainers"] = [draw(containers(sidecar=True))]
    if draw(st.integers(0, 4)) == 0:
        spec["overhead"] = {"cpu": "250m"}
    for field, strategy in (
        ("affinity", affinities),
        ("tolerations", tolerations),
        ("topologySpreadConstraints", st.lists(constraints, max_size=2, unique_by=_spread_key)),
        ("nodeSelector", st.sampled_from([{"disk": "ssd"}, {ZONE: "z1"}])),
    ):
        if draw(st.integers(0, 2)) == 0:
            spec[field] = draw(strategy)
    claim = draw(optional(st.sampled_from(CLAIMS)))
    if claim and draw(st.booleans()):
        spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    if node_name:
        spec["nodeName"] = node_name
    elif draw(st.integers(0, 9)) == 0:
        spec["schedulingGates"] = [{"name": "later"}]
    app = draw(st.sampled_from(APPS))
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app}
    metadata: Manifest = {"labels": {"app": app}, "uid": name}
    if draw(st.booleans()):
        metadata["ownerReferences"] = [owner | {"controller": True}]
    namespace = draw(st.sampled_from(NAMESPACES))
    return manifest("Pod", name, namespace=namespace, metadata=metadata, spec=spec)


def _spread_key(constraint: Manifest) -> tuple[object, object]:
    return constraint["topologyKey"], constraint["whenUnsatisfiable"]


# ---------------------------------------------------------------- what is around them


def surroundings() -> list[Manifest]:
    """Classes, volumes, claims, services and owners that the pods may refer to."""
    found = [
        manifest(
            "StorageClass",
            name,
            "storage.k8s.io/v1",
            provisioner="kubernetes.io/no-provisioner",
            volumeBindingMode=mode,
        )
        for name, mode in CLASSES.items()
    ]
    found += [_volume("pv-1", "z1", "now", "bound-1"), _volume("pv-2", "z2", "late", "bound-2")]
    found += [_volume(f"pv-{i}", zone, "late") for i, zone in ((3, "z1"), (4, "z2"))]
    for namespace in NAMESPACES:
        found.append(manifest("Namespace", namespace))
        found += [
            _claim("open-now", "now", namespace),
            _claim("open-late", "late", namespace),
            manifest("Service", "a", namespace=namespace, spec={"selector": {"app": "a"}}),
            manifest(
                "ReplicaSet",
                "b",
                "apps/v1",
                namespace=namespace,
                spec={"selector": {"matchLabels": {"app": "b"}}},
            ),
            manifest(
                "PodDisruptionBudget",
                "b",
                "policy/v1",
                namespace=namespace,
                spec={"selector": {"matchLabels": {"app": "b"}}, "minAvailable": 1},
                status={"disruptionsAllowed": 1},
            ),
        ]
    found += [
        _claim("bound-1", "now", "shop", "pv-1"),
        _claim("bound-2", "late", "shop", "pv-2"),
    ]
    for i, mode in ((1, "ReadWriteOnce"), (2, "ReadWriteOncePod")):
        found.append(_disk(f"disk-{i}", mode))
        found.append(_claim(f"disk-{i}", "now", "shop", f"disk-{i}", mode))
    driver = {"name": DRIVER, "nodeID": "x", "topologyKeys": [], "allocatable": {"count": 1}}
    found += [
        manifest("CSINode", f"n{i}", "storage.k8s.io/v1", spec={"drivers": [driver]})
        for i in range(2)
    ]
    return found


def _volume(name: str, zone: str, storage_class: str, claim: str = "") -> Manifest:
    spec: Manifest = {
        "capacity": {"storage": "5Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "local": {"path": "/mnt"},
        "nodeAffinity": {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
                ]
            }
        },
    }
    if claim:
        spec["claimRef"] = {"namespace": "shop", "name": claim}
    return manifest("PersistentVolume", name, spec=spec)


def _disk(name: str, mode: str) -> Manifest:
    spec: Manifest = {
        "capacity": {"storage": "5Gi"},
        "accessModes": [mode],
        "storageClassName": "now",
        "csi": {"driver": DRIVER, "volumeHandle": name},
        "claimRef": {"namespace": "shop", "name": name},
    }
    return manifest("PersistentVolume", name, metadata={"labels": {ZONE: "z1"}}, spec=spec)


def _claim(
    name: str, storage_class: str, namespace: str, volume: str = "", mode: str = "ReadWriteOnce"
) -> Manifest:
    spec: Manifest = {
        "storageClassName": storage_class,
        "accessModes": [mode],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    metadata: Manifest = {}
    if volume:
        spec["volumeName"] = volume
        metadata = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    return manifest(
        "PersistentVolumeClaim", name, namespace=namespace, metadata=metadata, spec=spec
    )


@st.composite
def clusters(draw: st.DrawFn, max_nodes: int = 5, max_pods: int = 7) -> list[Manifest]:
    """Draw nodes, pods on them, pods that wait, and what they refer to."""
    names = [f"n{i}" for i in range(draw(st.integers(1, max_nodes)))]
    nodes = [draw(node_manifests(name)) for name in names]
    placed = [
        draw(pod_manifests(f"old-{i}", draw(st.sampled_from(names))))
        for i in range(draw(st.integers(0, max_pods)))
    ]
    pending = [draw(pod_manifests(f"new-{i}")) for i in range(draw(st.integers(1, max_pods)))]
    return [*surroundings(), *nodes, *placed, *pending]


def with_room(cluster: list[Manifest]) -> list[Manifest]:
    """Leave preferences, take away nearly all that keeps a pod off a node: many are scored."""
    return [
        _HOW_TO_MAKE_ROOM[each["kind"]](each) if each["kind"] in _HOW_TO_MAKE_ROOM else each
        for each in cluster
    ]


def _roomy_node(node: Manifest) -> Manifest:
    taints = [taint | {"effect": "PreferNoSchedule"} for taint in node["spec"]["taints"][:1]]
    status = node["status"]
    larger = {"cpu": status["allocatable"]["cpu"] + "0", "pods": "50", GPU: "8"}
    return node | {
        "spec": {"taints": taints},
        "status": status | {"allocatable": status["allocatable"] | larger},
    }


def _content_pod(pod: Manifest) -> Manifest:
    spec = {key: value for key, value in pod["spec"].items() if key not in _DEMANDS}
    affinity = spec.get("affinity", {})
    spec["affinity"] = {
        kind: {PREFERRED: terms[PREFERRED]}
        for kind, terms in affinity.items()
        if PREFERRED in terms
    }
    constraints = spec.get("topologySpreadConstraints", [])[:1]
    spec["topologySpreadConstraints"] = [
        each | {"whenUnsatisfiable": "ScheduleAnyway"} for each in constraints
    ]
    for container in spec["containers"]:
        container.pop("ports", None)
    return pod | {"spec": spec}


_DEMANDS = ("nodeSelector", "volumes", "schedulingGates")
_HOW_TO_MAKE_ROOM: dict[str, Callable[[Manifest], Manifest]] = {
    "Node": _roomy_node,
    "Pod": _content_pod,
}

IRRELEVANT: list[Manifest] = [
    manifest("Namespace", "far", metadata={"labels": {"app": "a"}}),
    manifest("Service", "a", namespace="far", spec={"selector": {"app": "a"}}),
    manifest("Service", "empty", namespace="shop", spec={"selector": {"app": "nobody"}}),
    manifest(
        "ReplicaSet",
        "a",
        "apps/v1",
        namespace="far",
        spec={"selector": {"matchLabels": {"app": "a"}}},
    ),
    manifest(
        "PodDisruptionBudget",
        "a",
        "policy/v1",
        namespace="far",
        spec={"selector": {}, "minAvailable": 9},
        status={"disruptionsAllowed": 0},
    ),
    manifest(
        "StorageClass",
        "unused",
        "storage.k8s.io/v1",
        provisioner="example.com/none",
        volumeBindingMode="WaitForFirstConsumer",
    ),
    _volume("pv-0", "z1", "unused"),
    _claim("bound-1", "unused", "far"),
    manifest("CSIDriver", "example.com.none", "storage.k8s.io/v1", spec={"attachRequired": True}),
    manifest(
        "CSIStorageCapacity",
        "none",
        "storage.k8s.io/v1",
        namespace="far",
        storageClassName="unused",
        capacity="1Ti",
    ),
    manifest("PriorityClass", "unused", "scheduling.k8s.io/v1", value=1_000_000),
]
"""Objects that no pod of `clusters` has anything to do with, though some bear the same names."""
