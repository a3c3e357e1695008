"""CEL expressions that select devices.

The one place that knows the CEL runtime (`cel-expr-python`, a wrapper of Google's in C++). What
Kubernetes adds to the language is in `cel_values.py`; what kviz lacks of it is `UNKNOWN_FUNCTIONS`.

Upstream: v1.36 staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

from scheduler_core.devices import cel_values

MAX_LIST_VALUES: Final = 48
"""So many values may all list attributes of a device have (ResourceSliceMaxAttributeValues)."""

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

_Type = cel.Type
_MAPS = _Type.Map(_Type.STRING, _Type.Map(_Type.STRING, _Type.DYN))
_FIELDS: Final = {
    "device.driver": _Type.STRING,
    "device.allowMultipleAllocations": _Type.BOOL,
    "device.attributes": _MAPS,
    "device.capacity": _Type.Map(_Type.STRING, _Type.Map(_Type.STRING, _Type.MAP)),
}


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

    def __init__(self, expression: cel.Expression, whole: bool) -> None:
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
    try:
        compiled, whole = _environment(whole=False).compile(expression), False
    except RuntimeError as error:
        if _BARE_DEVICE not in str(error):
            return _compile_problem(str(error))
        try:
            compiled, whole = _environment(whole=True).compile(expression), True
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


# ---------------------------------------------------------------- the environment


@cache
def _environment(*, whole: bool) -> cel.Env:
    """Return the declarations; `whole` for expressions that name the device as such.

    Its fields are variables of their own, so that their types are checked; for the others it is a
    map, of which nothing is known.
    """
    variables = {"device": _Type.Map(_Type.STRING, _Type.DYN)} if whole else _FIELDS
    extensions = [
        ext_bindings.ExtBindings(),
        ext_optional.ExtOptional(),
        ext_strings.ExtStrings(),
        cel.CelExtension("kubernetes", _functions()),
    ]
    return cel.NewEnv(variables=variables, extensions=extensions)


def _functions() -> list[cel.FunctionDecl]:
    """Declare what Kubernetes adds; a quantity or version is a map to the runtime."""
    text, number, truth, value = _Type.STRING, _Type.INT, _Type.BOOL, _Type.MAP
    values = cel_values
    return [
        _function("quantity", value, ([text], values.quantity)),
        _function("isQuantity", truth, ([text], values.is_quantity)),
        _function("sign", number, ([value], values.sign)),
        _method("isInteger", truth, ([value], values.is_integer)),
        _method("asInteger", number, ([value], values.as_integer)),
        _method("asApproximateFloat", _Type.DOUBLE, ([value], values.as_approximate_float)),
        _method("add", value, ([value, value], values.add), ([value, number], values.add_integer)),
        _method("sub", value, ([value, value], values.sub), ([value, number], values.sub_integer)),
        _function("semver", value, ([text], values.semver), ([text, truth], _semver_normalized)),
        _function("isSemver", truth, ([text], values.is_semver), ([text, truth], _is_semver)),
        _method("major", number, ([value], values.major)),
        _method("minor", number, ([value], values.minor)),
        _method("patch", number, ([value], values.patch)),
        _method("isGreaterThan", truth, ([value, value], values.is_greater_than)),
        _method("isLessThan", truth, ([value, value], values.is_less_than)),
        _method("compareTo", number, ([value, value], values.compare_to)),
        _method("includes", truth, ([_Type.DYN, _Type.DYN], _includes)),
    ]


_Overload = tuple[list[cel.Type], Callable[..., Any]]


def _function(name: str, returns: cel.Type, *overloads: _Overload) -> cel.FunctionDecl:
    return _declared(name, returns, overloads, member=False)


def _method(name: str, returns: cel.Type, *overloads: _Overload) -> cel.FunctionDecl:
    return _declared(name, returns, overloads, member=True)


def _declared(
    name: str, returns: cel.Type, overloads: tuple[_Overload, ...], *, member: bool
) -> cel.FunctionDecl:
    return cel.FunctionDecl(
        name,
        [
            cel.Overload(
                f"kubernetes_{name}_{i}",
                return_type=returns,
                parameters=parameters,
                is_member=member,
                impl=impl,
            )
            for i, (parameters, impl) in enumerate(overloads)
        ],
    )


def _semver_normalized(text: str, normalize: bool) -> cel_values.CelMap:
    return cel_values.semver_normalized(text, normalize)


def _is_semver(text: str, normalize: bool) -> bool:
    return cel_values.is_semver_normalized(text, normalize)


def _includes(target: object, value: object) -> bool:
    """Tell whether a list has the value, or is the value if it is no list."""
    if not isinstance(target, list):
        return _equal(target, value)
    if len(target) > MAX_LIST_VALUES:
        what = f"longer than {MAX_LIST_VALUES} values"
        raise ValueError(f"'includes' function cannot be applied to lists {what}")
    return any(_equal(each, value) for each in target)


def _equal(one: object, other: object) -> bool:
    """Compare as CEL does, to which true is not 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other
