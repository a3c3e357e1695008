"""No id of a sentence is lost, and none changes what it is made of: it may be stored."""

from __future__ import annotations

import pytest

from kviz.catalogues.sentences import lost, problems

BEFORE = {"fit.short": "needs {asks}, the node has {has}", "list.and": "{a} and {b}"}


@pytest.mark.slow("reads every source")
def test_every_id_is_written_down_with_its_english() -> None:
    assert list(problems()) == []


def test_the_english_may_change() -> None:
    today = {**BEFORE, "fit.short": "{asks} asked for, {has:,} there", "fit.new": "{what}"}
    assert lost(BEFORE, today) == {}


def test_an_id_that_goes_or_is_made_of_something_else_is_named() -> None:
    assert lost(BEFORE, {"fit.short": "needs {asks}, the node has {free}"}) == {
        "fit.short": "other placeholders: give the sentence a new id",
        "list.and": "no longer said: move it to `retired`",
    }
