"""Claims, classes and slices of devices as manifests have them."""

import json

import pytest

from scheduler_core.api import Device, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.errors import ParseError, Place
from scheduler_core.api.ingest import ingest
from scheduler_core.api.packing import pack, unpack
from scheduler_core.api.parse import parse_object

SELECTOR = {"cel": {"expression": 'device.driver == "gpu.example.com"'}}


def parsed(kind: str, version: str = "v1", **rest: object) -> object:
    raw = {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": {"name": "x"}}
    return parse_object({**raw, **rest}, Place())


def claim_spec(*requests: object) -> dict[str, object]:
    return {"devices": {"requests": list(requests)}}


def test_a_request_is_about_one_device_unless_it_says_otherwise() -> None:
    exactly = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "selectors": [SELECTOR]}}
    either = {"name": "any", "firstAvailable": [{"name": "a", "deviceClassName": "big"}]}
    every = {"name": "all", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}
    claim = parsed("ResourceClaim", spec=claim_spec(exactly, either, every))
    assert isinstance(claim, ResourceClaim)
    assert claim.namespace == "default"
    first, second, third = claim.spec.devices.requests
    assert first.exactly is not None
    assert (first.exactly.allocation_mode, first.exactly.count) == ("ExactCount", 1)
    assert second.first_available[0].count == 1
    assert third.exactly is not None
    assert (third.exactly.allocation_mode, third.exactly.count) == ("All", 0)


def test_templates_get_the_same_defaults() -> None:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    template = parsed("ResourceClaimTemplate", spec={"spec": claim_spec(request)})
    assert isinstance(template, ResourceClaimTemplate)
    (parsed_request,) = template.spec.spec.devices.requests
    assert parsed_request.exactly is not None
    assert parsed_request.exactly.count == 1


def test_v1beta1_is_brought_into_the_shape_of_v1() -> None:
    flat = {"name": "gpu", "deviceClassName": "gpu", "count": 2, "selectors": [SELECTOR]}
    nested = {"name": "gpu", "exactly": {**flat}}
    del nested["exactly"]["name"]  # type: ignore[attr-defined]
    assert parsed("ResourceClaim", "v1beta1", spec=claim_spec(flat)) == parsed(
        "ResourceClaim", spec=claim_spec(nested)
    )
    fields = {"attributes": {"model": {"string": "a"}}, "capacity": {"memory": {"value": "40Gi"}}}
    old = parsed("ResourceSlice", "v1beta1", spec={"devices": [{"name": "g0", "basic": fields}]})
    assert old == parsed("ResourceSlice", spec={"devices": [{"name": "g0", **fields}]})
    assert isinstance(old, ResourceSlice)
    assert old.spec.devices[0].basic is None


def test_v1beta2_is_read_as_it_is() -> None:
    devices = [{"name": "g0", "allNodes": True}]
    read = parsed("ResourceSlice", "v1beta2", spec={"devices": devices})
    assert isinstance(read, ResourceSlice)
    assert read.spec.devices == (Device(name="g0", all_nodes=True),)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"devices": [{"name": "g", "capacity": {"memory": {"value": "lots"}}}]}, ".memory"),
        (
            {"devices": [{"capacity": {"m": {"requestPolicy": {"validValues": ["1", "?"]}}}}]},
            "[m].requestPolicy.validValues[1]",
        ),
        ({"sharedCounters": [{"name": "s", "counters": {"c": {"value": "x"}}}]}, ".counters.c"),
        ({"devices": [{"attributes": {"i": {"int": "3"}}}]}, ".attributes.i.int"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(spec: dict[str, object], field: str) -> None:
    with pytest.raises(ParseError) as caught:
        parsed("ResourceSlice", spec=spec)
    assert caught.value.field.endswith(field)


def test_packing_keeps_devices_and_drops_opaque_parameters() -> None:
    opaque = {"driver": "gpu.example.com", "parameters": {"secret": "hidden"}}
    text = json.dumps(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu"},
            "spec": {"config": [{"opaque": opaque}], "extendedResourceName": "example.com/gpu"},
        }
    )
    objects = ingest([("class.json", text.encode())]).objects
    packed = pack(objects)
    assert unpack(packed) == objects
    assert b"hidden" not in packed
    assert isinstance(objects, ClusterObjects)
    assert objects.counts == {"DeviceClass": 1}
