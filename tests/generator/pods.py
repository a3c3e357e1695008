"""Random pods."""

from __future__ import annotations

from typing import Final

from tests.generator.draw import Draw, Json
from tests.generator.nodes import IMAGES
from tests.generator.selectors import (
    NAMESPACES,
    NODE_LABELS,
    node_affinity,
    pod_affinity,
    pod_labels,
    spread_constraints,
)

PRIORITIES: Final = (-10, 0, 0, 0, 0, 10, 10, 100, 1000)
ODD_CPU: Final = ("1u", "100000n", "1e-1", "5E-1", "333333u", "1000000001n", "100001u", "0")
ODD_MEMORY: Final = ("1e6", "128974848", "1.5Gi", "107374182400m", "1k", "1500m", "65537Ki", "0")
DISRUPTED: Final[Json] = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "PreemptionByScheduler",
}


def pending_pod(draw: Draw, name: str, node_names: list[str]) -> Json:
    """Return a pod to schedule."""
    pod = _pod(draw, name, node_names)
    spec, status = pod["spec"], pod["status"]
    status["phase"] = "Pending"
    if draw.has("nominated", 0.4):
        status["nominatedNodeName"] = draw.one([*node_names, "nowhere"])
    if draw.has("gates", 0.2):
        spec["schedulingGates"] = [{"name": f"example.com/g{i}"} for i in range(draw.number(1, 2))]
    if draw.has("profiles", 0.5):
        spec["schedulerName"] = draw.one(("second", "second", "second", "of-somebody-else"))
    if draw.has("nodename", 0.1):
        spec["nodeSelector"] = {"disk": "ssd"}
    return pod


def running_pod(draw: Draw, name: str, node_names: list[str]) -> Json:
    """Return a pod that has a node, now and then one that is not there (any more)."""
    pod = _pod(draw, name, node_names)
    lost = draw.has("lost", 0.05)
    pod["spec"]["nodeName"] = "nowhere" if lost else draw.one(node_names)
    status = pod["status"]
    status["phase"] = "Running"
    if draw.has("terminal", 0.1):
        status["phase"] = draw.one(("Succeeded", "Failed"))
    if not draw.has("unstarted", 0.3):
        minute, second = draw.number(0, 3), draw.one((0, 0, 30))
        status["startTime"] = f"2025-12-31T10:{minute:02}:{second:02}Z"
    if draw.has("terminating", 0.2):
        pod["metadata"]["deletionTimestamp"] = "2025-12-31T23:30:00Z"
        pod["metadata"]["deletionGracePeriodSeconds"] = 30
        if draw.chance(0.6):
            status["conditions"] = [DISRUPTED]
    if draw.has("resize", 0.4):
        _resize(draw, pod)
    return pod


def _pod(draw: Draw, name: str, node_names: list[str]) -> Json:
    namespace = draw.one(NAMESPACES) if draw.has("namespaces", 0.7) else "default"
    metadata: Json = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}"}
    if labels := pod_labels(draw):
        metadata["labels"] = labels
    if draw.has("owners", 0.7):
        metadata["ownerReferences"] = [_owner(draw)]
    spec: Json = {"containers": [_container(draw, f"c{i}") for i in range(draw.one((1, 1, 2)))]}
    if draw.has("init"):
        spec["initContainers"] = [_init(draw, f"i{i}") for i in range(draw.number(1, 3))]
    if draw.has("overhead"):
        spec["overhead"] = {"cpu": "100m", **({"memory": "64Mi"} if draw.chance(0.5) else {})}
    if draw.has("podlevel"):
        spec["resources"] = {"requests": _requests(draw, ("cpu", "memory"))}
    if draw.has("priorities", 0.8):
        spec["priority"] = draw.one(PRIORITIES)
    if draw.has("never", 0.3):
        spec["preemptionPolicy"] = "Never"
    if draw.has("tolerations"):
        spec["tolerations"] = tolerations(draw)
    _placement(draw, spec, node_names)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {},
    }


def _placement(draw: Draw, spec: Json, node_names: list[str]) -> None:
    """Add what ties the pod to nodes or to other pods."""
    affinity: Json = {}
    if draw.has("nodeaffinity"):
        affinity["nodeAffinity"] = node_affinity(draw, node_names)
    if draw.has("podaffinity"):
        affinity |= pod_affinity(draw)
    if affinity:
        spec["affinity"] = affinity
    if draw.has("nodeselector", 0.4):
        key = draw.one(tuple(NODE_LABELS))
        spec["nodeSelector"] = {key: draw.one(NODE_LABELS[key])}
    if draw.has("spread", 0.6):
        spec["topologySpreadConstraints"] = spread_constraints(draw)
    if draw.has("hostnetwork", 0.2):
        spec["hostNetwork"] = True
        if draw.has("declared", 0.3):
            spec["hostUsers"] = False


def _owner(draw: Draw) -> Json:
    kind, version = draw.one(
        (
            ("ReplicaSet", "apps/v1"),
            ("StatefulSet", "apps/v1"),
            ("ReplicationController", "v1"),
        )
    )
    name = draw.one(("web", "db"))
    return {
        "apiVersion": version,
        "kind": kind,
        "name": name,
        "uid": f"{kind}-{name}",
        "controller": True,
    }


def _container(draw: Draw, name: str) -> Json:
    image = draw.one(IMAGES)
    container: Json = {"name": name, "image": image}
    if draw.has("images", 0.1):
        container["image"] = f"{image}@sha256:{'0' * 8}"
    if requests := _requests(draw, ("cpu", "memory", "ephemeral", "gpu", "fpga", "hugepages")):
        container["resources"] = {"requests": requests}
    if draw.has("declared", 0.1):
        codes = {"operator": "In", "values": [42]}
        container["restartPolicyRules"] = [{"action": "RestartAllContainers", "exitCodes": codes}]
    if requests and draw.has("limits"):
        container["resources"]["limits"] = requests
    if draw.has("ports", 0.4):
        container["ports"] = [_port(draw) for _ in range(draw.number(1, 2))]
    return container


def _requests(draw: Draw, resources: tuple[str, ...]) -> Json:
    found: Json = {}
    odd = draw.has("odd", 0.6)
    if "cpu" in resources and draw.chance(0.85):
        found["cpu"] = draw.one(ODD_CPU if odd else ("100m", "250m", "0.5", "1", "1500m", "0"))
    if "memory" in resources and draw.chance(0.8):
        usual = ("64Mi", "256Mi", "1Gi", "500M", "2Gi")
        found["memory"] = draw.one(ODD_MEMORY if odd else usual)
    if "ephemeral" in resources and draw.has("ephemeral", 0.4):
        found["ephemeral-storage"] = draw.one(("1Gi", "20Gi"))
    if "gpu" in resources and draw.has("extended", 0.3):
        found["example.com/gpu"] = str(draw.number(0, 2))
    if "fpga" in resources and draw.has("extended", 0.1):
        found["acme.io/fpga"] = "1"
    if "hugepages" in resources and draw.has("hugepages", 0.3):
        found["hugepages-2Mi"] = "32Mi"
    return found


def _init(draw: Draw, name: str) -> Json:
    container = _container(draw, name)
    if draw.chance(0.5):
        container["restartPolicy"] = "Always"
    return container


def _port(draw: Draw) -> Json:
    port: Json = {"containerPort": 80}
    if draw.chance(0.85):
        port["hostPort"] = draw.one((8080, 8081, 9000))
    if draw.chance(0.4):
        port["protocol"] = draw.one(("TCP", "UDP"))
    if draw.chance(0.4):
        port["hostIP"] = draw.one(("127.0.0.1", "0.0.0.0", "10.0.0.1"))
    return port


def tolerations(draw: Draw) -> list[Json]:
    found = []
    for _ in range(draw.number(1, 3)):
        toleration: Json = {}
        if draw.chance(0.9):
            toleration["key"] = draw.one(("dedicated", "spot", "soft", "level"))
        operator = draw.one(("Exists", "Equal", ""))
        if operator == "Exists" or "key" not in toleration:
            toleration["operator"] = "Exists"
        elif draw.has("comparison", 0.8):
            toleration |= {"operator": draw.one(("Gt", "Lt")), "value": str(draw.number(4, 12))}
        else:
            toleration |= {"operator": operator} if operator else {}
            toleration |= {"value": draw.one(("gpu", "db", "5"))} if draw.chance(0.7) else {}
        if draw.chance(0.6):
            toleration["effect"] = draw.one(("NoSchedule", "PreferNoSchedule", "NoExecute"))
        found.append(toleration)
    return found


def _resize(draw: Draw, pod: Json) -> None:
    """Let a resize of the first container be under way, infeasible, or done in part."""
    status, container = pod["status"], pod["spec"]["containers"][0]
    reported: Json = {"name": container["name"], "image": container["image"], "ready": True}
    if draw.chance(0.7):
        reported["allocatedResources"] = _requests(draw, ("cpu", "memory"))
    if draw.chance(0.6):
        reported["resources"] = {"requests": _requests(draw, ("cpu", "memory"))}
    status["containerStatuses"] = [reported]
    if draw.chance(0.6):
        kind = draw.one(("PodResizePending", "PodResizeInProgress"))
        reason = draw.one(("Infeasible", "Deferred")) if kind == "PodResizePending" else ""
        condition: Json = {"type": kind, "status": "True"}
        status["conditions"] = [condition | ({"reason": reason} if reason else {})]
    if "resources" in pod["spec"] and draw.chance(0.6):
        status["resources"] = {"requests": _requests(draw, ("cpu", "memory"))}
        status["allocatedResources"] = _requests(draw, ("cpu", "memory"))
