"""What the garbage collector skips, and when it looks again."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from scheduler_core.api.gc_freeze import freeze, gc_frozen, unfreeze


@pytest.fixture(autouse=True)
def _nothing_frozen() -> Iterator[None]:
    unfreeze()
    yield
    freeze()  # as the tests have it


def test_what_is_loaded_is_frozen_until_the_end_of_the_block() -> None:
    loaded: list[list[int]] = []
    with gc_frozen(lambda: loaded.append([1])):
        assert gc.get_freeze_count() > 0
        assert not freeze()
    assert gc.get_freeze_count() == 0
    assert loaded == [[1]]


def test_what_a_process_froze_before_stays_frozen() -> None:
    assert freeze()
    before = gc.get_freeze_count()
    with gc_frozen(lambda: None):
        pass
    assert before / 2 < gc.get_freeze_count() <= before
