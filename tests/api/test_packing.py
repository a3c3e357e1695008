import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import Node, Pod
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.packing import PackError, pack, unpack
from tests.api.manifests import SHOP, as_json, ingest_one, listed, node, pod

SHOP_OBJECTS = ingest_one(SHOP).objects
PACKED = pack(SHOP_OBJECTS)


def test_objects_come_back_equal_and_in_order() -> None:
    pods = [pod(f"p{index}", priority=index) for index in (3, 1, 2)]
    objects = ingest_one(as_json(listed(node("b"), *pods, node("a")))).objects
    again = unpack(pack(objects))
    assert again == objects
    assert [item.name for item in again.of(Pod)] == ["p3", "p1", "p2"]
    assert [item.name for item in again.of(Node)] == ["b", "a"]


def test_times_and_maps_come_back_as_they_were() -> None:
    again = unpack(PACKED)
    assert again == SHOP_OBJECTS
    (web,), (ada,) = again.of(Pod), again.of(Node)
    assert type(web.status.start_time) is int
    assert list(ada.status.allocatable) == list(SHOP_OBJECTS.of(Node)[0].status.allocatable)


def test_many_objects_in_several_batches() -> None:
    objects = ingest_one(as_json(listed(*(node(f"n{index}") for index in range(2500))))).objects
    assert unpack(pack(objects)) == objects


def test_nothing() -> None:
    assert unpack(pack(ClusterObjects())) == ClusterObjects()


def test_packing_is_deterministic() -> None:
    assert pack(unpack(PACKED)) == PACKED


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"something else",
        PACKED[:15],
        PACKED[:-1],
        PACKED[: len(PACKED) // 2],
        PACKED[:15] + zstandard.compress(b""),
        PACKED[:15] + zstandard.compress(b"\xff\xff\xff\xff"),
        PACKED[:15] + zstandard.compress(b"\0\0\0\x09\x92\xa7Unknown\x90"),
    ],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(PackError):
        unpack(data)


@given(st.integers(0, len(PACKED) - 1), st.integers(1, 255))
def test_damage_is_noticed_or_harmless(position: int, change: int) -> None:
    data = bytearray(PACKED)
    data[position] ^= change
    try:
        objects = unpack(bytes(data))
    except PackError:
        return
    assert isinstance(objects, ClusterObjects)
