"""Devices of the nodes that came nearest to taking a pod: which was refused, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

from kviz.runs.models import Run
from kviz.runs.reading.held_cycles import CannotReenact, is_quick
from kviz.runs.reading.projection import CycleDocument
from kviz.runs.reading.reenactment import devices
from scheduler_core.devices.survey import DeviceOutcome, NodeDevicesDocument

PLUGIN: Final = "DynamicResources"
NODES_SHOWN: Final = 5
DEVICES_SHOWN: Final = 8
"""Of one node; the Explorer lists all."""


NOT_REFUSED: Final = {
    each.value
    for each in (
        DeviceOutcome.GIVEN,
        DeviceOutcome.GIVEN_ELSEWHERE,
        DeviceOutcome.NOT_NEEDED,
        DeviceOutcome.USABLE,
    )
}


class Answer(TypedDict):
    """What one request makes of one device; see `scheduler_core.devices.survey.DeviceAnswer`."""

    device: str
    request: str
    refused: bool
    text: str
    expression: str
    values: dict[str, str | None]


class NearNode(TypedDict):
    """A near miss. `pools` give no devices, each with the reason; `n_more` are not shown."""

    node: str
    rejection: str
    pools: list[str]
    answers: list[Answer]
    n_more: int


def near_devices(
    *, run: Run, recorded: CycleDocument, nodes: Sequence[str]
) -> list[NearNode] | None:
    """Return the devices of `nodes` that the pod's claims reject, the first few, in their order.

    None if that takes longer than a page may, or the cycle cannot be re-enacted.
    """
    if not is_quick(recorded):
        return None
    try:
        return [_near(run, recorded, node) for node in nodes[:NODES_SHOWN]]
    except CannotReenact:
        return None


def _near(run: Run, recorded: CycleDocument, node: str) -> NearNode:
    surveyed = devices(run=run, recorded=recorded, node=node)["nodes"]
    if not surveyed:
        return {"node": node, "rejection": "", "pools": [], "answers": [], "n_more": 0}
    found: NodeDevicesDocument = surveyed[0]
    return {
        "node": node,
        "rejection": found["rejection"],
        "pools": found["pools"],
        "answers": _answers(found),
        "n_more": max(0, len(found["devices"]) - DEVICES_SHOWN),
    }


def _answers(found: NodeDevicesDocument) -> list[Answer]:
    return [
        {
            "device": device["id"],
            "request": answer["request"],
            "refused": answer["outcome"] not in NOT_REFUSED,
            "text": answer["text"],
            "expression": answer["expression"],
            "values": answer["values"],
        }
        for device in found["devices"][:DEVICES_SHOWN]
        for answer in device["answers"]
    ]
