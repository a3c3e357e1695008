"""Workloads of which a file has no pod, and pods that are no workload: a chart's hooks.

kviz models no controller and makes no pods, so it says so if it gets only a Deployment.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from scheduler_core.api.coerce import Plain
from scheduler_core.api.parse import MALFORMED
from scheduler_core.api.pod import Pod
from scheduler_core.wording import say
from scheduler_core.yaml_text import NotYaml, value

WATCHED: Final = frozenset(
    (
        *("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet"),
        *("Job", "CronJob", "Rollout"),
    )
)
_WITHOUT_NUMBER: Final = ("DaemonSet", "Job", "CronJob")
HOOK: Final = "helm.sh/hook"
ABOUT_WORKLOADS: Final = (
    "note.without_pods",
    "note.more_without_pods",
    "note.hook_pod",
    "note.hook_workload",
)
"""Ids of the sentences below."""
_SHOWN: Final = 5


class Workload(NamedTuple):
    """Something that makes pods; `replicas` is None where their number is not in it."""

    kind: str
    namespace: str
    name: str
    replicas: int | None
    labels: Mapping[str, str]
    hook: str = ""
    """Which hook of a chart it is, such as `pre-install`; empty for others."""

    @property
    def called(self) -> str:
        """Return how it is named: `Deployment web of 3`."""
        space = "" if self.namespace == "default" else f"{self.namespace}/"
        size = "" if self.replicas is None else f" of {self.replicas}"
        return f"{self.kind} {space}{self.name}{size}"


class _Template(msgspec.Struct):
    metadata: dict[str, object] | None = None


class _Spec(msgspec.Struct):
    replicas: int | None = None
    template: _Template | None = None


class _Source(msgspec.Struct):
    metadata: dict[str, object]
    spec: _Spec | None = None
    status: dict[str, object] | None = None


def workload_of(kind: str, source: msgspec.Raw | Mapping[str, Plain] | str) -> Workload | None:
    """Read what makes pods; None for what makes none now, is another's, or cannot be read."""
    try:
        if isinstance(source, msgspec.Raw):
            found = msgspec.json.decode(source, type=_Source)
        else:
            plain = value(source) if isinstance(source, str) else source
            found = msgspec.convert(plain[0] if isinstance(plain, list) else plain, _Source)
    except (*MALFORMED, NotYaml, RecursionError, IndexError):
        return None
    spec, metadata = found.spec or _Spec(), found.metadata
    is_done = kind == "Job" and bool((found.status or {}).get("completionTime"))
    if spec.replicas == 0 or is_done or metadata.get("ownerReferences"):
        return None
    made = (spec.template.metadata if spec.template else None) or {}
    labels = made.get("labels")
    return Workload(
        kind,
        str(metadata.get("namespace") or "default"),
        str(metadata.get("name") or ""),
        None if kind in _WITHOUT_NUMBER else 1 if spec.replicas is None else spec.replicas,
        dict(labels) if isinstance(labels, dict) else {},
        _hook_in(metadata),
    )


def without_pods(workloads: Iterable[Workload], pods: Iterable[Pod]) -> Iterator[str]:
    """Yield a sentence for each workload that has no pod: none is owned by it, none has its labels.

    The owner of a Deployment's pods is a ReplicaSet, whose name is the Deployment's and a suffix.
    """
    owners: set[tuple[str, str]] = set()
    labels: dict[str, set[frozenset[tuple[str, str]]]] = {}
    for pod in pods:
        space = pod.namespace or "default"
        for owner in pod.metadata.owner_references:
            owners |= {(space, owner.name), (space, owner.name.rpartition("-")[0])}
        if not pod.metadata.owner_references:
            labels.setdefault(space, set()).add(frozenset(pod.metadata.labels.items()))
    lacking = [
        each
        for each in sorted(workloads, key=lambda each: bool(each.hook))
        if (each.namespace, each.name) not in owners
        and not (
            each.labels
            and any(
                each.labels.items() <= dict(has).items() for has in labels.get(each.namespace, ())
            )
        )
    ]
    for each in lacking[:_SHOWN]:
        if each.hook:
            yield say(
                "note.hook_workload",
                "{workload} is a hook of a chart (helm.sh/hook: {hook}), not its workload",
                workload=each.called,
                hook=each.hook,
            )
            continue
        yield say(
            "note.without_pods",
            "{workload}: none of its pods was read from the file",
            workload=each.called,
        )
    if (more := len(lacking) - _SHOWN) > 0:
        yield say("note.more_without_pods", "{n:,} more workloads of which no pod was read", n=more)


def hook_of(source: msgspec.Raw | Mapping[str, Plain]) -> str:
    """Return which hook of a chart a pod is, such as `test`; empty for another pod."""
    try:
        if isinstance(source, msgspec.Raw):
            metadata = msgspec.json.decode(source, type=_Source).metadata
        else:
            metadata = msgspec.convert(source, _Source).metadata
    except (*MALFORMED, RecursionError):
        return ""
    return _hook_in(metadata)


def _hook_in(metadata: Mapping[str, object]) -> str:
    annotations = metadata.get("annotations")
    return str(annotations.get(HOOK, "")) if isinstance(annotations, dict) else ""


def hooks_told(hooks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each pod that is a chart's hook, the first few."""
    for pod, hook in list(hooks)[:_SHOWN]:
        yield say(
            "note.hook_pod",
            "Pod {pod} is a hook of a chart (helm.sh/hook: {hook}), not a pod of its workload",
            pod=pod,
            hook=hook,
        )
