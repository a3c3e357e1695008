"""What a selector says of a device.

Upstream: v1.36 dynamic-resource-allocation/cel/compile.go (DeviceMatches).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scheduler_core.api import (
    Device,
    DeviceAttribute,
    DeviceClaim,
    DeviceClass,
    DeviceSelector,
    KubeObject,
    ResourceClaim,
    ResourceClaimTemplate,
)
from scheduler_core.devices import cel_values
from scheduler_core.devices.amounts import nano
from scheduler_core.devices.cel import CelProblem, DeviceVariables, compile_selector


def evaluate(
    expression: str, device: Device, driver: str, *, shareable: bool, lists: bool
) -> bool | CelProblem:
    """Return whether the device is selected, or the error that the expression ends in.

    `shareable` is what the expression sees of `allowMultipleAllocations`; without `lists` an
    attribute that is a list has no value.
    """
    selector = compile_selector(expression)
    if isinstance(selector, CelProblem):
        return CelProblem(f"CEL compile error: {selector.text}")
    variables = _variables(device, driver, shareable, lists)
    answer = variables if isinstance(variables, CelProblem) else selector.matches(variables)
    if isinstance(answer, CelProblem):
        return CelProblem(f"CEL runtime error: {answer.text}")
    return answer


def _variables(
    device: Device, driver: str, shareable: bool, lists: bool
) -> DeviceVariables | CelProblem:
    values: list[tuple[str, object]] = []
    for name, attribute in sorted(device.attributes.items()):
        value = _value(attribute, lists)
        if isinstance(value, CelProblem):
            return CelProblem(f"attribute {name}: {value.text}")
        values.append((name, value))
    capacity = (
        (name, cel_values.quantity_of_nano(nano(each.value)))
        for name, each in device.capacity.items()
    )
    return DeviceVariables(
        driver,
        shareable,
        _by_domain(values, driver),
        _by_domain(capacity, driver),
    )


def _value(attribute: DeviceAttribute, lists: bool) -> object:
    """Return the one value of an attribute."""
    if lists and (several := _values(attribute)):
        return several
    if attribute.int_value is not None:
        return attribute.int_value
    if attribute.bool_value is not None:
        return attribute.bool_value
    if attribute.string_value is not None:
        return attribute.string_value
    if attribute.version_value is None:
        return CelProblem("unsupported attribute value")
    return _version(attribute.version_value)


def _values(attribute: DeviceAttribute) -> list[object] | CelProblem:
    """Return the values of an attribute that is a list, none of others."""
    plain: Sequence[object] = (
        attribute.int_values or attribute.bool_values or attribute.string_values
    )
    if plain:
        return list(plain)
    versions = [_version(each) for each in attribute.version_values]
    return next((each for each in versions if isinstance(each, CelProblem)), versions)


def _version(text: str) -> object:
    try:
        return cel_values.semver(text)
    except ValueError as error:
        return CelProblem(f"parse semantic version: {error}")


def _by_domain(values: Iterable[tuple[str, object]], driver: str) -> dict[str, dict[str, object]]:
    """Sort values by the domain before the slash; the driver's where there is none."""
    domains: dict[str, dict[str, object]] = {}
    for name, value in values:
        domain, slash, identifier = name.partition("/")
        if not slash:
            domain, identifier = driver, name
        domains.setdefault(domain, {})[identifier] = value
    return domains


def expressions_of(item: KubeObject) -> Iterator[str]:
    """Yield the expressions by which a class, a claim or a template of claims selects devices."""
    selectors: list[DeviceSelector] = []
    match item:
        case DeviceClass(spec=spec):
            selectors += spec.selectors
        case ResourceClaim(spec=claim_spec):
            selectors += _selectors_of(claim_spec.devices)
        case ResourceClaimTemplate(spec=template):
            selectors += _selectors_of(template.spec.devices)
        case _:
            pass
    return (selector.cel.expression for selector in selectors if selector.cel is not None)


def _selectors_of(claim: DeviceClaim) -> Iterator[DeviceSelector]:
    for request in claim.requests:
        if request.exactly is not None:
            yield from request.exactly.selectors
        for alternative in request.first_available:
            yield from alternative.selectors
