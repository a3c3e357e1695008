"""Scenario files, as docs/scenarios.md describes them; objects in them are those of a cluster."""

from __future__ import annotations

from typing import Final

from kviz.editor_schema.objects import object_schema
from kviz.editor_schema.schema import Field, Schema
from scheduler_core.api import KINDS
from scheduler_core.changes.vocabulary import EFFECTS
from scheduler_core.config.features import SWITCHABLE, switchable
from scheduler_core.releases import RELEASES
from scheduler_core.wording import Text, say

ANY_KIND: Final = "*"
"""The type of an object whose own `kind` says what it is."""

NODE: Final = Field("string", doc=say("scenario_schema.node", "The name of a node."))


def _text(doc: Text, *values: str, default: str = "") -> Field:
    return Field("string", values=values, default=default, doc=doc)


def _number(doc: Text, default: str = "") -> Field:
    return Field("integer", doc=doc, default=default)


def _fields(of: str, doc: Text, *, is_list: bool = False) -> Field:
    return Field("object", of=of, is_list=is_list, doc=doc)


def _releases(gate: str) -> tuple[str, ...]:
    """Return the releases in which a run may switch a gate; none if it may in all."""
    found = [name for name, release in RELEASES.items() if gate in switchable(release)]
    return () if len(found) == len(RELEASES) else tuple(found)


def _target(kinds: tuple[str, ...]) -> dict[str, Field]:
    return {
        "kind": _text(say("scenario_schema.kind", "The kind of the object."), *kinds),
        "namespace": _text(
            say("scenario_schema.namespace", "Where the object is."), default="default"
        ),
        "name": _text(say("scenario_schema.name", "The name of the object.")),
    }


KIND_NAMES: Final = tuple(sorted(KINDS))
OWNER_KINDS: Final = ("ReplicaSet", "StatefulSet", "Deployment", "Job", "ReplicationController")

STEP: Final[dict[str, Field]] = {
    "at": _text(
        say(
            "scenario_schema.at",
            "When it happens, counted from the start of the run: 300ms, 10s, 1m30s, 2h.",
        )
    ),
    "note": _text(say("scenario_schema.note", "A word on the step, shown with it.")),
    "create": _fields(
        ANY_KIND,
        say("scenario_schema.create", "Creates objects, complete as for kubectl create."),
        is_list=True,
    ),
    "copies": _number(
        say(
            "scenario_schema.count_of_create",
            "Beside create: each object so often, as NAME-1 to NAME-N.",
        )
    ),
    "put": _fields(
        ANY_KIND,
        say("scenario_schema.put", "Creates objects, or replaces those that are there."),
        is_list=True,
    ),
    "patch": _fields(
        "Patch",
        say("scenario_schema.patch", "Applies a JSON merge patch: null removes, lists replace."),
    ),
    "set": _fields("Set", say("scenario_schema.set", "Sets one field of an object.")),
    "delete": _fields(
        "Delete",
        say("scenario_schema.delete", "Deletes an object, a running pod after its grace period."),
    ),
    "cordon": _text(say("scenario_schema.cordon", "Marks a node unschedulable.")),
    "uncordon": _text(say("scenario_schema.uncordon", "Marks a node schedulable again.")),
    "drain": _text(
        say(
            "scenario_schema.drain",
            "Cordons a node and evicts its pods, but for those of DaemonSets.",
        )
    ),
    "taint": _fields("Taint", say("scenario_schema.taint", "Puts a taint on a node.")),
    "untaint": _fields(
        "Untaint", say("scenario_schema.untaint", "Takes the key's taints off a node.")
    ),
    "label": _fields("Label", say("scenario_schema.label", "Sets a label of a node.")),
    "unlabel": _fields("Unlabel", say("scenario_schema.unlabel", "Takes a label off a node.")),
    "copyNode": _fields(
        "CopyNode", say("scenario_schema.add_nodes", "Adds empty nodes like this one.")
    ),
    "scale": _fields(
        "Scale",
        say("scenario_schema.scale", "Brings an owner's pods to a number, by copying one of them."),
    ),
}

TYPES: Final[dict[str, dict[str, Field]]] = {
    "Scenario": {
        "description": _text(say("scenario_schema.title", "What the scenario shows, in one line.")),
        "until": _text(
            say(
                "scenario_schema.until",
                "When the run ends: 10m. Without it, when nothing more happens by itself.",
            )
        ),
        "options": _fields(
            "Options",
            say("scenario_schema.cluster", "How the cluster around the scheduler behaves."),
        ),
        "featureGates": _fields(
            "Gates",
            say("scenario_schema.feature_gates", "Feature gates that are switched for the run."),
        ),
        "steps": _fields(
            "Step", say("scenario_schema.steps", "What happens, and when."), is_list=True
        ),
    },
    "Options": {
        "attempt": _text(
            say("scenario_schema.attempt_time", "How long a scheduling attempt takes."),
            default="1ms",
        ),
        "preBind": _text(
            say(
                "scenario_schema.pre_bind_time",
                "How long PreBind takes where there are volumes to bind.",
            ),
            default="1s",
        ),
        "binding": _text(
            say("scenario_schema.bind_time", "How long a binding takes to reach the API server."),
            default="2ms",
        ),
        "podStart": _text(
            say("scenario_schema.start_time", "How long a bound pod takes to run."), default="1s"
        ),
        "kubelet": Field(
            "boolean",
            default="true",
            doc=say("scenario_schema.kubelets", "Whether there are kubelets."),
        ),
        "recreateEvicted": Field(
            "boolean",
            default="false",
            doc=say("scenario_schema.owners", "Owners replace evicted pods."),
        ),
    },
    "Gates": {
        name: Field("boolean", doc=doc, releases=_releases(name))
        for name, doc in sorted(SWITCHABLE.items())
    },
    "Step": STEP,
    "Patch": {
        **_target(KIND_NAMES),
        "merge": Field("any", is_map=True, doc=say("scenario_schema.merge", "What to merge.")),
    },
    "Set": {
        **_target(KIND_NAMES),
        "path": _text(
            say("scenario_schema.field", "The field: spec.containers[0].resources.requests.cpu.")
        ),
        "value": Field(
            "any", doc=say("scenario_schema.field_value", "What to set; null takes the field away.")
        ),
    },
    "Delete": {
        **_target(KIND_NAMES),
        "gracePeriodSeconds": _number(
            say("scenario_schema.replacement", "In place of the pod's own.")
        ),
    },
    "Taint": {
        "node": NODE,
        "key": _text(say("scenario_schema.taint_key", "The taint's key.")),
        "value": _text(say("scenario_schema.taint_value", "The taint's value.")),
        "effect": _text(
            say("scenario_schema.taint_effect", "What it does to pods that do not tolerate it."),
            *EFFECTS,
        ),
    },
    "Untaint": {
        "node": NODE,
        "key": _text(say("scenario_schema.taint_key", "The taint's key.")),
        "effect": _text(say("scenario_schema.any_effect", "Without it, all effects."), *EFFECTS),
    },
    "Label": {
        "node": NODE,
        "key": _text(say("scenario_schema.label_key", "The label's key.")),
        "value": _text(say("scenario_schema.label_value", "Its value.")),
    },
    "Unlabel": {"node": NODE, "key": _text(say("scenario_schema.label_key", "The label's key."))},
    "CopyNode": {
        "node": NODE,
        "copies": _number(say("scenario_schema.number", "How many."), default="1"),
    },
    "Scale": {
        **_target(OWNER_KINDS),
        "replicas": _number(say("scenario_schema.pod_number", "The number of pods.")),
    },
}


def scenario_schema() -> Schema:
    """A scenario, and all kinds of objects that it may create."""
    objects = object_schema()
    return Schema(roots={"": "Scenario", **objects.roots}, types={**objects.types, **TYPES})
