"""What CEL expressions are compiled in: the language, its libraries, what Kubernetes adds.

The one place that knows the CEL runtime (`cel-expr-python`, a wrapper of Google's in C++). The
functions that Kubernetes adds are in `cel_values.py`.

Upstream: v1.36 staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

from scheduler_core.devices import cel_values

Expression = cel.Expression

MAX_LIST_VALUES: Final = 48
"""So many values may all list attributes of a device have (ResourceSliceMaxAttributeValues)."""

_Type = cel.Type
_MAPS = _Type.Map(_Type.STRING, _Type.Map(_Type.STRING, _Type.DYN))
_FIELDS: Final = {
    "device.driver": _Type.STRING,
    "device.allowMultipleAllocations": _Type.BOOL,
    "device.attributes": _MAPS,
    "device.capacity": _Type.Map(_Type.STRING, _Type.Map(_Type.STRING, _Type.MAP)),
}


@cache
def environment(*, whole: bool) -> cel.Env:
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
