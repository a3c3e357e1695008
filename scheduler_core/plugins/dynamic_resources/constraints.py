"""Attributes that the devices of a claim must share, or must not.

Upstream: v1.36 structured/internal/incubating/{allocator_incubating,constraint}.go. As there, a
distinct attribute remembers one value per request up to v1.36, and each device's from v1.37 on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Protocol

from scheduler_core.api import DeviceAttribute, DeviceConstraint
from scheduler_core.devices.slices import SliceDevice
from scheduler_core.plugins.dynamic_resources.requests import Request

Value = tuple[str, int | bool | str]
"""The kind of an attribute and its value."""


class Constraint(Protocol):
    def add(self, request: Request, device: SliceDevice) -> bool:
        """Count a device in, if it may be."""

    def remove(self, request: Request, device: SliceDevice) -> None:
        """Take back a device that was counted in."""


def constraint_of(given: DeviceConstraint, *, among_all: bool) -> Constraint | None:
    """Return what checks a constraint; None for one of an unknown kind."""
    if given.match_attribute is not None:
        return MatchAttribute(given.requests, given.match_attribute)
    if given.distinct_attribute is not None:
        kind = DistinctAmongAll if among_all else DistinctAttribute
        return kind(given.requests, given.distinct_attribute)
    return None


class _OfAttribute(ABC):
    """All devices have the attribute, with values that go together."""

    def __init__(self, requests: Sequence[str], attribute: str) -> None:
        self._requests = frozenset(requests)
        self._attribute = attribute

    def add(self, request: Request, device: SliceDevice) -> bool:
        if not concerns(self._requests, request):
            return True
        attribute = find_attribute(device, self._attribute)
        return attribute is not None and self._admit(request, _value(attribute))

    def remove(self, request: Request, device: SliceDevice) -> None:
        if concerns(self._requests, request):
            self._forget(request)

    @abstractmethod
    def _admit(self, request: Request, value: Value | None) -> bool:
        """Count a value in, if it goes with the others; the first one does, whatever it is."""

    @abstractmethod
    def _forget(self, request: Request) -> None:
        """Take back the value that was counted in last."""


class MatchAttribute(_OfAttribute):
    """All devices have the same value."""

    _value: Value | None = None
    _n_devices = 0

    def _admit(self, request: Request, value: Value | None) -> bool:
        if self._n_devices == 0:
            self._value = value
        elif value is None or value != self._value:
            return False
        self._n_devices += 1
        return True

    def _forget(self, request: Request) -> None:
        self._n_devices -= 1


class DistinctAttribute(_OfAttribute):
    """Each device has a value that those of other requests have not."""

    def __init__(self, requests: Sequence[str], attribute: str) -> None:
        super().__init__(requests, attribute)
        self._values: dict[str, Value | None] = {}
        self._n_devices = 0

    def _admit(self, request: Request, value: Value | None) -> bool:
        if self._n_devices and self._values and (value is None or value in self._values.values()):
            return False
        self._values[request.base_name] = value
        self._n_devices += 1
        return True

    def _forget(self, request: Request) -> None:
        self._values.pop(request.base_name, None)
        self._n_devices -= 1


class DistinctAmongAll(_OfAttribute):
    """Each device has a value that no other has."""

    def __init__(self, requests: Sequence[str], attribute: str) -> None:
        super().__init__(requests, attribute)
        self._values: list[Value | None] = []

    def _admit(self, request: Request, value: Value | None) -> bool:
        if self._values and (value is None or value in self._values):
            return False
        self._values.append(value)
        return True

    def _forget(self, request: Request) -> None:
        self._values.pop()


def concerns(requests: Collection[str], request: Request) -> bool:
    """Tell whether a constraint is about a request; one that names none is about all."""
    return not requests or request.base_name in requests or request.full_name in requests


def find_attribute(device: SliceDevice, name: str) -> DeviceAttribute | None:
    """Return a device's attribute by its full name; the driver's own go without its domain."""
    attributes = device.device.attributes
    found = attributes.get(name)
    if found is not None:
        return found
    domain, slash, identifier = name.partition("/")
    return attributes.get(identifier) if slash and domain == device.id.driver else None


def _value(attribute: DeviceAttribute) -> Value | None:
    """Return an attribute's one value; versions compare as text, lists not at all."""
    if attribute.string_value is not None:
        return "string", attribute.string_value
    if attribute.int_value is not None:
        return "int", attribute.int_value
    if attribute.bool_value is not None:
        return "bool", attribute.bool_value
    if attribute.version_value is not None:
        return "version", attribute.version_value
    return None
