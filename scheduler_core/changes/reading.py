"""Changes from plain data, every problem with the path of its field. `documents` is the inverse.

One reader serves scenarios, files of changes, REST and run files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar, get_args

import msgspec

from scheduler_core.api import KINDS, KubeObject, Taint
from scheduler_core.api.coerce import coerce_struct, describe
from scheduler_core.api.errors import FieldError, ParseError, Place
from scheduler_core.api.parse import parse_object
from scheduler_core.changes import action_fields as fields
from scheduler_core.changes.field_paths import check_value, field_path, unknown_field
from scheduler_core.changes.merge_patch import without_nulls
from scheduler_core.changes.vocabulary import (
    EFFECTS,
    AddTaint,
    Change,
    CopyNode,
    Cordon,
    Create,
    Delete,
    Drain,
    Patch,
    Placed,
    Put,
    RemoveLabel,
    RemoveTaint,
    Restore,
    Scale,
    SetField,
    SetLabel,
    SetQueueOrder,
    SetScoring,
    SetSeed,
    SetWeight,
    SwitchGate,
    Target,
    UseConfiguration,
)
from scheduler_core.config.decode import decode
from scheduler_core.config.problems import Path, Problem, invalid, not_supported
from scheduler_core.config.types import (
    ConfigStruct,
    JsonValue,
    ScoringStrategyType,
)
from scheduler_core.trace.records import QueueOrder
from scheduler_core.wording import AND, say, series

MAX_COPIES: Final = 10_000
MAX_REPLICAS: Final = 10_000
MAX_WEIGHT: Final = 2**31 - 1

STEP_ACTIONS: Final = (
    "create",
    "put",
    "patch",
    "set",
    "delete",
    "cordon",
    "uncordon",
    "drain",
    "taint",
    "untaint",
    "label",
    "unlabel",
    "copyNode",
    "scale",
)
"""What a step of a scenario may do."""
RULE_ACTIONS: Final = ("config", "weight", "scoring", "gate", "seed", "queueOrder")
ACTIONS: Final = (*STEP_ACTIONS, "restore", *RULE_ACTIONS)

_Mapping = dict[str, JsonValue]
_Required = TypeVar("_Required", bound=ConfigStruct)
_SEGMENT: Final = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


class ChangeReader:
    """Turns plain data into changes, and adds what is wrong with it to `problems`."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def change(
        self, value: JsonValue, path: Path, actions: Sequence[str] = ACTIONS
    ) -> Change | None:
        """Read a mapping with one of `actions`; None if that fails."""
        if not isinstance(value, dict):
            self._problem(
                path,
                say("expected.mapping", "expected a mapping, got {what}", what=describe(value)),
            )
            return None
        known = len(self._problems)
        self.refuse_unknown(value, path, actions)
        change = self.action(value, path, actions)
        return None if len(self._problems) > known else change

    def refuse_unknown(
        self, value: _Mapping, path: Path, actions: Sequence[str], beside: Sequence[str] = ()
    ) -> None:
        """Name the fields that are neither one of the actions nor may stand `beside` one."""
        known = (*actions, *beside, "copies")
        for name in value:
            if name == "copies" and "create" not in value:
                self._problem((*path, name), say("expected.with_create", "only goes with create"))
            elif name not in known:
                self._problem((*path, name), unknown_field(name, known))

    def action(self, value: _Mapping, path: Path, actions: Sequence[str]) -> Change | None:
        """Read the one action that a mapping has to have."""
        names = [name for name in value if name in actions]
        if len(names) != 1:
            wanted, found = series(actions), series(names, AND) or say("value.none", "none")
            text = say(
                "expected.one_action",
                "one action is needed, of {wanted}; got {found}",
                wanted=wanted,
                found=found,
            )
            self._problem(path, text)
            return None
        (name,) = names
        if name == "create":
            return self._create(value, path)
        return self._action(name, value[name], (*path, name))

    def _action(self, name: str, value: JsonValue, at: Path) -> Change | None:
        match name:
            case "put":
                return Put(self._objects(value, at))
            case "patch":
                return self._patch(value, at)
            case "set":
                return self._set(value, at)
            case "delete":
                return self._delete(value, at)
            case "scale":
                return self._scale(value, at)
            case "restore":
                return self._restore(value, at)
            case _ if name in RULE_ACTIONS:
                return self._rule(name, value, at)
            case _:
                return self._of_node(name, value, at)

    def _of_node(self, name: str, value: JsonValue, at: Path) -> Change | None:
        match name:
            case "cordon" | "uncordon":
                return Cordon(self._node(value, at), name == "cordon")
            case "drain":
                return Drain(self._node(value, at))
            case "taint":
                return self._add_taint(value, at)
            case "untaint":
                return self._remove_taint(value, at)
            case "label":
                label = self._read(value, fields.Label, at, ("node", "key"))
                return None if label is None else SetLabel(label.node, label.key, label.value)
            case "unlabel":
                unlabel = self._read(value, fields.Unlabel, at, ("node", "key"))
                return None if unlabel is None else RemoveLabel(unlabel.node, unlabel.key)
            case _:
                return self._copy_node(value, at)

    # ------------------------------------------------------------ objects

    def _create(self, value: _Mapping, path: Path) -> Change:
        given: _Mapping = {"copies": value["copies"]} if "copies" in value else {}
        copies = (decode(given, fields.Copies, path, self._problems) or fields.Copies()).copies
        if given:
            self._check_copies(copies, path)
        return Create(self._objects(value["create"], (*path, "create")), copies)

    def _check_copies(self, copies: int, path: Path) -> None:
        if not 1 <= copies <= MAX_COPIES:
            detail = say(
                "expected.between", "must be between {least} and {most}", least=1, most=MAX_COPIES
            )
            self._problems.append(invalid((*path, "copies"), copies, detail))

    def _objects(self, value: JsonValue, at: Path) -> tuple[KubeObject, ...]:
        if isinstance(value, list):
            objects = [self._object(item, (*at, i)) for i, item in enumerate(value)]
        else:
            objects = [self._object(value, at)]
        return tuple(item for item in objects if item is not None)

    def _object(self, value: JsonValue, path: Path) -> KubeObject | None:
        if not isinstance(value, Mapping):
            self._problem(
                path, say("expected.object", "expected an object, got {what}", what=describe(value))
            )
            return None
        try:
            return parse_object(value, Place())
        except ParseError as error:
            self._problem((*path, *_steps(error.field)), error.message)
            return None

    def _patch(self, value: JsonValue, path: Path) -> Change | None:
        merge = value.get("merge") if isinstance(value, dict) else None
        target = self._target(
            self._read(_without(value, "merge"), fields.Target, path, _NAMED), path
        )
        if not isinstance(merge, dict):
            detail = say(
                "expected.merge_value", "Required value: what to merge into the object, a mapping"
            )
            self._problem((*path, "merge"), detail)
            return None
        if target is None:
            return None
        try:
            coerce_struct(without_nulls(merge), target.kind)
        except FieldError as error:
            self._problem((*path, "merge", *_steps(error.field)), error.message)
        return Patch(target, dict(merge))

    def _set(self, value: JsonValue, at: Path) -> Change | None:
        if isinstance(value, dict) and "value" not in value:
            detail = say(
                "expected.set_value", "Required value: what to set, null to take the field away"
            )
            self._problem((*at, "value"), detail)
        written = self._read(_without(value, "value"), fields.Set, at, (*_NAMED, "path"))
        target = self._target(written, at)
        if written is None or target is None or not isinstance(value, dict):
            return None
        return self.set_field(target, written.path, value.get("value"), at)

    def set_field(self, target: Target, path: str, value: JsonValue, at: Path) -> SetField | None:
        """Check path and value against the kind."""
        try:
            where = field_path(path, target.kind)
        except FieldError as error:
            named = say(
                "field.problem", "{field} {problem}", field=error.field, problem=error.message
            )
            self._problem((*at, "path"), named if error.field else error.message)
            return None
        try:
            checked = None if value is None else check_value(value, where)
        except FieldError as error:
            text = say(
                "field.message", "{field}: {message}", field=error.field, message=error.message
            )
            self._problem((*at, "value"), text)
            return None
        return SetField(target, str(where), checked)

    def _delete(self, value: JsonValue, path: Path) -> Change | None:
        written = self._read(value, fields.Delete, path, _NAMED)
        target = self._target(written, path)
        if written is None or target is None:
            return None
        return Delete(target, written.grace_period_seconds)

    def _restore(self, value: JsonValue, at: Path) -> Change | None:
        if not isinstance(value, dict):
            self._problem(
                at, say("expected.mapping", "expected a mapping, got {what}", what=describe(value))
            )
            return None
        placed = []
        for i, each in enumerate(self._list(value.get("objects"), (*at, "objects"))):
            where: Path = (*at, "objects", i)
            place = each.get("place") if isinstance(each, dict) else None
            if not isinstance(each, dict) or type(place) is not int or place < 0:
                self._problem(
                    where, say("expected.place", "expected a place, from 0, and an object")
                )
                continue
            item = self._object(each.get("object"), (*where, "object"))
            if item is not None:
                placed.append(Placed(place, item))
        named = self._list(value.get("remove"), (*at, "remove"))
        targets = [
            self._target(
                self._read(each, fields.Target, (*at, "remove", i), _NAMED),
                (*at, "remove", i),
            )
            for i, each in enumerate(named)
        ]
        return Restore(tuple(placed), tuple(each for each in targets if each is not None))

    # ------------------------------------------------------------ nodes

    def _add_taint(self, value: JsonValue, path: Path) -> Change | None:
        written = self._read(value, fields.AddTaint, path, ("node", "key", "effect"))
        if written is None:
            return None
        self._check_effect(written.effect, path)
        taint = Taint(key=written.key, value=written.value, effect=written.effect)
        return AddTaint(written.node, taint)

    def _remove_taint(self, value: JsonValue, path: Path) -> Change | None:
        written = self._read(value, fields.RemoveTaint, path, ("node", "key"))
        if written is None:
            return None
        if written.effect:
            self._check_effect(written.effect, path)
        return RemoveTaint(written.node, written.key, written.effect)

    def _copy_node(self, value: JsonValue, path: Path) -> Change | None:
        written = self._read(value, fields.CopyNode, path, ("node",))
        if written is None:
            return None
        self._check_copies(written.copies, path)
        return CopyNode(written.node, written.copies)

    def _scale(self, value: JsonValue, path: Path) -> Change | None:
        written = self._read(value, fields.Scale, path, (*_NAMED, "replicas"))
        if written is None:
            return None
        replicas = written.replicas
        if replicas is None or not 0 <= replicas <= MAX_REPLICAS:
            detail = say(
                "expected.between", "must be between {least} and {most}", least=0, most=MAX_REPLICAS
            )
            self._problems.append(invalid((*path, "replicas"), replicas, detail))
            return None
        return Scale(written.kind, written.namespace or "default", written.name, replicas)

    # ------------------------------------------------------------ rules

    def _rule(self, name: str, value: JsonValue, at: Path) -> Change | None:
        match name:
            case "config":
                return self._configuration(value, at)
            case "weight":
                return self._weight(value, at)
            case "scoring":
                return self._scoring(value, at)
            case "gate":
                gate = self._read(value, fields.Gate, at, ("name", "enabled"))
                return SwitchGate(gate.name, bool(gate.enabled)) if gate else None
            case "seed":
                if type(value) is int and -(2**63) <= value < 2**63:
                    return SetSeed(value)
                text = say(
                    "expected.int64",
                    "expected a whole number of 64 bits, got {what}",
                    what=describe(value),
                )
                self._problem(at, text)
                return None
            case _:
                return self._queue_order(value, at)

    def _configuration(self, value: JsonValue, at: Path) -> Change | None:
        """Take a configuration as text, or as the mapping that the text would be."""
        match value:
            case str():
                return UseConfiguration(value)
            case dict():
                return UseConfiguration(msgspec.json.encode(value).decode())
        text = say(
            "expected.configuration",
            "expected a KubeSchedulerConfiguration, got {what}",
            what=describe(value),
        )
        self._problem(at, text)
        return None

    def _weight(self, value: JsonValue, at: Path) -> Change | None:
        written = self._read(value, fields.Weight, at, ("plugin", "weight"))
        if written is None or written.weight is None:
            return None
        if not 1 <= written.weight <= MAX_WEIGHT:
            detail = say(
                "expected.weight",
                "must be between 1 and {most}; a configuration disables a plugin",
                most=MAX_WEIGHT,
            )
            self._problems.append(invalid((*at, "weight"), written.weight, detail))
        return SetWeight(written.plugin, written.weight)

    def _scoring(self, value: JsonValue, at: Path) -> Change | None:
        written = self._read(value, fields.Scoring, at, ("type",))
        if written is None:
            return None
        for strategy in ScoringStrategyType:
            if strategy == written.type:
                return SetScoring(
                    strategy, tuple((point.utilization, point.score) for point in written.shape)
                )
        known = tuple(ScoringStrategyType)
        self._problems.append(not_supported((*at, "type"), written.type, known))
        return None

    def _queue_order(self, value: JsonValue, at: Path) -> Change | None:
        for order in get_args(QueueOrder):
            if value == order:
                return SetQueueOrder(order)
        self._problems.append(not_supported(at, str(value), get_args(QueueOrder)))
        return None

    # ------------------------------------------------------------ parts

    def _problem(self, path: Path, message: str) -> None:
        self._problems.append(Problem(path, message))

    def _read(
        self, value: JsonValue, into: type[_Required], path: Path, required: tuple[str, ...]
    ) -> _Required | None:
        """Decode the fields of an action; None if that fails or a required one is missing."""
        written = decode(value, into, path, self._problems) if value is not None else into()
        if written is None:
            return None
        missing = [name for name in required if getattr(written, name) in ("", None)]
        self._problems.extend(Problem((*path, name), "Required value") for name in missing)
        return None if missing else written

    def _target(self, written: fields.Target | None, path: Path) -> Target | None:
        if written is None:
            return None
        kind = KINDS.get(written.kind)
        if kind is None:
            names = tuple(sorted(KINDS))
            self._problems.append(not_supported((*path, "kind"), written.kind, names))
            return None
        return named_target(kind, written.namespace, written.name)

    def _node(self, value: JsonValue, path: Path) -> str:
        if not isinstance(value, str) or not value:
            self._problem(
                path,
                say(
                    "expected.node_name", "expected a node's name, got {what}", what=describe(value)
                ),
            )
            return ""
        return value

    def _check_effect(self, effect: str, path: Path) -> None:
        if effect not in EFFECTS:
            self._problems.append(not_supported((*path, "effect"), effect, EFFECTS))

    def _list(self, value: JsonValue, path: Path) -> list[JsonValue]:
        if value is None:
            return []
        if not isinstance(value, list):
            self._problem(
                path, say("expected.list", "expected a list, got {what}", what=describe(value))
            )
            return []
        return value


_NAMED: Final = ("kind", "name")


def named_target(kind: type[KubeObject], namespace: str, name: str) -> Target:
    """Return the object of a name; without a namespace it is in `default`."""
    return Target(kind, (namespace or "default") if kind.namespaced else "", name)


def _without(value: JsonValue, name: str) -> JsonValue:
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key != name}


def _steps(field_path: str) -> Path:
    """Return the steps of a field path such as `spec.containers[0].image`."""
    return tuple(
        int(index) if index.isdecimal() else index or name
        for index, name in _SEGMENT.findall(field_path)
    )
