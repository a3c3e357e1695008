"""The allocation of a claim as it will stand in the claim's status.

Upstream: v1.36 structured/internal/incubating/allocator_incubating.go (Allocate,
createNodeSelector).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from scheduler_core.api import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from scheduler_core.api.selectors import METADATA_NAME
from scheduler_core.devices.slices import SliceDevice
from scheduler_core.plugins.dynamic_resources.gates import AllocatorGates
from scheduler_core.plugins.dynamic_resources.planning import AllocationError
from scheduler_core.plugins.dynamic_resources.requests import ClaimPlan, Request

FROM_CLASS: Final = "FromClass"
FROM_CLAIM: Final = "FromClaim"


@dataclass(frozen=True, eq=False, slots=True)
class Given:
    """A device given to a request; `consumed` is what a share takes of its capacities."""

    request: Request
    device: SliceDevice
    shared: bool
    consumed: Mapping[str, str]


def allocation_result(
    plan: ClaimPlan,
    given: Sequence[Given],
    node_name: str,
    gates: AllocatorGates,
    new_share_id: Callable[[], str],
) -> AllocationResult:
    """Return a claim's allocation. Raises AllocationError for an unusable node selector."""
    results = tuple(_result(each, gates, new_share_id() if each.shared else "") for each in given)
    config = [*_class_config(plan), *_claim_config(plan, once=gates.plain_config)]
    if gates.plain_config:
        config = [_plain(each, plan) for each in config]
    try:
        selector = _node_selector(given, node_name)
    except AllocationError as error:
        what = f"create NodeSelector for claim {plan.claim.name}"
        raise AllocationError(f"{what}: {error}") from None
    return AllocationResult(
        devices=DeviceAllocationResult(results=results, config=tuple(config)),
        node_selector=selector,
    )


def _result(given: Given, gates: AllocatorGates, share_id: str) -> DeviceRequestAllocationResult:
    device = given.device.device
    binds = gates.binding_conditions
    return DeviceRequestAllocationResult(
        request=given.request.full_name,
        driver=given.device.id.driver,
        pool=given.device.id.pool,
        device=given.device.id.device,
        admin_access=True if given.request.admin_access else None,
        tolerations=given.request.tolerations,
        binding_conditions=device.binding_conditions if binds else (),
        binding_failure_conditions=device.binding_failure_conditions if binds else (),
        share_id=share_id,
        consumed_capacity=dict(given.consumed),
    )


def _class_config(plan: ClaimPlan) -> list[DeviceAllocationConfiguration]:
    """Return the parameters of the classes used, each once, with the requests they serve."""
    requests: dict[str, list[str]] = {}
    chosen = [plan.plan(i) for i in range(len(plan.requests))]
    for each in chosen:
        requests.setdefault(each.device_class.name, []).append(each.request.full_name)
    classes = {each.device_class.name: each.device_class for each in chosen}
    return [
        DeviceAllocationConfiguration(
            source=FROM_CLASS, requests=tuple(requests[name]), opaque=config.opaque
        )
        for name, device_class in classes.items()
        for config in device_class.spec.config
    ]


def _claim_config(plan: ClaimPlan, *, once: bool) -> list[DeviceAllocationConfiguration]:
    """Return the claim's parameters: those for all requests, and those for the ones served.

    Those for several requests come `once`, or for each.
    """
    found = []
    for config in plan.claim.spec.devices.config:
        made = DeviceAllocationConfiguration(
            source=FROM_CLAIM, requests=config.requests, opaque=config.opaque
        )
        if not config.requests:
            found.append(made)
            continue
        for i in range(len(plan.requests)):
            request = plan.plan(i).request
            if request.base_name in config.requests or request.full_name in config.requests:
                found.append(made)
                if once:
                    break
    return found


def _plain(config: DeviceAllocationConfiguration, plan: ClaimPlan) -> DeviceAllocationConfiguration:
    """Leave out the requests of a configuration that is for all of them."""
    named = set(config.requests)
    chosen = [plan.plan(i).request for i in range(len(plan.requests))]
    if all(each.base_name in named or each.full_name in named for each in chosen):
        return replace(config, requests=())
    return config


def _node_selector(given: Sequence[Given], node_name: str) -> NodeSelector | None:
    """Return where the devices can be used together, None for everywhere."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for each in given:
        spec = each.device.slice.spec
        place = each.device.device if spec.per_device_node_selection else spec
        if place.node_name or each.device.device.binds_to_node:
            here = NodeSelectorRequirement(key=METADATA_NAME, operator="In", values=(node_name,))
            return _selector([here], [])
        terms = place.node_selector.node_selector_terms if place.node_selector else ()
        if len(terms) > 1:
            n = len(terms)
            raise AllocationError(f"unsupported ResourceSlice.NodeSelector with {n} terms")
        for term in terms:
            _add_new(fields, term.match_fields)
            _add_new(expressions, term.match_expressions)
    return _selector(fields, expressions) if fields or expressions else None


def _selector(
    fields: Sequence[NodeSelectorRequirement], expressions: Sequence[NodeSelectorRequirement]
) -> NodeSelector:
    term = NodeSelectorTerm(match_fields=tuple(fields), match_expressions=tuple(expressions))
    return NodeSelector(node_selector_terms=(term,))


def _add_new(known: list[NodeSelectorRequirement], more: Sequence[NodeSelectorRequirement]) -> None:
    for requirement in more:
        same = (
            each.key == requirement.key
            and each.operator == requirement.operator
            and set(each.values) == set(requirement.values)
            for each in known
        )
        if not any(same):
            known.append(requirement)
