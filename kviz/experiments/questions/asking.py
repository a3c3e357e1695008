"""What may be asked: read, checked, and how many variants it will be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

import msgspec
from msgspec import Meta

from kviz.common.problems import ErrorItem
from kviz.experiments.questions.trials import AskedVariant
from kviz.runs.execution.engine import check
from kviz.runs.inputs import InvalidInput, changes_given, gates_of_stored
from kviz.runs.models import Run
from scheduler_core.changes import document_of, line_of
from scheduler_core.changes.vocabulary import UseConfiguration
from scheduler_core.config import JsonValue

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
    """Every zone, or every node, is lost in turn."""

    of: Literal["zones", "nodes"]


Asked = Changes | Configurations | Survive
ASKED: Final[Mapping[str, type[Asked]]] = {
    "changes": Changes,
    "configurations": Configurations,
    "survive": Survive,
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
            return {"of": read.of}


def expected_variants(asked: Mapping[str, Any], counts: Mapping[str, int]) -> int:
    """How many variants that will be at most, in a cluster of so many objects by kind."""
    if "variants" in asked:
        return len(asked["variants"])
    return counts.get("Node", 0)


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
