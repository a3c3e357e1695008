"""Devices as recordings write them down: allocations, claims, and what was made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from kviz.conformance.cases import Json
from kviz.conformance.result import CaseResult
from scheduler_core.api import (
    AllocationResult,
    DeviceRequestAllocationResult,
    KubeObject,
    ResourceClaim,
)
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.dynamic_resources.extended_resources import IN_MEMORY_NAME, NodeClaim
from scheduler_core.plugins.dynamic_resources.state import ClaimsState
from scheduler_core.sim.api_server import ApiServer

PLUGIN = DynamicResources.name


def compare_node_allocations(
    result: CaseResult, expected: Json, state: object, feasible: Sequence[str]
) -> None:
    """Compare what Filter worked out for every feasible node."""
    if "allocations" not in expected or not isinstance(state, ClaimsState):
        return
    recorded = cast(Mapping[str, Json], expected["allocations"])
    got = {name: _on_node(state, name) for name in feasible}
    got = {name: claims for name, claims in got.items() if claims}
    for name in sorted({*recorded, *got}):
        what = f"dra.allocations[{name}]"
        result.compare(what, recorded.get(name), got.get(name), PLUGIN)


def compare_unavailable(result: CaseResult, expected: Json, state: object) -> None:
    """Compare the allocated claims that some node could not use."""
    if "unavailableClaims" in expected and isinstance(state, ClaimsState):
        names = sorted(state.claims[i].key for i in state.unavailable)
        result.compare("dra.unavailableClaims", expected["unavailableClaims"], names, PLUGIN)


def compare_deallocated(
    result: CaseResult, expected: Json, before: Mapping[str, ResourceClaim], server: ApiServer
) -> None:
    """Compare which claim PostFilter deallocated: any of those that were unavailable may be it."""
    if "deallocated" not in expected:
        return
    got = [
        key
        for key, claim in before.items()
        if claim.status.allocation is not None
        and (now := server.get(ResourceClaim, key)) is not None
        and now.status.allocation is None
    ]
    allowed = cast(Sequence[str], expected.get("unavailableClaims", expected["deallocated"]))
    result.compare("dra.deallocated", True, bool(got) and set(got) <= set(allowed), PLUGIN)


def _on_node(state: ClaimsState, node_name: str) -> dict[str, object]:
    allocation = state.node_allocations.get(node_name)
    if allocation is None:
        return {}
    waiting = [claim for _, claim in state.to_allocate()]
    found: dict[str, object] = {
        _name(claim): allocation_record(given)
        for claim, given in zip(waiting, allocation.results, strict=True)
    }
    if allocation.extended is not None:
        found[f"{IN_MEMORY_NAME}.claim"] = _extended(allocation.extended)
    return found


def _name(claim: ResourceClaim) -> str:
    return IN_MEMORY_NAME if claim.name == IN_MEMORY_NAME else claim.key


def _extended(extended: NodeClaim) -> dict[str, object]:
    """Return the made-up claim; one without requests was recorded as Go writes it, with null."""
    requests = [
        {
            "name": request.name,
            "deviceClassName": request.exactly.device_class_name,
            "count": request.exactly.count,
        }
        for request in extended.claim.spec.devices.requests
        if request.exactly is not None
    ]
    mappings = [_plain(each) for each in extended.mappings]
    record: dict[str, object] = {"requests": requests or None}
    return record | ({"mappings": mappings} if mappings else {})


def allocation_record(allocation: AllocationResult) -> dict[str, object]:
    """Return an allocation as recorded: without parameters, and without what is drawn by lot."""
    record: dict[str, object] = {
        "devices": [_device(result) for result in allocation.devices.results]
    }
    if allocation.devices.config:
        record["config"] = [
            {
                "source": config.source,
                **({"requests": list(config.requests)} if config.requests else {}),
                **({"driver": config.opaque.driver} if config.opaque is not None else {}),
            }
            for config in allocation.devices.config
        ]
    if allocation.node_selector is not None:
        record["nodeSelector"] = _plain(allocation.node_selector)
    return record


def _device(result: DeviceRequestAllocationResult) -> dict[str, object]:
    record = cast("dict[str, object]", _plain(result))
    if record.pop("shareID", ""):
        record["shared"] = True
    return record


def _plain(value: msgspec.Struct) -> object:
    return msgspec.json.decode(msgspec.json.encode(value))


def claim_record(claim: ResourceClaim) -> dict[str, object]:
    """Return a claim's state as recorded."""
    record: dict[str, object] = {}
    if claim.status.allocation is not None:
        record["allocation"] = allocation_record(claim.status.allocation)
    if claim.status.reserved_for:
        users = (f"{user.resource}:{user.name}" for user in claim.status.reserved_for)
        record["reservedFor"] = sorted(users)
    return record


def claim_records(server: ApiServer) -> dict[str, object]:
    return {claim.key: claim_record(claim) for claim in server.all(ResourceClaim)}


class WrittenClaims:
    """Hears of every write of a claim; notes what became of it."""

    def __init__(self, server: ApiServer) -> None:
        self._written: dict[str, object] = {}
        server.watch(self)

    def added(self, item: KubeObject) -> None:
        if isinstance(item, ResourceClaim):
            self._written[item.key] = claim_record(item)

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        self.added(new)

    def deleted(self, item: KubeObject) -> None:
        if isinstance(item, ResourceClaim):
            self._written[item.key] = {"deleted": True}

    def take(self) -> dict[str, object]:
        """Return the claims written since the last call, by key, as the last write left them."""
        written, self._written = self._written, {}
        return written


def claims_now(server: ApiServer) -> dict[str, ResourceClaim]:
    return {claim.key: claim for claim in server.all(ResourceClaim)}
