"""What is known of a pod that found no node, and how the scheduler words it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.diagnosis import ABSENT_STATUS, Diagnosis, VerdictBuilder
from scheduler_core.framework.status import (
    MAX_REASONS,
    SUCCESS,
    Code,
    ListedVerdict,
    Status,
    Verdict,
)
from tests.builders import make_node
from tests.plugins.harness import World

SOON, NEVER, PENDING = Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING


def cluster(n: int) -> World:
    return World(*(make_node(f"n{i:02}").obj() for i in range(n)))


def diagnosed(n: int, *statuses: Status | None, **fields: Any) -> Diagnosis:
    """Diagnose `n` nodes of which the first have these statuses (None: none of their own)."""
    diagnosis = Diagnosis(cluster(n).all_nodes(), **fields)
    for i, status in enumerate(statuses):
        if status is not None:
            diagnosis.set_status(f"n{i:02}", status)
    return diagnosis


def rejected(*reasons: str, code: Code = SOON, plugin: str = "P") -> Status:
    return Status(code, reasons, plugin)


# ---------------------------------------------------------------- the message

CPU, TAINT = rejected("Insufficient cpu"), rejected("node(s) had untolerated taint(s)", code=NEVER)


@pytest.mark.parametrize(
    ("diagnosis", "message"),
    [
        (diagnosed(1, CPU), "0/1 nodes are available: 1 Insufficient cpu."),
        (
            diagnosed(3, TAINT, CPU, CPU),
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.",
        ),
        (
            diagnosed(2, rejected("Insufficient cpu", "Insufficient memory"), CPU),
            "0/2 nodes are available: 1 Insufficient memory, 2 Insufficient cpu.",
        ),
        (diagnosed(2, Status(SOON, (), "P"), Status(NEVER, (), "Q")), "0/2 nodes are available:"),
        (
            diagnosed(3, CPU, absent=rejected("out of the question")),
            "0/3 nodes are available: 1 Insufficient cpu, 2 out of the question.",
        ),
        (diagnosed(3, CPU), "0/3 nodes are available: 1 Insufficient cpu."),
        (diagnosed(0), "0/0 nodes are available:"),
        (
            diagnosed(2, CPU, CPU, post_filter_message="preemption: 0/2 nodes are available."),
            "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available.",
        ),
        (
            diagnosed(2, pre_filter_message='persistentvolumeclaim "data" not found'),
            '0/2 nodes are available: persistentvolumeclaim "data" not found.',
        ),
        (
            diagnosed(2, CPU, pre_filter_message="no such claim", post_filter_message="sorry"),
            "0/2 nodes are available: no such claim. sorry",
        ),
    ],
)
def test_the_message(diagnosis: Diagnosis, message: str) -> None:
    assert diagnosis.message() == message


def test_a_node_that_the_cluster_does_not_have_counts() -> None:
    """An extender may name any."""
    diagnosis = diagnosed(2, CPU)
    diagnosis.set_status("elsewhere", rejected("not mine"))
    assert len(diagnosis) == 2
    assert diagnosis.message() == "0/2 nodes are available: 1 Insufficient cpu, 1 not mine."


REASONS = st.lists(st.sampled_from(["x", "y", "zz"]), unique=True, max_size=3).map(tuple)
STATUSES = st.builds(Status, st.sampled_from([SOON, NEVER, PENDING]), REASONS, st.just("P"))


@given(
    statuses=st.lists(st.none() | STATUSES, max_size=12), spare=st.integers(0, 3), absent=REASONS
)
def test_the_histogram_adds_up(
    statuses: list[Status | None], spare: int, absent: tuple[str, ...]
) -> None:
    n = len(statuses) + spare
    diagnosis = diagnosed(n, *statuses, absent=Status(NEVER, absent))
    every = [status.reasons if status else absent for status in statuses] + [absent] * spare
    counts = {reason: sum(reason in each for each in every) for reason in ("x", "y", "zz")}
    lines = sorted(f"{count} {reason}" for reason, count in counts.items() if count)
    tail = f" {', '.join(lines)}." if lines else ""
    assert diagnosis.message() == f"0/{n} nodes are available:{tail}"


# ---------------------------------------------------------------- statuses and plugins


def test_who_may_be_woken() -> None:
    diagnosis = diagnosed(1)
    for status in (
        rejected("a", plugin="Soon"),
        rejected("b", plugin="Never", code=NEVER),
        rejected("c", plugin="Pending", code=PENDING),
        rejected("d", plugin="Wrong", code=Code.ERROR),
        rejected("e", plugin=""),
    ):
        diagnosis.add_plugin_status(status)
    assert diagnosis.unschedulable_plugins == {"Soon", "Never", "Pending"}
    assert diagnosis.pending_plugins == {"Pending"}


def test_recording_verdicts() -> None:
    nodes = cluster(4).all_nodes()
    builder = VerdictBuilder(4)
    everyone = np.arange(4)
    builder.add("A", everyone, Verdict.reject(np.array([1, 0, 0, 0], bool), SOON, "a"))
    undecided = builder.undecided()
    builder.add("B", undecided, Verdict.reject(np.array([0, 0, 1], bool), NEVER, "b"))
    diagnosis = Diagnosis(nodes)
    diagnosis.record(nodes, builder.build())
    assert [diagnosis.status(name) for name in nodes.names] == [
        rejected("a", plugin="A"),
        ABSENT_STATUS,
        ABSENT_STATUS,
        rejected("b", plugin="B", code=NEVER),
    ]
    assert diagnosis.unschedulable_plugins == {"A", "B"}
    assert len(diagnosis) == 2


# ---------------------------------------------------------------- building verdicts


@st.composite
def verdicts(draw: st.DrawFn, n: int) -> Verdict:
    kinds = draw(
        st.lists(
            st.tuples(st.sampled_from([SOON, NEVER]), st.text(max_size=2)),
            max_size=4,
            unique_by=lambda kind: kind[1],
        )
    )
    masks = [np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool) for _ in kinds]
    rejections = [(m, code, text) for m, (code, text) in zip(masks, kinds, strict=True)]
    return Verdict.of(n, rejections)


@given(data=st.data(), n=st.integers(1, 6))
def test_building_plugin_by_plugin_is_taking_the_first_rejection(
    data: st.DataObject, n: int
) -> None:
    told = {name: data.draw(verdicts(n)) for name in ("A", "B", "C")}
    builder = VerdictBuilder(n)
    for name, verdict in told.items():
        at = builder.undecided()
        part = Verdict(verdict.code[at], verdict.reasons[at], verdict.texts)
        builder.add(name, at, part)
    built = builder.build()
    for i in range(n):
        first = next((name for name, v in told.items() if v.code[i]), None)
        expected = told[first].status(i).by(first) if first else SUCCESS
        assert built.status(i) == expected
        assert bool(built.fits[i]) is (first is None)


def test_several_reasons_take_the_gravest_code() -> None:
    mask = np.array([True, True, False, False])
    other = np.array([True, False, True, False])
    verdict = Verdict.of(4, [(mask, SOON, "soon"), (other, NEVER, "never")])
    assert [verdict.status(i) for i in range(4)] == [
        Status(NEVER, ("soon", "never")),
        Status(SOON, ("soon",)),
        Status(NEVER, ("never",)),
        SUCCESS,
    ]
    assert verdict.fits.tolist() == [False, False, False, True]


def test_a_verdict_has_room_for_so_many_reasons() -> None:
    mask = np.ones(1, bool)
    full = Verdict.of(1, [(mask, SOON, f"r{i}") for i in range(MAX_REASONS)])
    assert len(full.texts_at(0)) == MAX_REASONS
    builder = VerdictBuilder(1)
    builder.add("P", np.arange(1), full)
    assert builder.build().status(0).reasons == full.texts
    with pytest.raises(ValueError, match="at most 61 reasons"):
        Verdict.of(1, [(mask, SOON, f"r{i}") for i in range(MAX_REASONS + 1)])


def test_codes_and_reasons_do_not_run_into_each_other() -> None:
    """Pending needs a third bit, next to the first reason's."""
    code = np.array([PENDING, SOON, NEVER, SOON], np.int8)
    verdict = Verdict(code, np.array([1, 1, 1, 3], np.uint64), ("x", "y"))
    builder = VerdictBuilder(4)
    builder.add("P", np.arange(4), verdict)
    built = builder.build()
    assert [built.status(i) for i in range(4)] == [
        Status(PENDING, ("x",), "P"),
        Status(SOON, ("x",), "P"),
        Status(NEVER, ("x",), "P"),
        Status(SOON, ("x", "y"), "P"),
    ]


def test_lists_of_reasons() -> None:
    listed = ListedVerdict(
        np.array([0, SOON, SOON], np.int8), np.array([0, 2, 1], np.uint64), (), ((), ("b",), ("a",))
    )
    assert [listed.status(i).reasons for i in range(3)] == [(), ("a",), ("b",)]


@pytest.mark.parametrize(
    ("code", "label"),
    [
        (Code.SUCCESS, "Success"),
        (Code.ERROR, "Error"),
        (SOON, "Unschedulable"),
        (NEVER, "UnschedulableAndUnresolvable"),
        (Code.WAIT, "Wait"),
        (Code.SKIP, "Skip"),
        (PENDING, "Pending"),
    ],
)
def test_codes_are_spelled_as_upstream_does(code: Code, label: str) -> None:
    assert code.label == label
    assert Status(code).is_rejected is (code in (SOON, NEVER, PENDING))
