"""Work done by copies of this process: in order, incrementally, whatever happens to a copy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kviz.forking.copies import (
    MANY,
    CopyDied,
    Count,
    Died,
    Doing,
    Done,
    as_done,
    mapped,
    n_cores,
    side_by_side,
)
from tests.faults.servers import children_of
from tests.waiting import ending, eventually


def test_results_are_in_the_order_of_the_items() -> None:
    assert mapped(lambda word: word.upper() * 200_000, "abc", 2) == [c * 200_000 for c in "ABC"]
    assert mapped(len, [], 2) == []


def test_what_a_copy_changes_stays_in_it() -> None:
    kept = [1]

    def change(number: int) -> list[int]:
        kept.append(number)
        return kept

    assert mapped(change, [7, 8], 1) == [[1, 7], [1, 8]]
    assert kept == [1]


def test_what_a_piece_of_work_raises_is_raised_and_says_where() -> None:
    def fail(number: int) -> int:
        return 1 // number

    with pytest.raises(ZeroDivisionError) as failure:
        mapped(fail, [1, 0], 2)
    assert "in fail" in "".join(failure.value.__notes__)


def test_a_copy_that_is_killed_is_begun_again(tmp_path: Path) -> None:
    def work(number: int) -> int:
        mark = tmp_path / str(number)
        if number == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number * 10

    assert mapped(work, [0, 1, 2], 2) == [0, 10, 20]


def test_a_piece_of_work_that_kills_its_copies_is_given_up_and_the_others_go_on() -> None:
    def work(number: int) -> int:
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    found = [each for batch in as_done(work, range(3), 2) for each in batch]
    assert Died(1, "its process died 2 times (signal 9)") in found
    assert {each.number for each in found if isinstance(each, Done)} == {0, 2}
    with pytest.raises(CopyDied):
        mapped(work, range(3), 2)


def test_numbers_are_taken_when_a_copy_may_begin_and_closing_ends_the_copies(
    tmp_path: Path,
) -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    def work(number: int) -> int:
        (tmp_path / str(os.getpid())).touch()
        if number > 0:
            signal.pause()
        return number

    batches = as_done(work, numbers(), 2, tick_s=0.01)
    while not next(batches):
        pass
    while next(batches) or len(list(tmp_path.iterdir())) < 3:
        pass
    assert taken == [0, 1, 2]
    batches.close()
    for file in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.name), 0)


def test_how_far_a_piece_is_is_heard_where_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kviz.forking.copies.TELL_S", 0.0)
    heard: list[int] = []
    count = Count(heard.append)
    count()
    assert heard == [1]
    pipes = {number: os.pipe() for number in (2, 3)}

    def work(number: int) -> int:
        for _ in range(number):
            count()
            os.read(pipes[number][0], 1)  # or a later count would take the place of this one
        return number

    counts: list[tuple[int, int]] = []
    values: set[int] = set()
    for found in as_done(work, [3, 2], 2, count=count):
        for each in found:
            if isinstance(each, Doing):
                counts.append((each.number, each.count))
                os.write(pipes[each.number][1], b".")
            elif isinstance(each, Done):
                values.add(each.value)
    for pipe in pipes.values():
        os.close(pipe[0])
        os.close(pipe[1])
    assert values == {2, 3}
    assert sorted(counts) == [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
    assert heard == [1]


def test_copies_side_by_side_do_one_piece_after_the_other() -> None:
    done = dict(side_by_side(2)(lambda number: (os.getpid(), number * 10), iter(range(20))))
    assert {number: value for number, (_, value) in done.items()} == {n: n * 10 for n in range(20)}
    assert 1 <= len({pid for pid, _ in done.values()}) <= 2


def test_a_copy_that_lasts_counts_each_piece_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kviz.forking.copies.TELL_S", 0.0)
    count = Count(lambda n: None)

    def work(number: int) -> int:
        for _ in range(3):
            count()
        return os.getpid()

    found = [each for some in as_done(work, range(5), 1, 0.5, count, MANY) for each in some]
    assert {each.count for each in found if isinstance(each, Doing)} <= {1, 2, 3}
    pids = [each.value for each in found if isinstance(each, Done)]
    assert (len(pids), len(set(pids)), pids[0] != os.getpid()) == (5, 1, True)


def test_a_copy_that_lasts_and_is_killed_is_replaced(tmp_path: Path) -> None:
    def work(number: int) -> int:
        mark = tmp_path / str(number)
        if number == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert dict(side_by_side(2)(work, iter(range(6)))) == {n: n for n in range(6)}
    with pytest.raises(CopyDied):
        dict(side_by_side(2)(lambda number: os.kill(os.getpid(), signal.SIGKILL), iter([0])))


def test_a_long_answer_of_a_copy_that_lasts_is_read_whole() -> None:
    done = dict(side_by_side(1)(lambda number: str(number) * 3_000_000, iter(range(3))))
    assert [(value[0], len(value)) for value in done.values()] == [
        (str(n), 3_000_000) for n in range(3)
    ]


def test_closing_ends_copies_that_last() -> None:
    done = side_by_side(2)(lambda number: os.getpid(), iter(range(100)))
    pids = {next(done)[1] for _ in range(10)}
    done.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_there_is_a_core() -> None:
    assert n_cores() >= 1


AT_WORK = """
import signal
from kviz.forking.copies import as_done
list(as_done(lambda number: signal.pause(), range(2), 2))
"""
JUST_FORKED = """
import os, signal, time
from kviz.forking import copies
end_with = copies.end_with_parent
def once_it_has_ended(first):
    while os.getppid() == first:
        time.sleep(0.01)
    end_with(first)
copies.end_with_parent = once_it_has_ended
list(copies.as_done(lambda number: signal.pause(), range(2), 2))
"""


@pytest.mark.parametrize(
    "program", [pytest.param(AT_WORK, id="at work"), pytest.param(JUST_FORKED, id="just forked")]
)
def test_copies_end_with_the_process_they_are_copies_of(program: str) -> None:
    with subprocess.Popen([sys.executable, "-c", program]) as first:
        copies = eventually(lambda: found if len(found := children_of(first.pid)) == 2 else None)
        with ending(copies):
            first.kill()
