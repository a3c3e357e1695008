"""Answers for an assistant: short, with the rest on request, and with nothing hidden in them."""

from __future__ import annotations

import pytest

from kviz.mcp.answers import KEPT, MAX_TEXT, Answers, NotThere, shortened, visible


def test_a_long_list_says_how_long_it_is_and_more_has_the_rest() -> None:
    answers = Answers()
    given = answers.give({"pods": [{"name": f"p{i}"} for i in range(70)]})
    assert given["answer_id"] == "a1"
    assert given["answer"] == {
        "pods": {"shown": 10, "of": 70, "entries": [{"name": f"p{i}"} for i in range(10)]}
    }
    rest = answers.more("a1", "pods", 60)
    assert rest == {"of": 70, "after": 60, "entries": [{"name": f"p{i}"} for i in range(60, 70)]}
    assert answers.more("a1", "pods/69/name", 0)["text"] == "p69"


def test_tables_by_name_and_long_texts_are_cut_too() -> None:
    by_node = {f"n{i}": i for i in range(21)}
    cut = shortened({"by_node": by_node, "text": "x" * (MAX_TEXT + 1)})
    assert isinstance(cut, dict)
    assert cut["by_node"]["shown"] == 10
    assert cut["by_node"]["of"] == 21
    assert cut["text"] == "x" * MAX_TEXT + "… (601 characters)"
    answers = Answers()
    answers.give({"by_node": by_node})
    assert answers.more("a1", "by_node", 20)["entries"] == {"n20": 20}


def test_what_is_not_there_is_said() -> None:
    answers = Answers()
    answers.give({"a": [1]})
    for answer, path in (("a2", ""), ("a1", "b"), ("a1", "a/1"), ("a1", "a/0/x")):
        with pytest.raises(NotThere):
            answers.more(answer, path, 0)
    for _ in range(KEPT):
        answers.give({})
    with pytest.raises(NotThere, match="any more"):
        answers.more("a1", "", 0)


def test_nothing_hides_in_a_name() -> None:
    assert visible("web\u202e\x1b[2J\u200b\nweb-雲") == "web\\u202e\\x1b[2J\\u200b\nweb-雲"
    assert shortened({"a\x00": ["\u200f"]}) == {"a\\x00": ["\\u200f"]}
