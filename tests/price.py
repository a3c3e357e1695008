"""What tests cost: one that takes more processor time than `FREE_S` says why, or is `long`.

    @pytest.mark.slow("starts a server")

Processor time is what counts, of this process and of those it has waited for: a busy machine
stretches it far less than the time on a clock, but a slow one does: tests above `FREE_S` without
a reason are listed when all is over, and nothing fails.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from resource import RUSAGE_CHILDREN, getrusage
from typing import Final

import pytest

FREE_S: Final = 2.0

_dear: Final[dict[str, float]] = {}
"""The tests without a reason, and what they took; where the reports of all workers arrive."""


def _spent_s() -> float:
    children = getrusage(RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    before_s = _spent_s()
    try:
        return (yield)
    finally:
        says_why = any(map(item.get_closest_marker, ("slow", "long", "hypothesis")))
        if not says_why and (spent_s := _spent_s() - before_s) > FREE_S:
            item.user_properties.append(("cpu_s", round(spent_s, 1)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        for name, value in report.user_properties:
            if name == "cpu_s" and isinstance(value, float):
                _dear[report.nodeid] = value


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _dear:
        terminalreporter.section(f"more than {FREE_S:g} s of processor time, and no reason")
        for test, spent_s in sorted(_dear.items(), key=lambda each: -each[1]):
            terminalreporter.line(f"{spent_s:6.1f} s  {test}")
