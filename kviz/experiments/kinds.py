"""What may be asked: read, checked, and how many variants it will be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

import msgspec
from msgspec import Meta

from kviz.common.problems import ErrorItem
from kviz.questions.capacity.jobs import AskedTemplate, templates_of
from kviz.questions.luck.jobs import MAX_RUNS, RUNS, expected_tosses
from kviz.questions.nodes.jobs import shapes_of
from kviz.questions.whatif.jobs import AskedVariant
from kviz.runs.execution.engine import check, cluster_of
from kviz.runs.inputs import InvalidInput, changes_given, gates_of_stored
from kviz.runs.models import Run
from kviz.without_secrets import without_secrets
from scheduler_core.analysis.advice.capacity import MAX_COPIES
from scheduler_core.analysis.advice.coins import COINS, Coin
from scheduler_core.analysis.advice.nodes.adding import MAX_RUNS as ADDING_RUNS
from scheduler_core.analysis.advice.nodes.draining import MAX_CANDIDATES
from scheduler_core.analysis.advice.unblock import MAX_RUNS as MAX_PLANS
from scheduler_core.api import KubeObject, Node
from scheduler_core.changes import document_of, line_of
from scheduler_core.changes.vocabulary import UseConfiguration
from scheduler_core.config import JsonValue
from scheduler_core.config.source import MAX_BYTES
from scheduler_core.wording import say

MAX_TEMPLATES: Final = 20
Name = Annotated[str, Meta(max_length=200)]


class ChangedVariant(msgspec.Struct, forbid_unknown_fields=True):
    changes: list[str | dict[str, Any]]
    name: Name = ""


class Changes(msgspec.Struct, forbid_unknown_fields=True):
    """Each variant begins with changes of its own (docs/changes.md)."""

    variants: Annotated[list[ChangedVariant], Meta(min_length=1)]


class Configuration(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    scheduler_config: str = ""
    """Empty: the default profile."""


class Configurations(msgspec.Struct, forbid_unknown_fields=True):
    """The same cluster by other configurations, side by side."""

    configurations: Annotated[list[Configuration], Meta(min_length=1)]


class Survive(msgspec.Struct, forbid_unknown_fields=True):
    """Every zone, every node, or each of some sets of nodes is lost in turn."""

    of: Literal["zones", "nodes", "sets"]
    sets: list[Annotated[list[str], Meta(min_length=1)]] = []
    """The names of nodes that are gone together."""


class Luck(msgspec.Struct, forbid_unknown_fields=True):
    """Runs with the coins tossed that kviz pins; without `coins` those that the release has."""

    runs: Annotated[int, Meta(ge=1, le=MAX_RUNS)] = RUNS
    coins: list[Coin] = []


class Template(msgspec.Struct, forbid_unknown_fields=True):
    """A pod of the cluster, as `namespace/name`, or a manifest of pods as text."""

    pod: str = ""
    manifest: Annotated[str, Meta(max_length=MAX_BYTES)] = ""
    weight: Annotated[int, Meta(ge=0, le=1_000)] = 0


class Capacity(msgspec.Struct, forbid_unknown_fields=True):
    """Copies of pods, until the next one finds no node; with weights they are a mix."""

    templates: Annotated[list[Template], Meta(min_length=1, max_length=MAX_TEMPLATES)]
    max: Annotated[int, Meta(ge=1, le=MAX_COPIES)] = MAX_COPIES


class Nodes(msgspec.Struct, forbid_unknown_fields=True):
    """The cheapest nodes with which pending pods bind, and those that could be drained."""

    shapes: str = ""
    """Shapes that can be had, and prices, as YAML (docs/answers.md)."""
    max_runs: Annotated[int, Meta(ge=1, le=10_000)] = ADDING_RUNS
    drain: Annotated[int, Meta(ge=0, le=5_000)] = MAX_CANDIDATES
    """So many nodes are tried, those with the fewest pods."""


class Unblock(msgspec.Struct, forbid_unknown_fields=True):
    """What would let a pending pod bind, `namespace/name`."""

    pod: Annotated[str, Meta(pattern="^[^/]+/[^/]+$", max_length=400)]
    owner: bool = False
    """All pending pods of its owner are to bind."""


Asked = Capacity | Changes | Configurations | Luck | Nodes | Survive | Unblock
ASKED: Final[Mapping[str, type[Asked]]] = {
    "capacity": Capacity,
    "changes": Changes,
    "configurations": Configurations,
    "luck": Luck,
    "nodes": Nodes,
    "survive": Survive,
    "unblock": Unblock,
}
KINDS: Final = tuple(ASKED)


def checked(kind: str, asked: object, beginning: Run) -> dict[str, Any]:
    """What is asked, as an experiment stores it. Raises InvalidInput."""
    try:
        read = msgspec.convert(asked, ASKED[kind])
    except msgspec.ValidationError as error:
        raise refused("asked", str(error)) from error
    match read:
        case Changes():
            return {"variants": [_variant(i, each) for i, each in enumerate(read.variants)]}
        case Configurations():
            return {"variants": _configurations(read.configurations, beginning)}
        case Survive():
            return _losses(read, beginning)
        case Luck():
            return {"runs": read.runs, "coins": read.coins}
        case Capacity():
            return {"templates": _templates(read.templates, beginning), "max": read.max}
        case Nodes():
            shapes_of(read.shapes, _objects(beginning))
            return {"shapes": read.shapes, "max_runs": read.max_runs, "drain": read.drain}
        case Unblock():
            return {"pod": read.pod, "owner": read.owner}


def _losses(asked: Survive, beginning: Run) -> dict[str, Any]:
    """What is to be lost; sets of nodes that are there. Raises InvalidInput."""
    if asked.of != "sets":
        return {"of": asked.of}
    if not asked.sets:
        raise refused(
            "asked.sets", say("question.name_nodes", "Name the nodes that are lost together.")
        )
    known = {item.name for item in _objects(beginning) if isinstance(item, Node)}
    for i, names in enumerate(asked.sets):
        if absent := [name for name in names if name not in known]:
            where = f"asked.sets[{i}]"
            raise refused(
                where, say("question.no_node", "There is no node {node}.", node=absent[0])
            )
    return {"of": "sets", "sets": [list(dict.fromkeys(names)) for names in asked.sets]}


def expected_variants(kind: str, asked: Mapping[str, Any], counts: Mapping[str, int]) -> int:
    """How many variants that will be at most, in a cluster of so many objects by kind.

    Drains of nodes that are tried again are not among them.
    """
    match kind:
        case "survive":
            return len(asked.get("sets", ())) or counts.get("Node", 0)
        case "luck":
            return expected_tosses(asked["runs"], len(asked["coins"] or COINS))
        case "capacity":
            return 1 + len(asked["templates"])
        case "nodes":
            return 1 + int(asked["drain"])
        case "unblock":
            return MAX_PLANS
        case _:
            return len(asked["variants"])


def refused(field: str, message: str) -> InvalidInput:
    """The error for a field of what is asked."""
    return InvalidInput([{"field": field, "message": message}])


def _variant(index: int, asked: ChangedVariant) -> AskedVariant:
    try:
        changes = changes_given(cast("list[JsonValue]", asked.changes))
    except InvalidInput as invalid:
        raise InvalidInput(_within(invalid.errors, f"asked.variants[{index}]")) from invalid
    name = asked.name or "; ".join(line_of(each) for each in changes) or "no change"
    return {"name": name[:500], "changes": [document_of(each) for each in changes]}


def _templates(asked: Sequence[Template], beginning: Run) -> list[AskedTemplate]:
    templates: list[AskedTemplate] = [
        {"pod": each.pod, "manifest": without_secrets(each.manifest), "weight": each.weight}
        for each in asked
    ]
    for each in templates:
        if bool(each["pod"]) == bool(each["manifest"].strip()):
            raise refused(
                "pod",
                say(
                    "question.pod_or_manifest",
                    "Give a pod of the cluster or a manifest, one of the two.",
                ),
            )
    found = templates_of(templates, _objects(beginning))
    if len({bool(weight) for _, weight in found}) > 1:
        raise refused(
            "weight", say("question.weights", "Give each pod of a mix a weight, or none of them.")
        )
    if len(found) > MAX_TEMPLATES:
        text = say(
            "question.too_many_pods",
            "There are {n} pods; at most {most}.",
            n=len(found),
            most=MAX_TEMPLATES,
        )
        raise refused("manifest", text)
    return templates


def _objects(beginning: Run) -> list[KubeObject]:
    """The objects that a run begins with, after its changes. Raises InvalidInput."""
    return cluster_of(beginning)[0]


def _configurations(asked: Sequence[Configuration], beginning: Run) -> list[AskedVariant]:
    gates = gates_of_stored(beginning)
    variants: list[AskedVariant] = []
    for i, each in enumerate(asked):
        try:
            check(scheduler_config=each.scheduler_config, gates=gates)
        except InvalidInput as invalid:
            place = f"asked.configurations[{i}]"
            raise InvalidInput(_within(invalid.errors, place)) from invalid
        change = document_of(UseConfiguration(each.scheduler_config))
        variants.append({"name": each.name, "changes": [change]})
    return variants


def _within(errors: Sequence[ErrorItem], place: str) -> list[ErrorItem]:
    return [{**each, "field": place} for each in errors]
