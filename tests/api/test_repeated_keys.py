"""A key that stands twice in one JSON object is refused, as YAML refuses it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api.ingest import ingest
from scheduler_core.api.json_keys import has_repeated_keys, repeated_keys

NODE = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}'
TWICE = """\
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
 "spec": {"containers": [{"name": "c", "resources": {"requests": {
    "cpu": "1",
    "cpu": "2"}}}]}}"""


def errors_of(text: str) -> list[str]:
    return [str(error) for error in ingest([("c.json", text.encode())]).errors]


def test_the_object_is_left_out_and_named_with_field_and_line() -> None:
    read = ingest([("c.json", f'{{"kind": "List", "items": [\n{NODE},\n{TWICE}]}}'.encode())])

    assert read.counts == {"Node": 1}
    [error] = read.errors
    assert error.field == "spec.containers[0].resources.requests.cpu"
    assert (error.place.document, error.place.line) == (2, 6)
    assert error.place.subject == "Pod web"
    assert "stands twice" in error.message


def test_objects_alike_are_told_apart_by_line() -> None:
    read = ingest([("c.json", f"{TWICE}\n{NODE}\n{TWICE}".encode())])
    assert [error.place.line for error in read.errors] == [4, 9]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f'{{"kind": "List",\n "items": [{NODE}],\n "items": []}}', 3),
        (f'{{"kind": "PodList", "items" :[{NODE}]\n, "kind" : "PodList", "items":null }}', 2),
        (f'{{"nodes": [{NODE}],\n\n"nodes": []}}', 3),
    ],
)
def test_a_list_loses_none_of_its_objects(text: str, line: int) -> None:
    [error] = errors_of(text)
    assert "stands twice in one list" in error
    assert f"line {line}" in error


def test_a_key_may_be_spelt_in_two_ways() -> None:
    text = NODE.replace('{"name": "n"}', '{"name": "n", "na\\u006de": "m"}')
    assert "metadata.name" in errors_of(text)[0]


def test_kinds_that_are_not_modelled_may_be_as_they_are() -> None:
    text = '{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "a": "2"}}'
    read = ingest([("c.json", f"{NODE}{text}".encode())])
    assert (read.errors, read.counts) == ((), {"Node": 1})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_has_no_key_twice_is_let_through(value: Any) -> None:
    text = json.dumps(value, indent=1)
    assert not has_repeated_keys(text)
    assert list(repeated_keys(text)) == []


@given(st.dictionaries(st.text(), VALUES, min_size=1), VALUES)
def test_what_has_one_is_found_where_it_is(value: dict[str, Any], again: Any) -> None:
    key = next(iter(value))
    text = f"{json.dumps(value)[:-1]},\n{json.dumps(key)}: {json.dumps(again)}}}"
    assert has_repeated_keys(text)
    [found] = repeated_keys(text)
    assert found == (key, 2)
