"""What a reader of a snapshot should know: what was left out, and what does not fit together."""

from collections.abc import Iterator, Mapping, Sequence

from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod

_SHOWN = 3

_NOT_MODELLED_KINDS = (
    "DeviceTaintRule",
    "PodGroup",
    "Workload",
)


def some_of(names: Sequence[str]) -> str:
    """A few names for a message: ``a, b, c and 7 more``."""
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN:,} more"


def counted(count: int, singular: str) -> str:
    """``1 pod``, ``2 pods``."""
    return f"{count:,} {singular}" if count == 1 else f"{count:,} {singular}s"


def cluster_findings(objects: ClusterObjects, ignored: Mapping[str, int]) -> Iterator[str]:
    """Warnings about the objects of an upload, each a sentence."""
    pods = objects.of(Pod)
    nodes = {node.name for node in objects.of(Node)}
    lost = [pod.key for pod in pods if pod.spec.node_name and pod.spec.node_name not in nodes]
    if pods and not nodes:
        yield "There are pods but no nodes: upload `kubectl get nodes -o yaml` as well"
    elif lost:
        yield (
            f"{counted(len(lost), 'pod')} bound to a node that is not in the upload: "
            f"{some_of(lost)}"
        )
    yield from _not_modelled(pods, ignored)


def _not_modelled(pods: Sequence[Pod], ignored: Mapping[str, int]) -> Iterator[str]:
    grouped = [pod.key for pod in pods if pod.spec.scheduling_group is not None]
    if grouped:
        yield (
            f"Not modelled: scheduling groups (gangs) of {counted(len(grouped), 'pod')}: "
            f"{some_of(grouped)}"
        )
    unmodelled = [counted(ignored[kind], kind) for kind in _NOT_MODELLED_KINDS if ignored.get(kind)]
    if unmodelled:
        yield f"Not modelled: {', '.join(unmodelled)}"
