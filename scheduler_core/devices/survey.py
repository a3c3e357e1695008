"""Which devices there are, who holds them, and what became of each when a pod asked for some.

Values only; `plugins/dynamic_resources/surveying.py` finds them out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypedDict

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.devices.slices import DeviceId


class DeviceOutcome(Enum):
    """What a request makes of a device, the first check that refuses it before others."""

    GIVEN = "given"
    NOT_NEEDED = "not_needed"
    USABLE = "usable"
    """Nothing speaks against it alone; the claims as a whole cannot be served on the node."""
    IN_USE = "in_use"
    GIVEN_ELSEWHERE = "given_elsewhere"
    """This attempt gives it to another request of the pod."""
    BINDING_CONDITIONS = "binding_conditions"
    SELECTOR = "selector"
    SELECTOR_ERROR = "selector_error"
    OTHER_NODE = "other_node"
    CAPACITY = "capacity"
    COUNTERS = "counters"
    TAINT = "taint"
    CONSTRAINT = "constraint"


@dataclass(frozen=True, slots=True)
class Holder:
    """A claim that has a device, and the pods it is reserved for (`namespace/name`).

    `pending`: Reserve keeps the device, the claim does not say so yet. Of a device that several
    claims share, `consumed` is what this one takes of its capacities.
    """

    claim: str
    pods: tuple[str, ...] = ()
    pending: bool = False
    admin_access: bool = False
    consumed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SurveyedDevice:
    """A device as its slice has it; attributes, capacities and taints as text."""

    id: DeviceId
    slice: str
    attributes: Mapping[str, str]
    capacity: Mapping[str, str]
    taints: tuple[str, ...]
    shareable: bool
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class DeviceAnswer:
    """What a request of a claim makes of a device.

    `text` says why with values. A selector's answer has its `expression` and the `values` that
    the device has for what the expression mentions, None for what it lacks.
    """

    claim: str
    request: str
    outcome: DeviceOutcome
    text: str
    expression: str = ""
    values: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SurveyedRequest:
    """A request, or one alternative of a prioritised list (`parent/name`).

    `count` is 0 for all devices that match.
    """

    name: str
    class_name: str
    count: int
    selectors: tuple[str, ...]
    class_selectors: tuple[str, ...]
    tolerations: tuple[str, ...]
    capacity: Mapping[str, str]
    admin_access: bool


@dataclass(frozen=True, slots=True)
class SurveyedClaim:
    """A claim of the pod. One that has devices already (`devices`) asks for no more.

    `usable_on` says where those can be used, empty for everywhere.
    """

    claim: str
    requests: tuple[SurveyedRequest, ...]
    constraints: tuple[str, ...] = ()
    devices: tuple[DeviceId, ...] = ()
    usable_on: str = ""


@dataclass(frozen=True, slots=True)
class NodeDevices:
    """The devices that can be used on a node, in the order in which they are tried.

    `rejection` is what the plugin's Filter says of the node, empty if it passes; `pools` are
    those that give no devices, each with the reason.
    """

    node: str
    rejection: str
    devices: Mapping[DeviceId, Sequence[DeviceAnswer]]
    pools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceSurvey:
    """`problem` says why no node had to be looked at for the claims, empty if they were.

    `nodes` are those that have devices, or pools without.
    """

    claims: Sequence[SurveyedClaim] = ()
    devices: Mapping[DeviceId, SurveyedDevice] = field(default_factory=dict)
    nodes: Sequence[NodeDevices] = ()
    problem: str = ""


class SurveysDevices(ABC):
    """A plugin that can say what became of each device."""

    __slots__ = ()

    @abstractmethod
    def survey(self, pod: PodInfo, nodes: Nodes) -> DeviceSurvey:
        """Ask again for the devices of a pod's claims on all `nodes`, and say what each is worth.

        Changes nothing that an attempt could see.
        """


# ---------------------------------------------------------------- for scripts and screens


class HolderDocument(TypedDict):
    claim: str
    pods: list[str]
    pending: bool
    admin_access: bool
    consumed: dict[str, str]


class DeviceDocument(TypedDict):
    device: str
    driver: str
    pool: str
    slice: str
    attributes: dict[str, str]
    capacity: dict[str, str]
    taints: list[str]
    shareable: bool
    held_by: list[HolderDocument]


class AnswerDocument(TypedDict):
    claim: str
    request: str
    outcome: str
    text: str
    expression: str
    values: dict[str, str | None]


class DeviceOnNodeDocument(TypedDict):
    """`id` is the device's key in `devices`, `driver/pool/device`."""

    id: str
    answers: list[AnswerDocument]


class NodeDevicesDocument(TypedDict):
    node: str
    rejection: str
    pools: list[str]
    devices: list[DeviceOnNodeDocument]


class RequestDocument(TypedDict):
    name: str
    device_class: str
    count: int
    selectors: list[str]
    class_selectors: list[str]
    tolerations: list[str]
    capacity: dict[str, str]
    admin_access: bool


class ClaimDocument(TypedDict):
    claim: str
    requests: list[RequestDocument]
    constraints: list[str]
    devices: list[str]
    usable_on: str


class SurveyDocument(TypedDict):
    problem: str
    claims: list[ClaimDocument]
    devices: dict[str, DeviceDocument]
    nodes: list[NodeDevicesDocument]


def survey_document(survey: DeviceSurvey) -> SurveyDocument:
    """Return a survey as JSON-able values."""
    return {
        "problem": survey.problem,
        "claims": [_claim(each) for each in survey.claims],
        "devices": {str(device): _device(each) for device, each in survey.devices.items()},
        "nodes": [
            {
                "node": node.node,
                "rejection": node.rejection,
                "pools": list(node.pools),
                "devices": [
                    {"id": str(device), "answers": [_answer(each) for each in answers]}
                    for device, answers in node.devices.items()
                ],
            }
            for node in survey.nodes
        ],
    }


def _claim(claim: SurveyedClaim) -> ClaimDocument:
    return {
        "claim": claim.claim,
        "requests": [
            {
                "name": request.name,
                "device_class": request.class_name,
                "count": request.count,
                "selectors": list(request.selectors),
                "class_selectors": list(request.class_selectors),
                "tolerations": list(request.tolerations),
                "capacity": dict(request.capacity),
                "admin_access": request.admin_access,
            }
            for request in claim.requests
        ],
        "constraints": list(claim.constraints),
        "devices": list(map(str, claim.devices)),
        "usable_on": claim.usable_on,
    }


def _device(device: SurveyedDevice) -> DeviceDocument:
    return {
        "device": device.id.device,
        "driver": device.id.driver,
        "pool": device.id.pool,
        "slice": device.slice,
        "attributes": dict(device.attributes),
        "capacity": dict(device.capacity),
        "taints": list(device.taints),
        "shareable": device.shareable,
        "held_by": [
            {
                "claim": holder.claim,
                "pods": list(holder.pods),
                "pending": holder.pending,
                "admin_access": holder.admin_access,
                "consumed": dict(holder.consumed),
            }
            for holder in device.holders
        ],
    }


def _answer(answer: DeviceAnswer) -> AnswerDocument:
    return {
        "claim": answer.claim,
        "request": answer.request,
        "outcome": answer.outcome.value,
        "text": answer.text,
        "expression": answer.expression,
        "values": dict(answer.values),
    }
