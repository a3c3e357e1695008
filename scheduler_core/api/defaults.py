"""What the API server fills in when an object is created.

Objects that come from a cluster have all of this already; manifests written by hand have not.

Upstream: v1.36 pkg/apis/{core,storage,resource}/v1/defaults.go.
"""

from collections.abc import Callable, Mapping

from msgspec.structs import force_setattr, replace

from scheduler_core.api.device import DeviceClaim, ResourceClaim, ResourceClaimTemplate
from scheduler_core.api.meta import KubeObject, ResourceList
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Container, Pod, PodSpec, ResourceRequirements
from scheduler_core.api.quantity import Notation, Quantity, parse_quantity
from scheduler_core.api.volume import StorageClass

DEFAULT_NAMESPACE = "default"
DEFAULT_SCHEDULER_NAME = "default-scheduler"
DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS = 30

_HUGE_PAGES_PREFIX = "hugepages-"
_OVERCOMMITTED_AT_POD_LEVEL = ("cpu", "memory")
_NANO_EXPONENT = -9

_AmountsOf = Callable[[ResourceRequirements], Mapping[str, str]]


def apply_defaults(item: KubeObject) -> None:
    """Completes a freshly decoded, validated object in place, before anyone else holds it."""
    _default_namespace(item)
    match item:
        case Pod():
            _default_pod_spec(item.spec)
        case Node(status=status) if status.capacity and not status.allocatable:
            force_setattr(status, "allocatable", dict(status.capacity))
        case StorageClass(volume_binding_mode=""):
            force_setattr(item, "volume_binding_mode", "Immediate")
        case ResourceClaim(spec=spec):
            _default_claim(spec.devices)
        case ResourceClaimTemplate(spec=template):
            _default_claim(template.spec.devices)
        case _:
            pass


def _default_namespace(item: KubeObject) -> None:
    namespace = item.metadata.namespace
    if item.namespaced and not namespace:
        force_setattr(item.metadata, "namespace", DEFAULT_NAMESPACE)
    elif namespace and not item.namespaced:
        force_setattr(item.metadata, "namespace", "")


def _default_claim(claim: DeviceClaim) -> None:
    """A request that does not say how many devices it is about is about one."""
    for request in claim.requests:
        exactly = () if request.exactly is None else (request.exactly,)
        for given in (*exactly, *request.first_available):
            if not given.allocation_mode:
                force_setattr(given, "allocation_mode", "ExactCount")
            if given.allocation_mode == "ExactCount" and not given.count:
                force_setattr(given, "count", 1)


def _default_pod_spec(spec: PodSpec) -> None:
    if not spec.scheduler_name:
        force_setattr(spec, "scheduler_name", DEFAULT_SCHEDULER_NAME)
    if not spec.restart_policy:
        force_setattr(spec, "restart_policy", "Always")
    if spec.termination_grace_period_seconds is None:
        seconds = DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS
        force_setattr(spec, "termination_grace_period_seconds", seconds)
    for container in (*spec.containers, *spec.init_containers):
        _default_container(container, spec.host_network)
    if spec.resources is not None:
        force_setattr(spec, "resources", _pod_level_resources(spec, spec.resources))


def _default_container(container: Container, host_network: bool) -> None:
    """Requests follow limits; ports on the host's network are the host's ports."""
    resources = container.resources
    if resources.limits.keys() - resources.requests.keys():
        requests = {**resources.limits, **resources.requests}
        force_setattr(container, "resources", replace(resources, requests=requests))
    if host_network and any(not port.host_port for port in container.ports):
        ports = tuple(
            port if port.host_port else replace(port, host_port=port.container_port)
            for port in container.ports
        )
        force_setattr(container, "ports", ports)


def is_pod_level_resource(name: str) -> bool:
    """Whether a resource may be requested for a pod as a whole."""
    return name in _OVERCOMMITTED_AT_POD_LEVEL or name.startswith(_HUGE_PAGES_PREFIX)


def _pod_level_resources(spec: PodSpec, given: ResourceRequirements) -> ResourceRequirements:
    limits = dict(given.limits)
    if limits or given.requests:
        for name, amount in _aggregate(spec, lambda resources: resources.limits).items():
            if name.startswith(_HUGE_PAGES_PREFIX) and name not in given.requests:
                limits.setdefault(name, amount)
    if not limits:
        return given
    requests = dict(given.requests)
    for name, amount in _aggregate(spec, lambda resources: resources.requests).items():
        if name in _OVERCOMMITTED_AT_POD_LEVEL:
            requests.setdefault(name, amount)
    for name, amount in limits.items():
        if is_pod_level_resource(name):
            requests.setdefault(name, amount)
    return replace(given, requests=requests, limits=limits)


def _aggregate(spec: PodSpec, amounts_of: _AmountsOf) -> ResourceList:
    """What all containers together need: the running ones, or the neediest start-up step."""
    running: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.containers:
        _add(running, amounts_of(container.resources))
    for container in spec.init_containers:
        step = dict(sidecars)
        _add(step, amounts_of(container.resources))
        if container.restart_policy == "Always":
            _add(running, amounts_of(container.resources))
            sidecars = step
        for name, amount in step.items():
            peak[name] = max(amount, peak.get(name, 0))
    names = {**running, **peak}
    return {name: _nano_text(name, max(running.get(name, 0), peak.get(name, 0))) for name in names}


def _add(totals: dict[str, int], amounts: Mapping[str, str]) -> None:
    for name, text in amounts.items():
        nano = parse_quantity(text).scaled_value(_NANO_EXPONENT)
        totals[name] = totals.get(name, 0) + nano


def _nano_text(resource: str, amount_nano: int) -> str:
    notation: Notation = "DecimalSI" if resource == "cpu" else "BinarySI"
    return Quantity(amount_nano, _NANO_EXPONENT, notation).canonical()
