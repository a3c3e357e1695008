"""Random clusters with pods that wait, as kubectl prints them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import ingest
from tests.generator.clusters import FEATURES, make_cluster
from tests.generator.draw import Draw, Json

SCORED: Final = (
    *("capacity", "equal", "images", "labelkeys", "limits", "namespaces", "nodeaffinity"),
    *("owners", "podaffinity", "policies", "priorities", "regions", "spread", "tolerations"),
)
"""Features that seldom keep a pod off a node: many nodes are left to score."""


def manifest(kind: str, name: str, api: str = "v1", namespace: str = "", **more: Any) -> Json:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": metadata | more.pop("metadata", {}),
        **more,
    }


def dump(
    seed: object,
    max_nodes: int = 8,
    max_pods: int = 12,
    features: Sequence[str] = FEATURES,
    likelihood: float = 0.3,
) -> list[Json]:
    """Return a cluster in which pods of the names `new-0`, `new-1`, ... wait."""
    draw = Draw(f"dump-{seed}", features, likelihood)
    n_nodes, n_pods = draw.number(2, max_nodes), draw.number(0, max_pods)
    cluster = make_cluster(draw, n_nodes, n_pods, bound_only=True)
    for i in range(draw.number(1, max_pods)):
        pod = cluster.pending(f"new-{i}")
        cluster.objects += [*cluster.take_claims(), pod]
    return cluster.objects


def dumps(max_nodes: int = 5, max_pods: int = 7) -> st.SearchStrategy[list[Json]]:
    """Draw clusters, half of them with little that keeps a pod off a node."""
    return st.builds(
        lambda seed, features: dump(seed, max_nodes, max_pods, *features),
        st.integers(0, 2**32 - 1),
        st.sampled_from([(FEATURES, 0.3), (SCORED, 0.6)]),
    )


def read(manifests: Sequence[Json]) -> list[KubeObject]:
    """Read manifests as an upload would be, in their order."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)})
    found = ingest([("cluster.json", io.BytesIO(text.encode()))])
    assert not found.errors, found.errors
    return list(found.objects)
