"""The coins: what comes up, how often, and that one does not depend on the others."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from scheduler_core.analysis.advice.coins import (
    COINS,
    Coin,
    Tosses,
    chunk_size,
    coins_of,
    finishing_order,
)
from scheduler_core.analysis.advice.intervals import Share

ARRIVAL: tuple[Coin, ...] = ("arrival",)
START: tuple[Coin, ...] = ("start",)
WORKERS: tuple[Coin, ...] = ("workers",)


@pytest.mark.parametrize("n_nodes", [1, 2, 16, 17, 100, 1523])
def test_workers_are_done_with_every_node_once(n_nodes: int) -> None:
    order = finishing_order(n_nodes, 16, np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(n_nodes))


def test_one_worker_has_one_order() -> None:
    tosses = Tosses(WORKERS, seed=1, n_workers=1)
    assert tosses.finishing_order(50) is None
    assert np.array_equal(finishing_order(50, 1, np.random.default_rng(1)), np.arange(50))


@pytest.mark.parametrize(
    ("n_nodes", "size"), [(1, 1), (12, 1), (16, 2), (100, 7), (256, 16), (5000, 70)]
)
def test_chunks_are_upstreams(n_nodes: int, size: int) -> None:
    assert chunk_size(n_nodes, 16) == size


def test_a_worker_is_done_with_its_chunk_in_order() -> None:
    order = finishing_order(100, 16, np.random.default_rng(3)).tolist()
    for begin in range(0, 100, 7):
        chunk = [node for node in order if begin <= node < begin + 7]
        assert chunk == sorted(chunk)


def test_with_a_worker_for_each_node_every_node_is_as_likely_to_be_first() -> None:
    lots = np.random.default_rng(5)
    first = Counter(int(finishing_order(4, 16, lots)[0]) for _ in range(2000))
    assert all(abs(n - 500) < 100 for n in first.values())
    assert set(first) == {0, 1, 2, 3}


def test_what_comes_up_depends_on_seed_coin_and_run_alone() -> None:
    one, all_of_them = Tosses(START, 7, 16), Tosses(COINS, 7, 16)
    alone = []
    for run in range(5):
        one.begin(START, 7, run)
        alone.append(one.start_index(1000))
    for run in (4, 2, 0, 1, 3):
        all_of_them.begin(COINS, 7, run)
        all_of_them.arrival_order(9)
        assert all_of_them.start_index(1000) == alone[run]
    assert len(set(alone)) > 1


def test_a_coin_that_is_not_tossed_is_pinned_and_one_without_a_choice_does_not_count() -> None:
    tosses = Tosses(ARRIVAL, 1, 16)
    assert tosses.narrowed_order(5) is None
    assert tosses.break_tie(["a", "b"]) == "a"
    assert (tosses.start_index(9), tosses.first_candidate(9)) == (0, 0)
    assert tosses.arrival_order(1) is None
    assert not tosses.n_choices
    assert tosses.arrival_order(2) is not None
    assert tosses.n_choices == {"arrival": 1}


def test_only_releases_that_draw_among_equals_toss_that_coin() -> None:
    assert "draws" in coins_of("draw")
    assert "draws" not in coins_of("heap")


def test_wilsons_interval() -> None:
    some = Share(37, 100)
    assert (round(some.low, 4), round(some.high, 4)) == (0.2818, 0.4678)
    assert (Share(0, 100).low, round(Share(0, 100).high, 4)) == (0.0, 0.037)
    assert (round(Share(100, 100).low, 4), Share(100, 100).high) == (0.963, 1.0)
    assert (Share(0, 0).low, Share(0, 0).high) == (0.0, 1.0)
