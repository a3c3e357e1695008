"""Dumps at random: a cluster as kubectl prints it, with odd objects in it and odd values."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping, MutableSequence
from copy import deepcopy
from typing import Any, Final

from hypothesis import strategies as st

from tests.fuzz.manifests import FAR_TIMES, QUANTITIES, TIMES, objects, objects_of
from tests.fuzz.steps import PODS, pods, steps, surroundings
from tests.generator.draw import Json
from tests.generator.dumps import dumps as clusters

ODD: Final[tuple[Any, ...]] = (
    None,
    "",
    [],
    {},
    True,
    0,
    -1,
    2**31 - 1,
    2**63 - 1,
    2**70,
    1.5,
    "a" * 253,
    "a" * 300,
    "é",
    "a/b",
    "\x00",
    "n0",
    "node-0",
    "gone",
    *QUANTITIES,
    *TIMES,
    *FAR_TIMES,
)
"""What a value may be replaced by."""
Step = tuple[Any, Any]


@st.composite
def dumps(draw: st.DrawFn, max_odd: int = 3) -> list[Json]:
    """Draw the objects of a dump: a cluster that makes sense, and some that need not.

    Objects may be merged with others of their kind, doubled, or have values replaced; most of
    what is refused is refused for one of the latter.
    """
    items = draw(clusters(max_nodes=3, max_pods=4))
    if draw(st.booleans()):
        items += [item for item in surroundings() if item["kind"] not in ("Node", "Pod")]
        items += draw(st.lists(st.sampled_from(PODS).flatmap(pods), max_size=3))
    items += draw(st.lists(objects(), max_size=4))
    items = deepcopy(items)
    for _ in range(draw(st.integers(0, 2))):
        item = draw(st.sampled_from(items))
        _merge(item, draw(objects_of(item["kind"])))
    if draw(st.booleans()):
        twin = deepcopy(draw(st.sampled_from(items)))
        twin["metadata"]["name"] = draw(st.sampled_from(("twin", twin["metadata"]["name"])))
        items.append(twin)
    if draw(st.integers(0, 3)) == 3:
        for _ in range(draw(st.integers(1, max_odd))):
            item = draw(st.sampled_from(items))
            holder, key = draw(st.sampled_from(list(_places(item))[::-1]))
            holder[key] = deepcopy(draw(st.sampled_from(ODD)))
    return items


def _merge(item: Json, other: Json) -> None:
    """Take over the fields of another object, but for what names it."""
    for key, value in other.items():
        known = item.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            _merge(known, value)
        elif key not in ("name", "namespace", "containers"):
            item[key] = value


def _places(value: Any) -> Iterator[Step]:
    """Yield every holder and key of an object's values, but for what it is."""
    keys: list[Any] = []
    if isinstance(value, MutableMapping):
        keys = [key for key in value if key not in ("kind", "apiVersion")]
    elif isinstance(value, MutableSequence):
        keys = list(range(len(value)))
    for key in keys:
        if key != "metadata":
            yield value, key
        yield from _places(value[key])


def as_file(items: list[Json]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


TARGETS: Final = (*PODS, "new-0", "new-1", "a", "web")


@st.composite
def scenarios(draw: st.DrawFn) -> str:
    """Draw the text of a scenario, empty for none."""
    if draw(st.booleans()):
        return ""
    times = st.sampled_from(("0s", "1ms", "1s", "1.5s", "10m", "3h"))
    document: dict[str, Any] = {
        "steps": [
            {"at": draw(times), **step} for step in draw(st.lists(steps(TARGETS), max_size=5))
        ]
    }
    if draw(st.booleans()):
        document["until"] = draw(st.sampled_from(("1s", "6m", "24h")))
    document["options"] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "recreateEvicted": st.booleans(),
                "kubelet": st.booleans(),
                "binding": st.sampled_from(("0s", "5s")),
                "preBind": st.sampled_from(("0s", "1h")),
                "podStart": st.sampled_from(("0s", "1m")),
            },
        )
    )
    return json.dumps(document)
