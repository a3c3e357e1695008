"""Plain data made to fit a type the way the API server reads it, or an error where it does not.

This is the slow road, taken when direct decoding fails: it accepts null for absent and bare
numbers for quantities, and it names the exact field that is wrong.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec import inspect

from scheduler_core.api.errors import FieldError
from scheduler_core.api.quantity import number_text
from scheduler_core.api.timestamps import TimestampError, parse_timestamp
from scheduler_core.wording import say, told

Plain = object
"""What JSON or YAML yields: None, bool, int, float, str, list or dict of such."""


class FieldPlan(NamedTuple):
    """A field: its name in JSON, and its type."""

    name: str
    type: inspect.Type


@cache
def fields_of(cls: type[msgspec.Struct]) -> tuple[FieldPlan, ...]:
    """The fields of a type under their names in JSON."""
    struct = inspect.type_info(cls)
    assert isinstance(struct, inspect.StructType)
    return tuple(FieldPlan(field.encode_name, field.type) for field in struct.fields)


_PERHAPS_SECRET = "metadata.annotations"


def coerce_struct(value: Plain, cls: type[msgspec.Struct], path: str = "") -> dict[str, Plain]:
    """The known fields of ``value`` in the shape ``cls`` decodes from.

    Raises :class:`FieldError` for the first field of a wrong type.
    """
    if not isinstance(value, Mapping):
        raise FieldError(
            path, say("field.must_be_object", "must be an object, not {what}", what=describe(value))
        )
    known: dict[str, Plain] = {}
    for field in fields_of(cls):
        given = value.get(field.name)
        if given is not None:
            at = f"{path}.{field.name}" if path else field.name
            known[field.name] = coerce_value(given, field.type, at)
    return known


def coerce_value(value: Plain, wanted: inspect.Type, path: str) -> Plain:
    """``value`` in the shape a field of that type decodes from. Raises :class:`FieldError`."""
    match wanted:
        case inspect.StructType(cls=cls):
            return coerce_struct(value, cls, path)
        case inspect.UnionType(types=types):
            return _coerce_union(value, types, path)
        case inspect.Metadata(type=inner, extra=extra):
            is_quantity = bool(extra and extra.get("quantity"))
            if is_quantity and isinstance(value, int | float) and not isinstance(value, bool):
                return number_text(value)
            return coerce_value(value, inner, path)
        case inspect.VarTupleType(item_type=item_type):
            return _coerce_list(value, item_type, path)
        case inspect.DictType(value_type=value_type):
            return _coerce_map(value, value_type, path)
        case inspect.IntType(ge=lowest, le=highest):
            return _coerce_integer(value, lowest, highest, path)
        case inspect.CustomType():
            return _coerce_timestamp(value, path)
        case inspect.BoolType():
            if isinstance(value, bool):
                return value
            raise FieldError(
                path,
                say(
                    "field.must_be_bool", "must be true or false, not {what}", what=describe(value)
                ),
            )
        case _:
            return _coerce_text(value, path)


def _coerce_union(value: Plain, types: tuple[inspect.Type, ...], path: str) -> Plain:
    """A union here is an optional value or, once, a number or text."""
    choices = [wanted for wanted in types if not isinstance(wanted, inspect.NoneType)]
    if len(choices) > 1 and isinstance(value, str):
        choices = [wanted for wanted in choices if isinstance(wanted, inspect.StrType)]
    return coerce_value(value, choices[0], path)


def _coerce_list(value: Plain, item_type: inspect.Type, path: str) -> Plain:
    if not isinstance(value, list | tuple):
        raise FieldError(
            path, say("field.must_be_list", "must be a list, not {what}", what=describe(value))
        )
    for index, item in enumerate(value):
        if item is None:
            raise FieldError(f"{path}[{index}]", say("field.not_null", "must not be null"))
    return [coerce_value(item, item_type, f"{path}[{index}]") for index, item in enumerate(value)]


def _coerce_map(value: Plain, value_type: inspect.Type, path: str) -> Plain:
    if not isinstance(value, Mapping):
        raise FieldError(
            path,
            say("field.must_be_object", "must be an object, not {what}", what=_shown(value, path)),
        )
    return {
        key_text(key): coerce_value(
            "" if item is None else item, value_type, f"{path}{key_path(key)}"
        )
        if not isinstance(value_type, inspect.UnionType) or item is not None
        else None
        for key, item in value.items()
    }


def _coerce_integer(value: Plain, lowest: float | None, highest: float | None, path: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise FieldError(
            path,
            say("field.must_be_whole", "must be a whole number, not {what}", what=describe(value)),
        )
    if (lowest is not None and value < lowest) or (highest is not None and value > highest):
        raise FieldError(path, say("field.out_of_range", "{value} is out of range", value=value))
    return value


def _coerce_timestamp(value: Plain, path: str) -> int:
    if not isinstance(value, str):
        problem = say("field.must_be_time", "must be a time, not {what}", what=_shown(value, path))
        raise FieldError(path, problem)
    try:
        return parse_timestamp(value)
    except TimestampError as error:
        raise FieldError(path, told(error)) from None


def _coerce_text(value: Plain, path: str) -> str:
    if isinstance(value, str):
        return value
    problem = say("field.must_be_text", "must be text, not {what}", what=_shown(value, path))
    if isinstance(value, bool | int | float):
        problem = say("field.needs_quotes", "{what}; put it in quotes", what=problem)
    raise FieldError(path, problem)


def key_text(key: Plain) -> str:
    """A mapping key as JSON would carry it: YAML knows numbers and booleans as keys."""
    if isinstance(key, str):
        return key
    return msgspec.json.encode(key).decode() if isinstance(key, bool | None) else str(key)


def key_path(key: Plain) -> str:
    """How a map's key stands in a field path: ``.cpu``, or ``[example.com/gpu]``."""
    text = key_text(key)
    return f".{text}" if text.isidentifier() else f"[{text}]"


def describe(value: Plain) -> str:
    """A short word for a value in a message: ``the number 5``, ``a list``."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return say("value.the_number", "the number {number}", number=str(value)[:49])
        case str():
            shown = value if len(value) <= 40 else value[:37] + "..."
            return say("value.the_text", 'the text "{text}"', text=shown)
        case list() | tuple():
            return say("value.list", "a list")
        case _:
            return say("value.object", "an object")


def kind_of(value: Plain) -> str:
    """The same without the value, for what may be secret."""
    match value:
        case str():
            return say("value.text", "text")
        case int() | float() if not isinstance(value, bool):
            return say("value.number", "a number")
        case _:
            return describe(value)


def _shown(value: Plain, path: str) -> str:
    """A value for a message about a field: scripts leave secrets in annotations."""
    return kind_of(value) if path.startswith(_PERHAPS_SECRET) else describe(value)
