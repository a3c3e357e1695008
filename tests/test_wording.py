"""Texts know what they were made of, on every way they go."""

from __future__ import annotations

import json
import pickle

import msgspec

from kviz.sentences import said
from scheduler_core.api import Pod
from scheduler_core.changes.vocabulary import Target
from scheduler_core.wording import (
    AND,
    Text,
    builtins,
    capitalised,
    packed,
    say,
    series,
    some_of,
    unpacked,
)

NEEDS = say(
    "fit.short_of",
    "needs {asks}, {free} free of {allocatable}: {detail}",
    asks=say("room.amount", "{amount} {resource}", amount=2, resource="cpu"),
    free=1,
    allocatable=4,
    detail=say("count.pods", "{n:,} pods", n=1500),
)


def test_a_text_is_its_english() -> None:
    assert NEEDS == "needs 2 cpu, 1 free of 4: 1,500 pods"
    assert series(["a", "b", "c"]) == "a, b, c"
    assert series(["a", "b"], AND) == "a and b"
    assert series(["a"]) == "a"
    assert series([]) == ""
    assert some_of(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_values_are_put_in_once() -> None:
    assert say("list.and", "{a} and {b}", a="{b}", b="{a}") == "{b} and {a}"


def test_a_stored_text_is_read_with_what_it_was_made_of() -> None:
    document = {"lead": NEEDS, "also": [series(["a", "b"]), "plain", capitalised(NEEDS)], "n": 3}
    stored = json.loads(json.dumps(packed(document)))
    found = said(stored)
    assert found == document
    assert isinstance(found, dict)
    assert (found["lead"].id, found["lead"].template) == (NEEDS.id, NEEDS.template)
    assert isinstance(found["lead"].values["asks"], Text)
    assert isinstance(found["also"][0], Text)
    assert type(found["also"][1]) is str


def test_a_stored_text_follows_a_new_wording() -> None:
    stored = {"say": "count.pods", "with": {"n": 2}}
    assert unpacked(stored, lambda id, values: Text(id, "there are {n} pods", values)) == (
        "there are 2 pods"
    )


def test_what_was_stored_before_there_were_ids_is_found_by_its_template() -> None:
    known = said({"say": "{n:,} pods", "with": {"n": 1500}})
    assert isinstance(known, Text)
    assert (known, known.id) == ("1,500 pods", "count.pods")
    unknown = said({"say": "it has {n} pods, it said once", "with": {"n": 3}})
    assert unknown == "it has 3 pods, it said once"
    assert type(unknown) is str


def test_what_is_no_json_is_stored_as_it_is_written() -> None:
    text = say("change.delete", "delete {target}", target=Target(Pod, "shop", "web"))
    assert said(json.loads(json.dumps(packed(text)))) == "delete pod shop/web"


def test_another_process_receives_the_same() -> None:
    found = pickle.loads(pickle.dumps(NEEDS))
    assert found == NEEDS
    assert (found.id, found.template, found.values) == (NEEDS.id, NEEDS.template, NEEDS.values)


def test_a_number_beyond_64_bits_is_stored_as_it_is_shown() -> None:
    too_large = say("field.out_of_range", "{value} is out of range", value=10**30)
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(packed(too_large)))
    assert said(stored) == f"{10**30} is out of range"


def test_documents_keep_texts() -> None:
    document = builtins({"a": (NEEDS,)})
    assert document == {"a": ["needs 2 cpu, 1 free of 4: 1,500 pods"]}
    assert isinstance(document, dict)
    assert isinstance(document["a"][0], Text)


def test_what_begins_a_line_has_a_capital_letter() -> None:
    found = capitalised(NEEDS)
    assert isinstance(found, Text)
    assert found == "Needs 2 cpu, 1 free of 4: 1,500 pods"
    assert (found.id, found.template, found.values) == (NEEDS.id, NEEDS.template, NEEDS.values)
    assert pickle.loads(pickle.dumps(found)) == found
    assert builtins([found]) == [found]
    assert [capitalised(each) for each in ("", "a b", "Ab")] == ["", "A b", "Ab"]
