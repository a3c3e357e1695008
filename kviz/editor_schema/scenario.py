"""Scenario files, as docs/scenarios.md describes them; objects in them are those of a cluster."""

from __future__ import annotations

from typing import Final

from kviz.editor_schema.objects import object_schema
from kviz.editor_schema.schema import Field, Schema
from scheduler_core.api import KINDS
from scheduler_core.changes.vocabulary import EFFECTS
from scheduler_core.config.features import SWITCHABLE

ANY_KIND: Final = "*"
"""The type of an object whose own `kind` says what it is."""

NODE: Final = Field("string", doc="The name of a node.")


def _text(doc: str, *values: str, default: str = "") -> Field:
    return Field("string", values=values, default=default, doc=doc)


def _number(doc: str, default: str = "") -> Field:
    return Field("integer", doc=doc, default=default)


def _fields(of: str, doc: str, *, is_list: bool = False) -> Field:
    return Field("object", of=of, is_list=is_list, doc=doc)


def _target(kinds: tuple[str, ...]) -> dict[str, Field]:
    return {
        "kind": _text("The kind of the object.", *kinds),
        "namespace": _text("Where the object is.", default="default"),
        "name": _text("The name of the object."),
    }


KIND_NAMES: Final = tuple(sorted(KINDS))
OWNER_KINDS: Final = ("ReplicaSet", "StatefulSet", "Deployment", "Job", "ReplicationController")

STEP: Final[dict[str, Field]] = {
    "at": _text("When it happens, counted from the start of the run: 300ms, 10s, 1m30s, 2h."),
    "note": _text("A word on the step, shown with it."),
    "create": _fields(ANY_KIND, "Creates objects, complete as for kubectl create.", is_list=True),
    "copies": _number("Beside create: each object so often, as NAME-1 to NAME-N."),
    "put": _fields(ANY_KIND, "Creates objects, or replaces those that are there.", is_list=True),
    "patch": _fields("Patch", "Applies a JSON merge patch: null removes, lists replace."),
    "set": _fields("Set", "Sets one field of an object."),
    "delete": _fields("Delete", "Deletes an object, a running pod after its grace period."),
    "cordon": _text("Marks a node unschedulable."),
    "uncordon": _text("Marks a node schedulable again."),
    "drain": _text("Cordons a node and evicts its pods, but for those of DaemonSets."),
    "taint": _fields("Taint", "Puts a taint on a node."),
    "untaint": _fields("Untaint", "Takes the key's taints off a node."),
    "label": _fields("Label", "Sets a label of a node."),
    "unlabel": _fields("Unlabel", "Takes a label off a node."),
    "copyNode": _fields("CopyNode", "Adds empty nodes like this one."),
    "scale": _fields("Scale", "Brings an owner's pods to a number, by copying one of them."),
}

TYPES: Final[dict[str, dict[str, Field]]] = {
    "Scenario": {
        "description": _text("What the scenario shows, in one line."),
        "until": _text("When the run ends: 10m. Without it, when nothing more happens by itself."),
        "options": _fields("Options", "How the cluster around the scheduler behaves."),
        "featureGates": _fields("Gates", "Feature gates that are switched for the run."),
        "steps": _fields("Step", "What happens, and when.", is_list=True),
    },
    "Options": {
        "attempt": _text("How long a scheduling attempt takes.", default="1ms"),
        "preBind": _text("How long PreBind takes where there are volumes to bind.", default="1s"),
        "binding": _text("How long a binding takes to reach the API server.", default="2ms"),
        "podStart": _text("How long a bound pod takes to run.", default="1s"),
        "kubelet": Field("boolean", default="true", doc="Whether there are kubelets."),
        "recreateEvicted": Field("boolean", default="false", doc="Owners replace evicted pods."),
    },
    "Gates": {name: Field("boolean", doc=str(doc)) for name, doc in sorted(SWITCHABLE.items())},
    "Step": STEP,
    "Patch": {**_target(KIND_NAMES), "merge": Field("any", is_map=True, doc="What to merge.")},
    "Set": {
        **_target(KIND_NAMES),
        "path": _text("The field: spec.containers[0].resources.requests.cpu."),
        "value": Field("any", doc="What to set; null takes the field away."),
    },
    "Delete": {**_target(KIND_NAMES), "gracePeriodSeconds": _number("In place of the pod's own.")},
    "Taint": {
        "node": NODE,
        "key": _text("The taint's key."),
        "value": _text("The taint's value."),
        "effect": _text("What it does to pods that do not tolerate it.", *EFFECTS),
    },
    "Untaint": {
        "node": NODE,
        "key": _text("The taint's key."),
        "effect": _text("Without it, all effects.", *EFFECTS),
    },
    "Label": {"node": NODE, "key": _text("The label's key."), "value": _text("Its value.")},
    "Unlabel": {"node": NODE, "key": _text("The label's key.")},
    "CopyNode": {"node": NODE, "copies": _number("How many.", default="1")},
    "Scale": {**_target(OWNER_KINDS), "replicas": _number("How many pods there are to be.")},
}


def scenario_schema() -> Schema:
    """A scenario, and all kinds of objects that it may create."""
    objects = object_schema()
    return Schema(roots={"": "Scenario", **objects.roots}, types={**objects.types, **TYPES})
