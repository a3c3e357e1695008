"""The pods that workloads make, read from their templates.

kviz models no controller: of a Deployment it reads nothing but, where it is asked for, its pod.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from scheduler_core.api.coerce import Plain
from scheduler_core.api.errors import FieldError
from scheduler_core.api.parse import TypeName
from scheduler_core.wording import say

POD: Final = TypeName("v1", "Pod")

_TEMPLATE = ("spec", "template")
WORKLOADS: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "Deployment": _TEMPLATE,
        "StatefulSet": _TEMPLATE,
        "ReplicaSet": _TEMPLATE,
        "ReplicationController": _TEMPLATE,
        "Job": _TEMPLATE,
        "CronJob": ("spec", "jobTemplate", "spec", "template"),
    }
)
"""Kinds that make pods, and where the template of those is."""

NO_PODS: Final[Mapping[str, Sequence[str]]] = MappingProxyType({})


def pod_of(workload: Mapping[str, Plain], within: Sequence[str]) -> Mapping[str, Plain]:
    """Return a pod of the workload, with its name and namespace. Raises FieldError."""
    template = workload
    for name in within:
        inner = template.get(name)
        if not isinstance(inner, Mapping):
            raise FieldError(
                "",
                say(
                    "field.template_missing", "is missing: what makes pods has their template there"
                ),
            )
        template = inner
    own, made = workload.get("metadata"), template.get("metadata")
    metadata = dict(made) if isinstance(made, Mapping) else {}
    for name in ("name", "namespace"):
        if isinstance(own, Mapping) and name in own:
            metadata[name] = own[name]
    return {
        "apiVersion": POD.api_version,
        "kind": POD.kind,
        "metadata": metadata,
        "spec": template.get("spec"),
    }
