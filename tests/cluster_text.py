"""Nodes and pods as the text of a file: what commands read, and what is uploaded.

node("a", "4", "8Gi", labels={"pool": "general"}) + pod("web", "1", namespace="shop")
"""

from __future__ import annotations

import json
from typing import Any


def node(
    name: str,
    cpu: str,
    memory: str = "",
    pods: str = "",
    *,
    labels: dict[str, str] | None = None,
    info: dict[str, str] | None = None,
    **spec: Any,
) -> str:
    """One node as a YAML document; other fields are those of its spec."""
    metadata = {"name": name} | ({"labels": labels} if labels else {})
    amounts = {"cpu": cpu, "memory": memory, "pods": pods}
    status: dict[str, Any] = {"allocatable": {key: text for key, text in amounts.items() if text}}
    return _document("Node", metadata, spec, status | ({"nodeInfo": info} if info else {}))


def pod(
    name: str,
    cpu: str,
    memory: str = "",
    *,
    namespace: str = "",
    uid: str = "",
    owner: tuple[str, str] | None = None,
    labels: dict[str, str] | None = None,
    phase: str = "",
    **spec: Any,
) -> str:
    """One pod as a YAML document; `owner` is kind and name, other fields are those of its spec."""
    given = {"name": name, "namespace": namespace, "uid": uid, "labels": labels}
    metadata: dict[str, Any] = {key: value for key, value in given.items() if value}
    if owner:
        kind, of = owner
        metadata["ownerReferences"] = [{"kind": kind, "name": of, "controller": True}]
    requests = {"cpu": cpu} | ({"memory": memory} if memory else {})
    container = {"name": "c", "resources": {"requests": requests}}
    status = {"phase": phase} if phase else {}
    return _document("Pod", metadata, {"containers": [container], **spec}, status)


def _document(kind: str, metadata: object, spec: object, status: object) -> str:
    whole = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status}
    return f"---\n{json.dumps({key: part for key, part in whole.items() if part})}\n"
