"""Devices that a pod's claims ask for and no node has free: asking for less, or one more node.

What a claim asks for cannot be changed where it is; it is made again, or the template that it is
made from is. Devices of a node are what its driver has written into slices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace as replaced
from itertools import count, islice
from typing import Final, TypeAlias

from msgspec.structs import replace

from scheduler_core.analysis.advice.actions import PER_QUARTER, Action, action
from scheduler_core.analysis.advice.harm import is_not_yet, is_of_one_node
from scheduler_core.analysis.advice.leaving import Leaving
from scheduler_core.api import (
    CELDeviceSelector,
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceTaint,
    DeviceTaintRule,
    DeviceToleration,
    ExactDeviceRequest,
    Node,
    ObjectMeta,
    Pod,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceSlice,
)
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import (
    CopyNode,
    Cordon,
    Create,
    Put,
    RemoveTaint,
    SetLabel,
    StepChange,
)
from scheduler_core.devices.taint_rules import tainted
from scheduler_core.evidence.device_claims import ALL, DevicesAvailable
from scheduler_core.plugins.dynamic_resources.allocator import untolerated_taint
from scheduler_core.plugins.dynamic_resources.device_texts import toleration_text
from scheduler_core.wording import say, series

MAX_CLASSES: Final = 5
"""So many other classes of devices are tried."""
MAX_COUNTS: Final = 4
"""So many smaller numbers of devices are tried, the largest first."""
MAX_TAINTS: Final = 5
"""So many taints of devices are tolerated, one at a time."""
MAX_LIKE: Final = 5
"""So many kinds of nodes with devices are tried as one more."""
MAX_VALUES: Final = 3
"""So many other values of an attribute are tried in a selector."""
_COMPARED: Final = re.compile(
    r"""attributes\[["'](?P<domain>[^"']+)["']\]\.(?P<name>\w+)\s*==\s*["'](?P<value>[^"']*)["']"""
)
"""How a selector asks that an attribute is some text."""
MAX_USERS: Final = 2
"""So many pods at most give their devices up."""

Asking: TypeAlias = ResourceClaim | ResourceClaimTemplate
Exact: TypeAlias = ExactDeviceRequest


def devices_had(
    wanted: DevicesAvailable, pod: Pod, objects: Objects, node: str, leaving: Leaving
) -> Iterator[Action]:
    """Yield what might let a claim have its devices on a node."""
    asking = _asking(wanted.claim, pod, objects)
    if asking is not None and wanted.allocated:
        yield from _made_again(asking, pod)
    elif asking is not None:
        yield from _less(asking, objects)
    yield from _users_leaving(node, objects, leaving)
    for name in _with_devices(objects):
        yield one_more(name, objects)


def classes_there(pod: Pod, objects: Objects) -> Iterator[Action]:
    """Yield what helps where a claim of the pod names a class of devices that does not exist."""
    all_asking = list(_all_asking(pod, objects))
    requests = [each for one in all_asking for each in _spec(one).devices.requests]
    exact = (each.exactly.device_class_name for each in requests if each.exactly is not None)
    first = (one.device_class_name for each in requests for one in each.first_available)
    names = dict.fromkeys((*exact, *first))
    missing = [name for name in names if objects.get(DeviceClass, name) is None]
    if missing:
        made = tuple(DeviceClass(metadata=ObjectMeta(name=name)) for name in missing)
        yield action("deviceClass", Create(made))
        for asking in all_asking:
            yield from _less(asking, objects)


def one_more(node: str, objects: Objects) -> Action:
    """Return one more node like one, with devices like those that it alone has."""
    number = _next_copy(node, objects)
    fresh = _in_good_health(node, f"{node}-copy-{number}", objects)
    own = [each for each in objects.all(ResourceSlice) if each.spec.node_name == node]
    if not own:
        return action("node", CopyNode(node, 1), *fresh)
    slices = tuple(_renamed(each, f"{node}-copy-{number}", number) for each in own)
    return action("node", CopyNode(node, 1), Create(slices), *fresh)


def _in_good_health(name: str, copy: str, objects: Objects) -> Iterator[StepChange]:
    """Yield what a new node does not have of one that is cordoned or tainted.

    What every node waits for, a new one waits for, too.
    """
    node = objects.get(Node, name)
    if node is not None and node.spec.unschedulable:
        yield Cordon(copy, False)
    taints = node.spec.taints if node is not None else ()
    own = [key for key in dict.fromkeys(each.key for each in taints) if is_of_one_node(key)]
    everywhere = _waited_for_everywhere(own, objects)
    for key in own:
        if key not in everywhere:
            yield RemoveTaint(copy, key)


def _waited_for_everywhere(keys: Iterable[str], objects: Objects) -> set[str]:
    """Return the taints that each of several nodes has until something runs there."""
    left = {key for key in keys if is_not_yet(key)}
    nodes = list(objects.all(Node)) if left else []
    for node in nodes:
        left &= {each.key for each in node.spec.taints}
    return left if len(nodes) > 1 else set()


def one_elsewhere(node: str, key: str, objects: Objects) -> Action:
    """Return one more node like one, in a domain of `key` that no node is in."""
    taken = {each.metadata.labels.get(key) for each in objects.all(Node)}
    word = f"new-{key.rpartition('/')[2]}"
    names = (word if n == 1 else f"{word}-{n}" for n in count(1))
    label = SetLabel(
        f"{node}-copy-{_next_copy(node, objects)}",
        key,
        next(each for each in names if each not in taken),
    )
    more = one_more(node, objects)
    return replaced(more, changes=(*more.changes, label)).dearer(1)


def _next_copy(node: str, objects: Objects) -> int:
    """Return the number of the next copy of a node."""
    return next(n for n in count(1) if objects.get(Node, f"{node}-copy-{n}") is None)


def _with_devices(objects: Objects) -> Iterator[str]:
    """Yield nodes that have devices of their own: one of each kind, the first of it."""
    on: dict[str, list[object]] = {}
    for each in objects.all(ResourceSlice):
        if each.spec.node_name:
            devices = [
                (sorted(device.capacity.items()), sorted(device.attributes.items()), device.taints)
                for device in each.spec.devices
            ]
            on.setdefault(each.spec.node_name, []).append((each.spec.driver, devices))
    kinds: dict[str, str] = {}
    for node, slices in on.items():
        kinds.setdefault(repr(slices), node)
    yield from islice(kinds.values(), MAX_LIKE)


def _renamed(known: ResourceSlice, node: str, number: int) -> ResourceSlice:
    pool = replace(known.spec.pool, name=f"{known.spec.pool.name}-copy-{number}")
    return replace(
        known,
        metadata=ObjectMeta(name=f"{known.name}-copy-{number}"),
        spec=replace(known.spec, node_name=node, pool=pool),
    )


# ---------------------------------------------------------------- what is asked for


def _asking(claim: str, pod: Pod, objects: Objects) -> Asking | None:
    """Return what says which devices a claim of the pod asks for: itself, or its template."""
    found = objects.get(ResourceClaim, claim)
    if found is not None:
        return found
    name = claim.partition("/")[2]
    for use in pod.spec.resource_claims:
        template = use.resource_claim_template_name
        if template and name.startswith(f"{pod.name}-{use.name}-"[:57]):
            return objects.get(ResourceClaimTemplate, f"{pod.namespace}/{template}")
    return None


def _all_asking(pod: Pod, objects: Objects) -> Iterator[Asking]:
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    for use in pod.spec.resource_claims:
        template = use.resource_claim_template_name
        kind: type[Asking] = ResourceClaimTemplate if template else ResourceClaim
        name = template or use.resource_claim_name
        known = made.get(use.name)
        claim = objects.get(ResourceClaim, f"{pod.namespace}/{known}") if known else None
        found = claim or objects.get(kind, f"{pod.namespace}/{name}")
        if found is not None:
            yield found


def _spec(asking: Asking) -> ResourceClaimSpec:
    return asking.spec if isinstance(asking, ResourceClaim) else asking.spec.spec


def _with_spec(asking: Asking, spec: ResourceClaimSpec) -> Asking:
    if isinstance(asking, ResourceClaim):
        return replace(asking, spec=spec, status=ResourceClaimStatus())
    return replace(asking, spec=replace(asking.spec, spec=spec))


def _made_again(asking: Asking, pod: Pod) -> Iterator[Action]:
    """Yield a claim without its devices, if nobody else uses it."""
    if isinstance(asking, ResourceClaim):
        users = {each.uid for each in asking.status.reserved_for}
        if users <= {pod.uid}:
            yield action("devices", Put((replace(asking, status=ResourceClaimStatus()),)))


def _less(asking: Asking, objects: Objects) -> Iterator[Action]:
    """Yield the claim with one of its demands given up or replaced."""
    spec = _spec(asking)
    requests = spec.devices.requests
    for i, request in enumerate(requests):
        for exactly, price in _alternatives(request, objects):
            other = (*requests[:i], replace(request, exactly=exactly), *requests[i + 1 :])
            devices = replace(spec.devices, requests=other)
            changed = _with_spec(asking, replace(spec, devices=devices))
            yield action("devices", Put((changed,))).dearer(price)
    if spec.devices.constraints:
        devices = replace(spec.devices, constraints=())
        yield action("devices", Put((_with_spec(asking, replace(spec, devices=devices)),)))


def _alternatives(request: DeviceRequest, objects: Objects) -> Iterator[tuple[Exact, int]]:
    """Yield what else a request might ask for, and how much dearer than other changes that is."""
    exactly = request.exactly
    if exactly is None:
        return
    for selectors in _other_selectors(exactly, objects):
        yield replace(exactly, selectors=selectors), 0
    for taint in islice(_untolerated_taints(exactly, objects), MAX_TAINTS):
        yield replace(exactly, tolerations=(*exactly.tolerations, _tolerating(taint))), 0
    count = exactly.count or 1
    if exactly.allocation_mode != ALL:
        for fewer in islice(range(count - 1, 0, -1), MAX_COUNTS):
            yield replace(exactly, count=fewer), PER_QUARTER * int((count - fewer) / count * 4)
    else:
        yield replace(exactly, allocation_mode="ExactCount", count=1), 0
    others = (each.name for each in objects.all(DeviceClass))
    for name in islice((each for each in others if each != exactly.device_class_name), MAX_CLASSES):
        yield replace(exactly, device_class_name=name), 1


def _other_selectors(exactly: Exact, objects: Objects) -> Iterator[tuple[DeviceSelector, ...]]:
    """Yield the selectors with a value that a device has in place of another, or one left out."""
    known = exactly.selectors
    for i, each in enumerate(known):
        expression = each.cel.expression if each.cel is not None else ""
        for other in _with_values_there(expression, objects):
            selector = DeviceSelector(cel=CELDeviceSelector(expression=other))
            yield (*known[:i], selector, *known[i + 1 :])
    for i in range(len(known)):
        yield (*known[:i], *known[i + 1 :])
    if len(known) > 1:
        yield ()


def _with_values_there(expression: str, objects: Objects) -> Iterator[str]:
    """Yield an expression with the values that devices have of an attribute it compares."""
    for found in _COMPARED.finditer(expression):
        start, end = found.span("value")
        have = attribute_values(found["domain"], found["name"], objects)
        for value in islice((each for each in have if each != found["value"]), MAX_VALUES):
            yield f"{expression[:start]}{value}{expression[end:]}"


def attribute_values(domain: str, name: str, objects: Objects) -> list[str]:
    """Return what text devices have in an attribute; of their own driver where it names none."""
    values: dict[str, None] = {}
    for item in objects.all(ResourceSlice):
        for device in item.spec.devices:
            found = device.attributes.get(f"{domain}/{name}")
            if found is None and item.spec.driver == domain:
                found = device.attributes.get(name)
            if found is not None and found.string_value is not None:
                values[found.string_value] = None
    return list(values)


def _untolerated_taints(exactly: Exact, objects: Objects) -> Iterator[DeviceTaint]:
    """Yield the taints of drivers and rules that keep a request off devices, each once."""
    rules = list(objects.all(DeviceTaintRule))
    slices = (tainted(item, rules) for item in objects.all(ResourceSlice))
    devices = (each for item in slices for each in item.spec.devices)
    seen: set[tuple[str, str, str]] = set()
    for device in devices:
        taint = untolerated_taint(device, exactly.tolerations)
        if taint is not None and (known := (taint.key, taint.value, taint.effect)) not in seen:
            seen.add(known)
            yield taint


def _tolerating(taint: DeviceTaint) -> DeviceToleration:
    """Return what tolerates one taint: without its key, it would let in devices that are broken."""
    operator = "Equal" if taint.value else "Exists"
    return DeviceToleration(
        key=taint.key, operator=operator, value=taint.value, effect=taint.effect
    )


# ---------------------------------------------------------------- who has them


def _users_leaving(node: str, objects: Objects, leaving: Leaving) -> Iterator[Action]:
    """Yield the leaving of pods on the node that have devices, one claim's users at a time.

    The controller of claims frees the devices then.
    """
    pods = {each.uid: each for each in objects.all(Pod) if each.spec.node_name == node}
    for claim in objects.all(ResourceClaim):
        users = [each.uid for each in claim.status.reserved_for]
        is_had = claim.status.allocation is not None and 0 < len(users) <= MAX_USERS
        if is_had and all(uid in pods for uid in users):
            freed = Put((replace(claim, status=ResourceClaimStatus()),))
            for left in leaving.of([pods[uid].key for uid in users]):
                yield replaced(left, changes=(*left.changes, freed))


DESCRIBED: Final[tuple[tuple[str, Callable[[Exact], object]], ...]] = (
    (say("devices.device_class", "device class"), lambda each: each.device_class_name),
    (
        say("devices.devices", "devices"),
        lambda each: say("devices.all", "all") if each.allocation_mode == ALL else each.count or 1,
    ),
    (
        say("devices.selectors", "selectors"),
        lambda each: (
            series(one.cel.expression for one in each.selectors if one.cel)
            or say("value.none", "none")
        ),
    ),
    (
        say("devices.tolerations", "tolerations"),
        lambda each: series(map(toleration_text, each.tolerations)) or say("value.none", "none"),
    ),
)


def told(before: Asking, after: Asking) -> str:
    """Say what is different between two claims, or templates of claims."""
    kind = (
        say("devices.claim", "claim")
        if isinstance(before, ResourceClaim)
        else say("devices.claim_template", "claim template")
    )
    said = list(_differences(_spec(before), _spec(after)))
    if not said:
        return say(
            "devices.recreate_without",
            "make {kind} {key} again, without the devices that it has",
            kind=kind,
            key=before.key,
        )
    again = (
        say("devices.again", "make it again")
        if isinstance(before, ResourceClaim)
        else say("devices.change", "change it")
    )
    return say(
        "devices.changes_of",
        "{kind} {key}: {changes} ({again})",
        kind=kind,
        key=before.key,
        changes=series(said),
        again=again,
    )


def _differences(before: ResourceClaimSpec, after: ResourceClaimSpec) -> Iterable[str]:
    then, now = before.devices, after.devices
    for one, other in zip(then.requests, now.requests, strict=True):
        if one.exactly is None or other.exactly is None:
            continue
        for what, value in DESCRIBED:
            if value(one.exactly) != value(other.exactly):
                yield say(
                    "devices.changed",
                    "{what} of {name} {old} → {new}",
                    what=what,
                    name=one.name,
                    old=value(one.exactly),
                    new=value(other.exactly),
                )
    if then.constraints != now.constraints:
        yield say("devices.no_constraints", "no constraints")
