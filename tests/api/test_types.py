import msgspec
import pytest

from scheduler_core.api import (
    KINDS,
    KubeObject,
    Node,
    ObjectMeta,
    Pod,
    PodDisruptionBudget,
    types,
)
from scheduler_core.api.parse import DECODERS

# Wire names that are not the plain camelCase of the field.
IRREGULAR = {
    "host_ip": "hostIP",
    "node_id": "nodeID",
    "volume_id": "volumeID",
    "disk_uri": "diskURI",
    "share_id": "shareID",
    "int_value": "int",
    "bool_value": "bool",
    "string_value": "string",
    "version_value": "version",
    "int_values": "ints",
    "bool_values": "bools",
    "string_values": "strings",
    "version_values": "versions",
}


def structs() -> list[type[msgspec.Struct]]:
    exported = vars(types).values()
    return [
        kind for kind in exported if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    ]


@pytest.mark.parametrize("struct", structs(), ids=lambda struct: struct.__name__)
def test_every_type_is_frozen_and_optional_in_every_field(struct: type[msgspec.Struct]) -> None:
    assert struct.__struct_config__.frozen
    empty = struct()
    assert msgspec.json.encode(empty) == b"{}"
    for field in msgspec.structs.fields(struct):
        words = field.name.split("_")
        camel = words[0] + "".join(word.capitalize() for word in words[1:])
        assert field.encode_name == IRREGULAR.get(field.name, camel)


@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_kinds_carry_their_names(kind: type[KubeObject]) -> None:
    assert KINDS[kind.kind] is kind
    assert kind.__name__ == kind.kind
    assert kind.api_version.rpartition("/")[2] == "v1"


def test_keys_and_names() -> None:
    pod = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="u1"))
    assert (pod.key, pod.name, pod.namespace, pod.uid) == ("shop/web", "web", "shop", "u1")
    assert Node(metadata=ObjectMeta(name="ada")).key == "ada"


def test_a_number_or_a_percentage() -> None:
    decoder = DECODERS["PodDisruptionBudget"]
    text = b'{"spec":{"minAvailable":"50%","maxUnavailable":2}}'
    budget = decoder.decode(text)
    assert isinstance(budget, PodDisruptionBudget)
    assert (budget.spec.min_available, budget.spec.max_unavailable) == ("50%", 2)
