"""What holds for every cluster, whatever the real scheduler would do with it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.effort import examples
from tests.generator.clusters import FEATURES
from tests.generator.documents import cycle_document, sequence_document
from tests.generator.draw import Json
from tests.generator.play import play
from tests.without_memo import without_memo

MakeDocument = Callable[[int], Json]
SEEDS = st.integers(0, 2**32 - 1)


@examples(30)
@given(SEEDS)
def test_cached_answers_change_nothing_in_a_cycle(seed: int) -> None:
    check_cached_answers(cycle_document(seed))


@examples(10)
@given(SEEDS)
@example(28)
def test_cached_answers_change_nothing_in_a_sequence(seed: int) -> None:
    check_cached_answers(sequence_document(seed))


def check_cached_answers(document: Json) -> None:
    cached = play(document)
    with without_memo():
        assert play(document) == cached


@pytest.mark.parametrize("make", [cycle_document, sequence_document])
def test_a_seed_gives_the_same_document_and_another_seed_another_one(make: MakeDocument) -> None:
    documents = [json.dumps(make(seed)) for seed in (*range(20), *range(20))]
    assert documents[:20] == documents[20:]
    assert len(set(documents)) == 20


def test_few_seeds_make_use_of_every_feature() -> None:
    made = [*map(cycle_document, range(20)), *map(sequence_document, range(20))]
    assert {feature for document in made for feature in document["tags"]} >= set(FEATURES)
