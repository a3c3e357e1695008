"""Devices and requests for them as text: values as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from scheduler_core.api import (
    CELDeviceSelector,
    DeviceAttribute,
    DeviceConstraint,
    DeviceSelector,
    DeviceTaint,
    DeviceToleration,
    NodeSelector,
    NodeSelectorRequirement,
    ResourceClaim,
)
from scheduler_core.api.quantity import Quantity
from scheduler_core.devices.allocated import device_of
from scheduler_core.devices.amounts import NANO_EXPONENT
from scheduler_core.devices.inventory import Devices
from scheduler_core.devices.slices import SliceDevice
from scheduler_core.devices.survey import SurveyedClaim, SurveyedRequest
from scheduler_core.plugins.dynamic_resources.requests import Request, alternatives
from scheduler_core.wording import AND, OR, say, series

_NAME: Final = r"""(?:\.\??(\w+)|\[\??\s*["']([^"']+)["']\s*\])"""
_DOMAIN: Final = r"""\[\??\s*["']([^"']+)["']\s*\]"""
_MENTIONED: Final = re.compile(rf"device\.(attributes|capacity)\s*{_DOMAIN}\s*{_NAME}")
_FIELDS: Final = ("driver", "allowMultipleAllocations")


def attribute_text(attribute: DeviceAttribute) -> str:
    """Return the value of an attribute as a manifest would have it."""
    if attribute.bool_value is not None:
        return "true" if attribute.bool_value else "false"
    one = (attribute.int_value, attribute.string_value, attribute.version_value)
    for value in one:
        if value is not None:
            return str(value)
    several: Sequence[object] = (
        attribute.int_values
        or attribute.bool_values
        or attribute.string_values
        or attribute.version_values
    )
    return f"[{', '.join(map(str, several))}]"


def taint_text(taint: DeviceTaint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else _keyed(taint)


def _keyed(taint: DeviceTaint) -> str:
    return f"{taint.key}:{taint.effect}"


def toleration_text(toleration: DeviceToleration) -> str:
    what = toleration.key or say("device.every_key", "every key")
    if toleration.operator != "Exists":
        what = say("device.key_value", "{key}={value}", key=what, value=toleration.value)
    return (
        say("device.taint_effect", "{what}:{effect}", what=what, effect=toleration.effect)
        if toleration.effect
        else what
    )


def nano_text(amount_nano: int, like: str) -> str:
    """Return billionths as a quantity, binary where that reads better (`like` is such a one)."""
    if like.endswith("i"):
        return Quantity(amount_nano, NANO_EXPONENT, "BinarySI").canonical()
    return Quantity(amount_nano, NANO_EXPONENT, "DecimalSI").canonical()


def mentioned_values(
    expression: str, device: SliceDevice, *, shareable: bool
) -> dict[str, str | None]:
    """Return what a device has for what an expression mentions, None for what it lacks."""
    found: dict[str, str | None] = {}
    fields = {
        "driver": device.id.driver,
        "allowMultipleAllocations": "true" if shareable else "false",
    }
    for name in _FIELDS:
        if re.search(rf"\bdevice\.{name}\b", expression):
            found[name] = fields[name]
    for match in _MENTIONED.finditer(expression):
        kind, domain, name = match[1], match[2], match[3] or match[4]
        found[f"{domain}/{name}"] = _value(kind, domain, name, device)
    return found


def _value(kind: str, domain: str, name: str, device: SliceDevice) -> str | None:
    names = (f"{domain}/{name}", *((name,) if domain == device.id.driver else ()))
    for each in names:
        if kind == "attributes" and each in device.device.attributes:
            return attribute_text(device.device.attributes[each])
        if kind == "capacity" and each in device.device.capacity:
            return device.device.capacity[each].value
    return None


# ---------------------------------------------------------------- claims


def surveyed_claim(claim: ResourceClaim, devices: Devices) -> SurveyedClaim:
    """Return what a claim asks for, or has."""
    spec, allocation = claim.spec.devices, claim.status.allocation
    requests = [each for given in spec.requests for each in alternatives(given)]
    return SurveyedClaim(
        claim=claim.key,
        requests=tuple(_surveyed_request(each, devices) for each in requests),
        constraints=tuple(map(constraint_text, spec.constraints)),
        devices=tuple(map(device_of, allocation.devices.results)) if allocation else (),
        usable_on=_place(allocation.node_selector) if allocation else "",
    )


def _surveyed_request(request: Request, devices: Devices) -> SurveyedRequest:
    device_class = devices.device_class(request.class_name)
    of_class: Iterable[DeviceSelector] = device_class.spec.selectors if device_class else ()
    return SurveyedRequest(
        name=request.full_name,
        class_name=request.class_name,
        count=0 if request.wants_all else request.count,
        selectors=_expressions(request.selectors),
        class_selectors=_expressions(of_class),
        tolerations=tuple(map(toleration_text, request.tolerations)),
        capacity=dict(request.capacity or {}),
        admin_access=request.admin_access,
    )


def _expressions(selectors: Iterable[DeviceSelector]) -> tuple[str, ...]:
    return tuple((each.cel or CELDeviceSelector()).expression for each in selectors)


def constraint_text(constraint: DeviceConstraint) -> str:
    text = say("device.unknown_kind", "of an unknown kind")
    if constraint.match_attribute is not None:
        text = say(
            "device.same_attribute", "the same {attribute}", attribute=constraint.match_attribute
        )
    elif constraint.distinct_attribute is not None:
        text = say(
            "device.distinct_attribute",
            "a different {attribute} each",
            attribute=constraint.distinct_attribute,
        )
    if not constraint.requests:
        return text
    return say(
        "device.of_requests",
        "{what} (requests {requests})",
        what=text,
        requests=series(constraint.requests),
    )


def _place(selector: NodeSelector | None) -> str:
    if selector is None:
        return ""
    terms = (
        series(map(_requirement, (*term.match_fields, *term.match_expressions)), AND)
        for term in selector.node_selector_terms
    )
    return series(terms, OR)


def _requirement(requirement: NodeSelectorRequirement) -> str:
    values = ", ".join(requirement.values)
    return f"{requirement.key} {requirement.operator} {values}".rstrip()
