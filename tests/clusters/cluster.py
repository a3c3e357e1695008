"""A small cluster as an API server has it, and kubeconfigs that lead to it."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from kviz.clusters.reading.credentials import FixedToken
from kviz.clusters.reading.targets import Target
from scheduler_core.extender.transport import TLSSettings
from tests.clusters.api_server import DATA, TOKEN, ApiServer, Json, compact


def node(name: str) -> Json:
    return {
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name},
            "managedFields": [{"manager": "kubelet", "operation": "Update"}],
        },
        "spec": {},
        "status": {
            "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, *, node_name: str = "", cpu: str = "1", namespace: str = "shop") -> Json:
    container = {
        "name": "app",
        "image": "registry.example/app:1",
        "resources": {"requests": {"cpu": cpu}},
        "env": [{"name": "PASSWORD", "value": "correct-horse-battery"}],
    }
    spec: Json = {"containers": [container], "schedulerName": "default-scheduler"}
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-of-{name}"},
        "spec": spec | ({"nodeName": node_name} if node_name else {}),
        "status": {"phase": "Running" if node_name else "Pending"},
    }


def small_cluster() -> dict[str, list[Json]]:
    """Two nodes, a bound pod, and one that waits as it wants more CPU than there is."""
    return {
        "namespaces": [{"metadata": {"name": "shop"}}],
        "nodes": [node("n1"), node("n2")],
        "pods": [pod("web-0", node_name="n1"), pod("big-0", cpu="8")],
    }


def target_at(server: ApiServer, token: str = TOKEN) -> Target:
    return Target(
        name="test",
        server=server.url,
        namespace="shop",
        tls=TLSSettings(ca_data=(DATA / "ca.crt").read_bytes()),
        bearer=FixedToken(token),
    )


def kubeconfig(
    server: str,
    *,
    user: Json | None = None,
    cluster: Json | None = None,
    **changes: object,
) -> Json:
    """A kubeconfig with the one context `prod`; `user` and `cluster` replace what is in theirs."""
    authority = b64encode((DATA / "ca.crt").read_bytes()).decode()
    trusted = {"certificate-authority-data": authority} if cluster is None else cluster
    context = {"cluster": "c", "user": "u", "namespace": "shop"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "prod",
        "contexts": [{"name": "prod", "context": context}],
        "clusters": [{"name": "c", "cluster": {"server": server} | trusted}],
        "users": [{"name": "u", "user": {"token": TOKEN} if user is None else user}],
    } | changes


def written(folder: Path, config: Json, name: str = "config") -> Path:
    path = folder / name
    path.write_text(compact(config))
    return path
