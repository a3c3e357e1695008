"""A plan in one sentence, as one says it to who would carry it out."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.advice.actions import Action, Plan
from scheduler_core.api import PersistentVolumeClaim, Pod
from scheduler_core.changes import Rules, sentence
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.vocabulary import Create, Delete, Put, SetField


def sentence_of(plan: Plan, cluster: RestingCluster) -> str:
    """Return what to do, with the values before it; `cluster` is that before the plan."""
    said = []
    for n_said, each in enumerate(plan.actions):
        before = cluster.after(plan.actions[n_said - 1].changes) if n_said else cluster
        said.append("; ".join(_parts(each, before)))
        cluster = before
    return ", and ".join(said)


def _parts(action: Action, cluster: RestingCluster) -> Iterator[str]:
    for n_said, change in enumerate(action.changes):
        match change:
            case Delete(target) if action.kind == "schedule":
                yield f"make pod {target.key} again for another scheduler"
            case Delete(target) if (pod := cluster.get(Pod, target.key)) is not None:
                owned = any(isinstance(each, Create) for each in action.changes)
                what = "let its owner make it again" if owned else "nobody makes it again"
                yield f"delete pod {pod.key} on {pod.spec.node_name} ({what})"
            case Create() if action.kind in ("move", "delete", "schedule"):
                continue
            case Put(items) if action.kind == "claim":
                claim = next(each for each in items if isinstance(each, PersistentVolumeClaim))
                missing = cluster.get(PersistentVolumeClaim, claim.key) is None
                verb = "create" if missing else "bind"
                yield f"{verb} claim {claim.key} with a volume of its own"
            case SetField(target, "spec.tolerations[+]", value):
                yield f"let {target} tolerate {_taint(value)}"
            case SetField(target, path) if action.kind == "soften" and path.endswith("[+]"):
                kind = path.split(".")[2]
                yield f"let {target} prefer what its {kind} requires"
            case SetField() if action.kind == "soften" and change.value is None and n_said:
                continue
            case _:
                yield sentence(change, cluster, Rules())


def _taint(toleration: object) -> str:
    """Return what a toleration is for, as kubectl writes a taint."""
    assert isinstance(toleration, dict)
    value = f"={toleration['value']}" if "value" in toleration else ""
    return f"{toleration['key']}{value}:{toleration['effect']}"
