"""CEL expressions that select devices.

The runtime is loaded when the first expression is compiled (`cel_environment.py`); few clusters
have any. What kviz lacks of the language is `UNKNOWN_FUNCTIONS`.

Upstream: v1.36 staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from scheduler_core.devices import cel_values

if TYPE_CHECKING:
    from scheduler_core.devices.cel_environment import Expression

MAX_COMPILED: Final = 1024

UNKNOWN_FUNCTIONS: Final = frozenset(
    {
        *("find", "findAll", "isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"),
        *("url", "isURL", "ip", "isIP", "cidr", "isCIDR", "format", "validate"),
        *("sets.contains", "sets.equivalent", "sets.intersects"),
        *("transformList", "transformMap", "transformMapEntry", "existsOne"),
        *("flatten", "slice", "sort", "sortBy", "distinct", "range", "lists.range"),
    }
)
"""Functions that selectors may call in a cluster, and here may not."""

_CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
_TEXT = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_MISSING_KEY = re.compile(r'Key not found in map : "(.*)"', re.DOTALL)
_UNDEFINED_FIELD = re.compile(r"undeclared reference to 'device\.(\w+)' \(in container ''\)")
_BARE_DEVICE = "undeclared reference to 'device' "


@dataclass(frozen=True, slots=True)
class CelProblem:
    """Why an expression cannot be compiled or has no answer, as upstream puts it."""

    text: str


@dataclass(frozen=True, slots=True)
class DeviceVariables:
    """A device as expressions see it: attributes and capacities by domain and name."""

    driver: str
    allow_multiple_allocations: bool
    attributes: Mapping[str, Mapping[str, object]]
    capacity: Mapping[str, Mapping[str, object]]


class Selector:
    """A compiled expression."""

    def __init__(self, expression: Expression, whole: bool) -> None:
        self._expression = expression
        self._whole = whole

    def matches(self, device: DeviceVariables) -> bool | CelProblem:
        """Evaluate the expression; looking up an unknown domain gives an empty map."""
        attributes, capacity = dict(device.attributes), dict(device.capacity)
        while True:
            try:
                value = self._expression.eval(data=self._data(device, attributes, capacity))
            except RuntimeError as error:  # the runtime's way to give up
                return CelProblem(_in_upstream_words(str(error), None))
            answer = value.plain_value()
            if isinstance(answer, bool):
                return answer
            if value.type().name() != "ERROR":
                return CelProblem(_not_bool(value.type().name()))
            missing = _MISSING_KEY.search(str(answer))
            if missing is None or (missing[1] in attributes and missing[1] in capacity):
                return CelProblem(_in_upstream_words(str(answer), missing))
            # It is not known which map lacked the key: an attribute may have a domain's name.
            attributes.setdefault(missing[1], {})
            capacity.setdefault(missing[1], {})

    def _data(
        self,
        device: DeviceVariables,
        attributes: Mapping[str, Mapping[str, object]],
        capacity: Mapping[str, Mapping[str, object]],
    ) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "driver": device.driver,
            "allowMultipleAllocations": device.allow_multiple_allocations,
            "attributes": attributes,
            "capacity": capacity,
        }
        if self._whole:
            return {"device": fields}
        return {f"device.{name}": value for name, value in fields.items()}


@lru_cache(maxsize=MAX_COMPILED)
def compile_selector(expression: str) -> Selector | CelProblem:
    """Compile an expression that must come to a boolean."""
    from scheduler_core.devices.cel_environment import environment

    try:
        compiled, whole = environment(whole=False).compile(expression), False
    except RuntimeError as error:
        if _BARE_DEVICE not in str(error):
            return _compile_problem(str(error))
        try:
            compiled, whole = environment(whole=True).compile(expression), True
        except RuntimeError as again:
            return _compile_problem(str(again))
    kind = compiled.return_type().name()
    if kind not in ("BOOL", "DYN"):
        shown = kind.lower().replace("dyn", "any")
        return CelProblem(f"must evaluate to bool or the unknown type, not {shown}")
    return Selector(compiled, whole)


def unknown_functions(expression: str) -> list[str]:
    """Return the functions an expression calls that a cluster has and kviz lacks."""
    called = _CALL.findall(_TEXT.sub('""', expression))
    names = {name if name in UNKNOWN_FUNCTIONS else name.rpartition(".")[2] for name in called}
    return sorted(names & UNKNOWN_FUNCTIONS)


def _compile_problem(text: str) -> CelProblem:
    text = text.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    text = _UNDEFINED_FIELD.sub(r"undefined field '\1'", text).replace("(dyn", "(any")
    return CelProblem(f"compilation failed: {text}")


def _in_upstream_words(text: str, missing: re.Match[str] | None) -> str:
    if missing is not None:
        return f"no such key: {missing[1]}"
    kind, _, message = text.partition(": ")
    if "No matching overloads found" in message:
        return cel_values.NO_SUCH_OVERLOAD
    if "Iteration budget exceeded" in message:
        return "operation cancelled: actual cost limit exceeded"
    index = re.fullmatch(r"Index error: index=(-?\d+) size=\d+", message)
    if index is not None:
        return f"index out of bounds: {index[1]}"
    return {"divide by zero": "division by zero"}.get(message, message or kind)


def _not_bool(kind: str) -> str:
    name = kind.lower()
    if kind == "INT":
        return (
            "CEL result of type int could not be converted to bool: "
            "unsupported type conversion from 'int' to bool"
        )
    return (
        f"CEL result of type {name} could not be converted to bool: "
        f"unsupported native conversion from {name} to 'bool'"
    )
