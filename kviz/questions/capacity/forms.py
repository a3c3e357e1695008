"""What the form of capacity accepts, as REST would be given it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from kviz.experiments.forms import typed_at, whole_number
from kviz.experiments.kinds import refused
from scheduler_core.api import KubeObject, Pod
from scheduler_core.cluster.pods import controller_of
from scheduler_core.trace.tables import TERMINAL_PHASES

ROWS: Final = 3
"""So many pods of the cluster can be chosen; pasted ones come on top."""
PODS_OFFERED: Final = 500
MAX_COPIES: Final = 10_000
"""What the form begins with."""


def values_of(given: QueryDict) -> dict[str, Any]:
    """What the form holds, after what an address or a sent form says."""
    pods, weights = given.getlist("pod"), given.getlist("weight")
    rows = [
        {"pod": typed_at(pods, i), "weight": typed_at(weights, i)}
        for i in range(max(ROWS, len(pods)))
    ]
    names = ("snapshot", "run", "manifest", "manifest_weight", "max", "name")
    return {"rows": rows} | {name: given.get(name, "") for name in names}


def asked_in(values: Mapping[str, Any]) -> dict[str, object]:
    """What is asked. Raises InvalidInput."""
    templates: list[dict[str, object]] = [
        {"pod": row["pod"].strip(), "weight": whole_number("weight", row["weight"], 0)}
        for row in values["rows"]
        if row["pod"].strip()
    ]
    if values["manifest"].strip():
        weight = whole_number("weight", values["manifest_weight"], 0)
        templates.append({"manifest": values["manifest"], "weight": weight})
    if not templates:
        raise refused("pod", _("Choose a pod of the cluster, or paste one."))
    return {"templates": templates, "max": whole_number("max", values["max"], MAX_COPIES)}


def pods_offered(objects: Iterable[KubeObject]) -> list[str]:
    """A pod of each owner, and those without one: templates that are there."""
    owners: dict[tuple[str, str, str], str] = {}
    for item in objects:
        if isinstance(item, Pod) and item.status.phase not in TERMINAL_PHASES:
            owner = controller_of(item)
            of = (owner.kind, owner.name) if owner else ("Pod", item.name)
            owners.setdefault((item.namespace, *of), item.key)
    return sorted(owners.values())[:PODS_OFFERED]
