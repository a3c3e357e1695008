"""Exports of kube-scheduler-simulator, and the results that it writes on pods.

An export is one object without kind: a list for each of some kinds, and the scheduler's
configuration. The results of a pod's latest attempt are JSON in annotations, node by node.
Upstream: kube-scheduler-simulator `simulator/snapshot`, `simulator/scheduler/plugin/annotation`.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from scheduler_core.api.coerce import Plain
from scheduler_core.api.parse import MALFORMED, TypeName

CONFIGURATION: Final = TypeName("kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration")
SECTIONS: Final[Mapping[str, TypeName]] = {
    "namespaces": TypeName("v1", "Namespace"),
    "nodes": TypeName("v1", "Node"),
    "pods": TypeName("v1", "Pod"),
    "pvs": TypeName("v1", "PersistentVolume"),
    "pvcs": TypeName("v1", "PersistentVolumeClaim"),
    "storageClasses": TypeName("storage.k8s.io/v1", "StorageClass"),
    "priorityClasses": TypeName("scheduling.k8s.io/v1", "PriorityClass"),
}
SCHEDULER_CONFIG: Final = "schedulerConfig"
PREFIX: Final = "kube-scheduler-simulator.sigs.k8s.io/"
PASSED: Final = "passed"
MAX_NODES: Final = 100
"""Of the nodes of one result so many are kept; all are counted."""
MAX_RESULTS: Final = 1_000


class SimulatorResult(msgspec.Struct, frozen=True):
    """What kube-scheduler-simulator wrote about the latest attempt of a pod.

    `rejected` says of a node which plugin rejected it and why, `totals` are its final scores
    added up. `n_attempts` counts those of the recorded history.
    """

    pod: str
    selected_node: str = ""
    n_passed: int = 0
    n_rejected: int = 0
    rejected: dict[str, str] = {}
    totals: dict[str, int] = {}
    n_attempts: int = 1


# ---------------------------------------------------------------- exports


def is_export(keys: Mapping[str, object]) -> bool:
    """Return whether an object of these fields is an export."""
    return "nodes" in keys and "pods" in keys and "kind" not in keys and "apiVersion" not in keys


def opened(export: Mapping[str, object]) -> Iterator[tuple[TypeName, object]]:
    """Yield what an export holds: each object, not read yet, with the name that it goes by."""
    for section, name in SECTIONS.items():
        items = export.get(section)
        for item in items if isinstance(items, list) else ():
            yield name, item
    if export.get(SCHEDULER_CONFIG):
        yield CONFIGURATION, export[SCHEDULER_CONFIG]


# ---------------------------------------------------------------- results


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    annotations: dict[str, str] | None = None


class _Annotated(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_ByNode = dict[str, dict[str, str]]
_JSON: Final = msgspec.json.Decoder(_Annotated)
_BY_NODE: Final = msgspec.json.Decoder(_ByNode)
_HISTORY: Final = msgspec.json.Decoder(list[msgspec.Raw])


def result_of(source: msgspec.Raw | Mapping[str, Plain]) -> SimulatorResult | None:
    """Read what the simulator wrote on a pod; None if it wrote nothing that can be read."""
    try:
        found = (
            _JSON.decode(source)
            if isinstance(source, msgspec.Raw)
            else msgspec.convert(source, _Annotated)
        )
    except (*MALFORMED, RecursionError):
        return None
    metadata = found.metadata
    said = {
        name.removeprefix(PREFIX): text
        for name, text in (metadata.annotations or {}).items()
        if name.startswith(PREFIX)
    }
    if not said:
        return None
    filtered = _by_node(said.get("filter-result", ""))
    rejected = {node: text for node, by in filtered.items() if (text := _rejection(by))}
    return SimulatorResult(
        pod=f"{metadata.namespace or 'default'}/{metadata.name}",
        selected_node=said.get("selected-node", ""),
        n_passed=len(filtered) - len(rejected),
        n_rejected=len(rejected),
        rejected=dict(list(rejected.items())[:MAX_NODES]),
        totals=_totals(_by_node(said.get("finalscore-result", ""))),
        n_attempts=_n_attempts(said.get("result-history", "")),
    )


def _rejection(by_plugin: Mapping[str, str]) -> str:
    """Return the plugin that rejected a node, and its reason; empty if it passed them all."""
    return next(
        (f"{plugin}: {said}" for plugin, said in by_plugin.items() if said != PASSED),
        "",
    )


def _totals(scores: _ByNode) -> dict[str, int]:
    """Return the total score of each node, the highest first."""
    totals = {
        node: sum(int(score) for score in by.values() if score.lstrip("-").isdecimal())
        for node, by in scores.items()
    }
    highest = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return dict(highest[:MAX_NODES])


def _by_node(text: str) -> _ByNode:
    try:
        return _BY_NODE.decode(text) if text else {}
    except (*MALFORMED, RecursionError):
        return {}


def _n_attempts(text: str) -> int:
    try:
        return len(_HISTORY.decode(text)) if text else 1
    except (*MALFORMED, RecursionError):
        return 1
