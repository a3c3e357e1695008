"""Random documents in the format of the recordings, without what the scheduler made of them."""

from __future__ import annotations

from typing import Final

from tests.generator.clusters import FEATURES, Cluster, make_cluster
from tests.generator.configurations import configuration, feature_gates
from tests.generator.draw import Draw, Json
from tests.generator.events import next_events

FORMAT_VERSION: Final = 1


def cycle_document(seed: int) -> Json:
    """Return a cluster and one pod to schedule."""
    draw = Draw(f"cycle-{seed}", (*FEATURES, "candidates", "conditions"))
    n_nodes = draw.one((1, 2, 3, 4, 5, 6, 8, 12, 20))
    n_pods = draw.number(0, n_nodes * draw.one((2, 5, 9)))
    cluster = make_cluster(draw, n_nodes, n_pods, bound_only=False)
    pod = cluster.pending("incoming")
    if draw.chance(0.5):
        pod["spec"]["priority"] = draw.one((10, 100, 2000))
    cluster.objects += cluster.take_claims()
    given = _input(draw, cluster) | {"pod": pod}
    return _document("cycle", seed, draw, given)


def sequence_document(seed: int) -> Json:
    """Return a cluster and what happens to it."""
    draw = Draw(f"sequence-{seed}", (*FEATURES, "batching", "sampling", "unbound", "waiting"))
    many = "sampling" in draw.features and draw.chance(0.4)
    n_nodes = draw.one((99, 100, 101, 130)) if many else draw.one((0, 1, 2, 3, 4, 6, 9))
    n_pods = draw.number(0, min(20, 3 * n_nodes))
    cluster = make_cluster(draw, n_nodes, n_pods, bound_only="unbound" not in draw.features)
    given = _input(draw, cluster)
    events: list[Json] = []
    for i in range(draw.number(5, 40)):
        events += next_events(cluster, i)
    given["events"] = events
    if "sampling" in draw.features:
        given["sampling"] = "configured"
    return _document("sequence", seed, draw, given)


def _input(draw: Draw, cluster: Cluster) -> Json:
    given: Json = {"objects": cluster.objects}
    if (config := configuration(draw)) is not None:
        given["config"] = config
    if gates := feature_gates(draw):
        given["featureGates"] = gates
    return given


def _document(mode: str, seed: int, draw: Draw, given: Json) -> Json:
    return {
        "formatVersion": FORMAT_VERSION,
        "name": f"{mode}-{seed}",
        "mode": mode,
        "tags": sorted(draw.features),
        "input": given,
        "expected": {},
    }
