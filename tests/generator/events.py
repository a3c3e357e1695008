"""Random events of a sequence: what users, nodes and other controllers do meanwhile."""

from __future__ import annotations

from tests.generator.clusters import Cluster
from tests.generator.draw import Draw, Json
from tests.generator.nodes import DECLARED, images, make_node, node_labels, taints
from tests.generator.patches import object_patch
from tests.generator.pods import tolerations
from tests.generator.selectors import POD_LABELS, ZONE, pod_labels


def next_events(cluster: Cluster, i: int) -> list[Json]:
    """Return one event, with the claims before it that a new pod refers to."""
    draw = cluster.draw
    kind = draw.one(
        (
            *("pod", "pod", "pod", "pod", "advance", "advance", "delete", "delete"),
            *("node", "node-update", "node-update", "node-delete", "pod-update", "pod-update"),
            *("objects",),
        )
    )
    match kind:
        case "pod":
            return _new_pods(cluster, i)
        case "advance":
            return [{"op": "advance", "seconds": draw.one((1, 1, 2, 3, 5, 10, 60, 330))}]
        case "delete" if pod := _some(cluster, "Pod"):
            return [{"op": "delete", "object": _name(pod)}]
        case "node":
            name = f"late-{i}"
            cluster.node_names.append(name)
            return [_create(cluster, make_node(draw, name))]
        case "node-update" if node := _some(cluster, "Node"):
            return [_update(draw, node, _node_patch(draw, node))]
        case "node-delete" if draw.chance(0.4) and (node := _some(cluster, "Node")):
            cluster.objects_gone(node)
            return [{"op": "delete", "object": _name(node)}]
        case "pod-update" if pod := _some(cluster, "Pod"):
            return [_update(draw, pod, _pod_patch(draw, pod))]
        case "objects":
            return _other(cluster)
    return []


def _create(cluster: Cluster, item: Json) -> Json:
    cluster.made.append(item)
    return {"op": "create", "object": item}


def _some(cluster: Cluster, kind: str) -> Json | None:
    known = [item for item in (*cluster.objects, *cluster.made) if item["kind"] == kind]
    return cluster.draw.one(known) if known else None


def _name(item: Json) -> Json:
    metadata = {k: v for k, v in item["metadata"].items() if k in ("name", "namespace")}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata}


def _update(draw: Draw, item: Json, patch: Json) -> Json:
    event: Json = {"op": "update", "object": _name(item), "patch": patch}
    return event | ({"maxAttempts": draw.number(0, 1)} if draw.chance(0.1) else {})


def _new_pods(cluster: Cluster, i: int) -> list[Json]:
    """Return up to four pods of one kind, or one that is running already."""
    draw = cluster.draw
    if cluster.node_names and draw.chance(0.1):
        pod = cluster.running(f"bound-{i}")
        pod["spec"].setdefault("priority", 0)
        claims = [_create(cluster, claim) for claim in cluster.take_claims()]
        return [*claims, _create(cluster, pod)]
    first = cluster.pending(f"pod-{i}")
    events = [_create(cluster, claim) for claim in cluster.take_claims()]
    if draw.chance(0.1):
        events.reverse()
    for k in range(draw.one((1, 1, 2, 4))):
        namespace, name = first["metadata"]["namespace"], f"pod-{i}-{k}"
        metadata = {**first["metadata"], "name": name, "uid": f"{namespace}/{name}"}
        events.append(_create(cluster, {**first, "metadata": metadata}))
        if draw.chance(0.3):
            events[-1]["maxAttempts"] = 0
    return events


def _node_patch(draw: Draw, node: Json) -> Json:
    name = node["metadata"]["name"]
    labels = node_labels(draw, name)
    zone = draw.one(("zone-a", "zone-b", "zone-c", None))
    allocatable = {"cpu": draw.one(("1", "2", "4", "6")), "memory": draw.one(("2Gi", "6Gi"))}
    return draw.one(
        (
            {"status": {"allocatable": allocatable}},
            {"status": {"allocatable": {"pods": draw.one(("2", "20"))}}},
            {"spec": {"unschedulable": draw.one((True, None))}},
            {"spec": {"taints": taints(draw) if draw.chance(0.5) else None}},
            {"metadata": {"labels": {ZONE: zone}}},
            {"metadata": {"labels": labels}},
            {"metadata": {"labels": {"disk": draw.one(("ssd", "hdd", None))}}},
            {"status": {"images": images(draw)}},
            {"status": {"allocatable": {"example.com/gpu": draw.one(("0", "2", None))}}},
            {"status": {"declaredFeatures": draw.some(DECLARED)}},
            {"status": {"conditions": [{"type": "Ready", "status": draw.one(("True", "False"))}]}},
            {"metadata": {"annotations": {"note": str(draw.number(1, 9))}}},
        )
    )


def _pod_patch(draw: Draw, pod: Json) -> Json:
    container = pod["spec"]["containers"][0]
    requests = {"cpu": draw.one(("50m", "200m", "2")), "memory": draw.one(("32Mi", "1Gi"))}
    resized = {**container, "resources": {"requests": requests}}
    others = pod["spec"]["containers"][1:]
    gates = pod["spec"].get("schedulingGates") or []
    return draw.one(
        (
            {"metadata": {"labels": pod_labels(draw)}},
            {"metadata": {"labels": {"app": draw.one((*POD_LABELS["app"], None))}}},
            {"metadata": {"annotations": {"note": str(draw.number(1, 9))}}},
            {"spec": {"tolerations": [*pod["spec"].get("tolerations", ()), *tolerations(draw)]}},
            {"spec": {"containers": [resized, *others]}},
            {"spec": {"schedulingGates": gates[1:] or None}},
            {"status": {"phase": draw.one(("Succeeded", "Failed", "Running"))}},
            {"status": {"nominatedNodeName": None}},
            {"metadata": {"deletionTimestamp": "2026-01-01T00:10:00Z"}},
        )
    )


def _other(cluster: Cluster) -> list[Json]:
    """Return a change to something that is neither a pod nor a node."""
    draw = cluster.draw
    kind = draw.one(
        (
            *("CSINode", "PersistentVolumeClaim", "PersistentVolume", "ResourceClaim"),
            *("ResourceSlice", "DeviceClass", "PodDisruptionBudget", "Service", "StorageClass"),
            *("Namespace", "ResourceClaim", "ResourceClaim", "CSIStorageCapacity"),
            *("VolumeAttachment", "ReplicaSet", "ResourceSlice"),
        )
    )
    item = _some(cluster, kind)
    if item is None:
        return []
    if kind != "Namespace" and draw.chance(0.25):
        return [{"op": "delete", "object": _name(item)}]
    seen = {"metadata": {"labels": {"seen": str(draw.number(1, 9))}}}
    return [_update(draw, item, object_patch(draw, item) if draw.chance(0.8) else seen)]
