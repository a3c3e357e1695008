"""Strict decoding of a JSON value into a struct, with every problem instead of the first.

`null` means absent, and an absent field has the struct's default. Anything else that does not
fit (an unknown field, a wrong type, a number out of range) is a problem.

Upstream: v1.36 sigs.k8s.io/json with strict decoding.
"""

from __future__ import annotations

import base64
import binascii
import math
from difflib import get_close_matches
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec import inspect

from scheduler_core.config.duration import parse_duration
from scheduler_core.config.problems import Path, Problem
from scheduler_core.config.types import JsonValue
from scheduler_core.wording import say

_StructT = TypeVar("_StructT", bound=msgspec.Struct)
_INT32_MAX = 2**31 - 1


def decode(
    value: JsonValue, into: type[_StructT], path: Path, problems: list[Problem]
) -> _StructT | None:
    """The struct, or None after adding to `problems`. `path` is where the value stands."""
    known = len(problems)
    cleaned = _Cleaner(problems).clean(value, _schema(into), path)
    if len(problems) > known:
        return None
    return msgspec.convert(cleaned, into)


@lru_cache(maxsize=64)
def _schema(of: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(of)


class _Cleaner:
    """Checks a value against a type and drops its nulls, so that `msgspec.convert` accepts it."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def clean(self, value: JsonValue, wanted: inspect.Type, path: Path) -> object:
        match wanted:
            case inspect.UnionType():
                return None if value is None else self.clean(value, _member(wanted), path)
            case inspect.Metadata():
                return self._duration(value, path)
            case inspect.StructType():
                return self._struct(value, wanted, path)
            case inspect.DictType():
                return self._dict(value, wanted, path)
            case inspect.VarTupleType():
                return self._list(value, wanted, path)
            case inspect.CustomType():
                return value
            case _:
                return self._scalar(value, wanted, path)

    def _struct(self, value: JsonValue, wanted: inspect.StructType, path: Path) -> object:
        if value is None:
            return {}
        if not isinstance(value, dict):
            return self._mismatch(say("value.mapping", "a mapping"), value, path)
        fields = {field.encode_name: field for field in wanted.fields}
        cleaned: dict[str, object] = {}
        for name, item in value.items():
            here = (*path, name)
            field = fields.get(name)
            if field is None:
                self._problems.append(Problem(here, _unknown_field(name, list(fields))))
            elif item is not None:
                cleaned[name] = self.clean(item, field.type, here)
        return cleaned

    def _dict(self, value: JsonValue, wanted: inspect.DictType, path: Path) -> object:
        if not isinstance(value, dict):
            return self._mismatch(say("value.mapping", "a mapping"), value, path)
        return {
            name: self.clean(item, wanted.value_type, (*path, name)) for name, item in value.items()
        }

    def _list(self, value: JsonValue, wanted: inspect.VarTupleType, path: Path) -> object:
        if not isinstance(value, list):
            return self._mismatch(say("value.list", "a list"), value, path)
        return [
            self.clean(item, wanted.item_type, (*path, index)) for index, item in enumerate(value)
        ]

    def _scalar(self, value: JsonValue, wanted: inspect.Type, path: Path) -> object:
        match wanted:
            case inspect.IntType():
                return self._integer(value, wanted, path)
            case inspect.FloatType():
                return self._float(value, path)
            case inspect.BoolType():
                if isinstance(value, bool):
                    return value
                return self._mismatch(say("value.bool", "true or false"), value, path)
            case inspect.StrType():
                # Only as an element of a list or map: elsewhere null means absent.
                if value is None or isinstance(value, str):
                    return value or ""
                return self._mismatch(say("value.string", "a string"), value, path)
            case inspect.BytesType():
                return self._base64(value, path)
            case _:
                raise TypeError(f"no way to decode {wanted}")

    def _integer(self, value: JsonValue, wanted: inspect.IntType, path: Path) -> object:
        if isinstance(value, bool) or not isinstance(value, int):
            return self._mismatch(say("value.integer", "an integer"), value, path)
        bits = 32 if wanted.le == _INT32_MAX else 64
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            text = say(
                "config.number_too_large",
                "number {number} does not fit into int{bits}",
                number=value,
                bits=bits,
            )
            self._problems.append(Problem(path, text))
        return value

    def _float(self, value: JsonValue, path: Path) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self._mismatch(say("value.number", "a number"), value, path)
        if not math.isfinite(value):
            self._problems.append(
                Problem(path, say("config.must_be_finite", "has to be a finite number"))
            )
        return value

    def _duration(self, value: JsonValue, path: Path) -> object:
        if not isinstance(value, str):
            return self._mismatch(say("value.duration", "a duration such as 10s"), value, path)
        try:
            return parse_duration(value)
        except ValueError as error:
            self._problems.append(Problem(path, str(error)))
            return None

    def _base64(self, value: JsonValue, path: Path) -> object:
        if not isinstance(value, str):
            return self._mismatch(say("value.base64", "base64 text"), value, path)
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            self._problems.append(Problem(path, "illegal base64 data"))
            return None

    def _mismatch(self, wanted: str, value: JsonValue, path: Path) -> object:
        text = say(
            "config.expected_got",
            "expected {wanted}, got {found}",
            wanted=wanted,
            found=_described(value),
        )
        self._problems.append(Problem(path, text))
        return None


def _member(union: inspect.UnionType) -> inspect.Type:
    """The type of an optional field besides None."""
    return next(member for member in union.types if not isinstance(member, inspect.NoneType))


def _unknown_field(name: str, fields: list[str]) -> str:
    by_lowercase = {field.lower(): field for field in fields}
    close = get_close_matches(name.lower(), list(by_lowercase), n=1)
    refused = f'unknown field "{name}"'
    if not close:
        return refused
    near = by_lowercase[close[0]]
    return say(
        "config.near_quoted", '{refused}, did you mean "{near}"?', refused=refused, near=near
    )


def _described(value: JsonValue) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            shown = value if len(value) <= 40 else value[:40] + "..."
            return say("value.the_string", 'the string "{text}"', text=shown)
        case int() | float():
            return say("value.the_number", "the number {number}", number=value)
        case list():
            return say("value.list", "a list")
        case _:
            return say("value.mapping", "a mapping")
