"""Objects of older API versions, brought into the shape of the one that kviz reads.

``resource.k8s.io/v1beta2`` has the shape of v1. In v1beta1 a request has its fields beside its
name instead of below ``exactly``, and a device its fields below ``basic``. An empty selector of a
``policy/v1beta1`` budget matches no pod. All else that is read has the shape of v1.

Upstream: v1.36 pkg/apis/{resource,policy}/v1beta1/conversion.go.
"""

from msgspec.structs import force_setattr, replace

from scheduler_core.api.device import (
    Device,
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from scheduler_core.api.meta import KubeObject, LabelSelector
from scheduler_core.api.workload import PodDisruptionBudget


def modernize(item: KubeObject, api_version: str) -> None:
    """Brings a freshly decoded object into its present shape, before anyone else holds it."""
    match item:
        case PodDisruptionBudget(spec=budget) if api_version == "policy/v1beta1":
            if budget.selector == LabelSelector():
                force_setattr(budget, "selector", None)
        case ResourceClaim(spec=spec):
            _modernize_claim(spec.devices)
        case ResourceClaimTemplate(spec=template):
            _modernize_claim(template.spec.devices)
        case ResourceSlice(spec=slice_spec) if any(d.basic for d in slice_spec.devices):
            devices = tuple(_without_basic(device) for device in slice_spec.devices)
            force_setattr(slice_spec, "devices", devices)
        case _:
            pass


def _modernize_claim(claim: DeviceClaim) -> None:
    if any(request.device_class_name for request in claim.requests):
        force_setattr(claim, "requests", tuple(map(_with_exactly, claim.requests)))


def _with_exactly(request: DeviceRequest) -> DeviceRequest:
    if not request.device_class_name:
        return request
    exactly = ExactDeviceRequest(
        device_class_name=request.device_class_name,
        selectors=request.selectors,
        allocation_mode=request.allocation_mode,
        count=request.count,
        admin_access=request.admin_access,
        tolerations=request.tolerations,
        capacity=request.capacity,
    )
    return DeviceRequest(
        name=request.name, exactly=exactly, first_available=request.first_available
    )


def _without_basic(device: Device) -> Device:
    return device if device.basic is None else replace(device.basic, name=device.name)
