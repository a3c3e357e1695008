"""Random nodes."""

from __future__ import annotations

from typing import Final

from tests.generator.draw import Draw, Json
from tests.generator.selectors import HOSTNAME, NODE_LABELS, REGION, ZONE

IMAGES: Final = (
    "registry.example/app:v1",
    "registry.example/base",
    "registry.example/big:v2",
    "registry:5000/team/tool",
)
ODD_CPU: Final = ("1999m", "2e0", "3500000u", "2500000001n", "1.25", "0.75e1", "3999999u")
ODD_MEMORY: Final = ("3e9", "4194304Ki", "5368709119500m", "2.5Gi", "4294967297", "3543348019200m")
DECLARED: Final = (
    "GuaranteedQoSPodCPUResize",
    "InPlacePodLevelResourcesVerticalScaling",
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
)
MIB: Final = 1024 * 1024

TAINTS: Final[tuple[Json, ...]] = (
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "db", "effect": "NoSchedule"},
    {"key": "spot", "effect": "NoExecute"},
    {"key": "soft", "effect": "PreferNoSchedule"},
    {"key": "soft", "value": "very", "effect": "PreferNoSchedule"},
    {"key": "level", "value": "5", "effect": "NoSchedule"},
    {"key": "level", "value": "11", "effect": "PreferNoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
)


def node_names(draw: Draw, n_nodes: int) -> list[str]:
    """Return names that are not in the order of the alphabet when there is room for disorder."""
    width = len(str(n_nodes))
    names = [f"node-{i:0{width}}" for i in range(n_nodes)]
    return draw.shuffled(names) if draw.has("disorder", 1) else names


def make_node(draw: Draw, name: str) -> Json:
    allocatable = _allocatable(draw)
    status: Json = {"allocatable": allocatable, "capacity": allocatable}
    if draw.has("images", 0.7):
        status["images"] = images(draw)
    if draw.has("declared"):
        status["declaredFeatures"] = draw.some(DECLARED)
    spec: Json = {}
    if draw.has("taints", 0.4):
        spec["taints"] = taints(draw)
    if draw.has("cordon", 0.2):
        spec["unschedulable"] = True
    metadata = {"name": name, "labels": node_labels(draw, name)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def node_labels(draw: Draw, name: str) -> Json:
    labels: Json = {
        key: draw.one(values) for key, values in NODE_LABELS.items() if draw.chance(0.6)
    }
    if not draw.has("nozone", 0.1):
        labels[HOSTNAME] = name
    if not draw.has("nozone", 0.3):
        labels[ZONE] = draw.one(("zone-a", "zone-a", "zone-b", "zone-c"))
    if draw.has("regions"):
        labels[REGION] = draw.one(("r1", "r2"))
    if draw.has("regions", 0.3):
        labels["failure-domain.beta.kubernetes.io/zone"] = draw.one(("zone-a", "zone-x"))
    if draw.chance(0.5):
        labels["rack"] = draw.one(("r0", "r1"))
    return labels


def taints(draw: Draw) -> list[Json]:
    found = {(t["key"], t["effect"]): t for t in draw.some(draw.shuffled(TAINTS), 1, 2)}
    return list(found.values())


def images(draw: Draw) -> list[Json]:
    return [
        {
            "names": [f"{image}@sha256:{'0' * 8}", _tagged(image)],
            "sizeBytes": draw.one((1, 20, 23, 100, 400, 999, 1500)) * MIB + draw.number(0, 999),
        }
        for image in draw.some(IMAGES, 1)
    ]


def _tagged(image: str) -> str:
    return image if ":" in image.rpartition("/")[2] else f"{image}:latest"


def _allocatable(draw: Draw) -> Json:
    if draw.has("bare", 0.15):
        return draw.one(({}, {"cpu": "4"}, {"cpu": "4", "memory": "8Gi"}, {"pods": "9"}))
    small = "tight" in draw.features
    found: Json = {
        "cpu": draw.one(("1", "2", "1500m") if small else ("2", "4", "8", "3900m")),
        "memory": draw.one(("2Gi", "3Gi", "2500M") if small else ("4Gi", "8Gi", "15Gi")),
        "pods": str(draw.one((2, 4, 110) if small else (110, 110, 8))),
    }
    if draw.has("odd", 0.6):
        found |= {"cpu": draw.one(ODD_CPU), "memory": draw.one(ODD_MEMORY)}
    if draw.has("ephemeral", 0.8):
        found["ephemeral-storage"] = draw.one(("10Gi", "50Gi"))
    if draw.has("extended", 0.6):
        found["example.com/gpu"] = str(draw.number(0, 4))
    if draw.has("extended", 0.3):
        found["acme.io/fpga"] = str(draw.number(1, 2))
    if draw.has("hugepages", 0.6):
        found["hugepages-2Mi"] = draw.one(("64Mi", "128Mi"))
    return found
