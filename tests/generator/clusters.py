"""Random clusters: namespaces, workloads, nodes, volumes and pods, in order of creation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tests.generator.devices import Devices
from tests.generator.draw import Draw, Json
from tests.generator.nodes import make_node, node_names
from tests.generator.pods import pending_pod, running_pod
from tests.generator.selectors import NAMESPACES, POD_LABELS
from tests.generator.storage import Claims, csi_objects, storage_classes

FEATURES: Final = (
    *("attachments", "backoff", "bare", "capacity", "comparison", "configured", "cordon"),
    *("declared", "devices", "disks", "disorder", "ephemeral", "equal", "extended", "gates"),
    *("gates-switched", "hostnetwork", "hugepages", "images", "init", "labelkeys", "limits"),
    *("lost", "matching", "migrated", "names", "namespaces", "narrowing", "never"),
    *("nodeaffinity", "nodename", "nodeselector", "nominated", "nozone", "odd", "overhead"),
    *("owners", "pdb", "podaffinity", "podlevel", "policies", "ports", "priorities"),
    *("profiles", "reach", "regions", "resize", "rwop", "spread", "taints", "terminal"),
    *("terminating", "tight", "tolerations", "unstarted", "volumes", "zonelabels"),
)


@dataclass
class Cluster:
    """A cluster in the making; `objects` are in order of creation."""

    draw: Draw
    node_names: list[str]
    claims: Claims
    devices: Devices
    objects: list[Json] = field(default_factory=list)
    made: list[Json] = field(default_factory=list)
    """What events have created."""

    def objects_gone(self, node: Json) -> None:
        """Forget a node's name, unless it is the last one."""
        if len(self.node_names) > 1 and node["metadata"]["name"] in self.node_names:
            self.node_names.remove(node["metadata"]["name"])

    def running(self, name: str) -> Json:
        return self._with_claims(running_pod(self.draw, name, self.node_names))

    def pending(self, name: str) -> Json:
        pod = self._with_claims(pending_pod(self.draw, name, self.node_names))
        if self.draw.has("devices", 0.8):
            self.devices.give_to(pod)
        return pod

    def _with_claims(self, pod: Json) -> Json:
        if self.draw.has("volumes", 0.5):
            self.claims.give_to(pod)
        return pod

    def take_claims(self) -> list[Json]:
        """Return the volumes and claims that pods have asked for since the last call."""
        taken = [*self.claims.objects, *self.devices.claims]
        self.claims.objects.clear()
        self.devices.claims.clear()
        return taken


def make_cluster(draw: Draw, n_nodes: int, n_pods: int, *, bound_only: bool) -> Cluster:
    """`bound_only`: no claim is left unbound, as no volume controller plays along."""
    names = node_names(draw, n_nodes)
    claims = Claims(draw, names, bound_only=bound_only)
    cluster = Cluster(draw, names, claims, Devices(draw, names))
    cluster.objects += [*_namespaces(), *_workloads(draw)]
    if "volumes" in draw.features:
        cluster.objects += [*storage_classes(), *csi_objects(draw, names)]
    cluster.objects += [make_node(draw, name) for name in names]
    if "devices" in draw.features:
        cluster.objects += cluster.devices.inventory()
    template = cluster.running("template") if names and "equal" in draw.features else None
    for i in range(n_pods if names else 0):
        pod = _pod(cluster, f"p{i:03}", template)
        cluster.objects += [*cluster.take_claims(), pod]
    return cluster


def _pod(cluster: Cluster, name: str, template: Json | None) -> Json:
    """Return a pod like all others, one of its own kind, or one that waits."""
    draw = cluster.draw
    if draw.has("nominated", 0.2) or draw.has("waiting", 0.2):
        return cluster.pending(name)
    if template is None or draw.chance(0.2):
        return cluster.running(name)
    namespace = template["metadata"]["namespace"]
    metadata = {**template["metadata"], "name": name, "uid": f"{namespace}/{name}"}
    node_name = draw.one(cluster.node_names[:2])
    return {**template, "metadata": metadata, "spec": {**template["spec"], "nodeName": node_name}}


def _namespaces() -> list[Json]:
    labels = {
        "default": {"env": "prod"},
        "team-a": {"env": "prod", "team": "a"},
        "team-b": {"env": "dev", "team": "b"},
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": name,
                "labels": {"kubernetes.io/metadata.name": name, **labels[name]},
            },
        }
        for name in NAMESPACES
    ]


def _workloads(draw: Draw) -> list[Json]:
    """Return disruption budgets, and what the default spreading looks at."""
    found: list[Json] = []
    if "pdb" in draw.features:
        found += [_budget(draw, i) for i in range(draw.number(1, 3))]
    if "owners" in draw.features:
        app = {"app": draw.one(POD_LABELS["app"])}
        service: Json = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": draw.one(NAMESPACES)},
            "spec": {"selector": app if draw.chance(0.9) else None},
        }
        found.append(service)
        for kind, version in (("ReplicaSet", "apps/v1"), ("StatefulSet", "apps/v1")):
            found += [
                {
                    "apiVersion": version,
                    "kind": kind,
                    "metadata": {"name": "web", "namespace": namespace},
                    "spec": {"selector": {"matchLabels": {"tier": draw.one(("fe", "be"))}}},
                }
                for namespace in draw.some(NAMESPACES)
            ]
        found.append(
            {
                "apiVersion": "v1",
                "kind": "ReplicationController",
                "metadata": {"name": "db", "namespace": "default"},
                "spec": {"selector": app},
            }
        )
    return found


def _budget(draw: Draw, i: int) -> Json:
    selector: Json | None = {"matchLabels": {"app": draw.one(POD_LABELS["app"])}}
    if draw.chance(0.15):
        selector = draw.one(({}, None))
    status: Json = {"disruptionsAllowed": draw.number(0, 2)}
    if draw.chance(0.2):
        status["disruptedPods"] = {"p000": "2025-12-31T22:00:00Z"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"budget{i}", "namespace": draw.one(NAMESPACES)},
        "spec": {"selector": selector},
        "status": status,
    }
