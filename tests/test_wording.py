"""Texts know what they were made of, on every way they go."""

from __future__ import annotations

import json
import pickle

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

NEEDS = say("needs {asks}, {n:,} short", asks=say("{n} cpu", n=2), n=1500)


def test_a_text_is_its_english() -> None:
    assert NEEDS == "needs 2 cpu, 1,500 short"
    assert series(["a", "b", "c"]) == "a, b, c"
    assert series(["a", "b"], AND) == "a and b"
    assert series(["a"]) == "a"
    assert series([]) == ""
    assert some_of(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_values_are_put_in_once() -> None:
    assert say("{a} and {b}", a="{b}", b="{a}") == "{b} and {a}"


def test_a_stored_text_is_read_with_what_it_was_made_of() -> None:
    document = {"lead": NEEDS, "also": [series(["a", "b"]), "plain"], "n": 3}
    stored = json.loads(json.dumps(packed(document)))
    found = unpacked(stored)
    assert found == document
    assert isinstance(found, dict)
    assert found["lead"].template == "needs {asks}, {n:,} short"
    assert isinstance(found["lead"].values["asks"], Text)
    assert isinstance(found["also"][0], Text)
    assert type(found["also"][1]) is str


def test_what_is_no_json_is_stored_as_it_is_written() -> None:
    text = say("delete {target}", target=Target(Pod, "shop", "web"))
    assert unpacked(json.loads(json.dumps(packed(text)))) == "delete pod shop/web"


def test_another_process_receives_the_same() -> None:
    found = pickle.loads(pickle.dumps(NEEDS))
    assert found == NEEDS
    assert (found.template, found.values) == (NEEDS.template, NEEDS.values)


def test_documents_keep_texts() -> None:
    document = builtins({"a": (NEEDS,)})
    assert document == {"a": ["needs 2 cpu, 1,500 short"]}
    assert isinstance(document, dict)
    assert isinstance(document["a"][0], Text)


def test_what_begins_a_line_has_a_capital_letter() -> None:
    found = capitalised(NEEDS)
    assert isinstance(found, Text)
    assert found == "Needs 2 cpu, 1,500 short"
    assert (found.template, found.values) == (NEEDS.template, NEEDS.values)
    assert pickle.loads(pickle.dumps(found)) == found
    assert builtins([found]) == [found]
    assert [capitalised(each) for each in ("", "a b", "Ab")] == ["", "A b", "Ab"]
