"""Go's durations, read and printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.config.duration import format_duration, parse_duration

MS = 1_000_000
SECOND = 1_000 * MS


@pytest.mark.parametrize(
    ("text", "duration_ns"),
    [
        ("0", 0),
        ("-0", 0),
        ("0s", 0),
        ("5s", 5 * SECOND),
        ("+5s", 5 * SECOND),
        ("-5.s", -5 * SECOND),
        (".5s", SECOND // 2),
        ("1m30s", 90 * SECOND),
        ("1h1m1s1ms1us1ns", 3661 * SECOND + 1_001_001),
        ("3µs", 3_000),
        ("3μs", 3_000),
        ("1s1s", 2 * SECOND),
        ("0.3333333333333333333h", 20 * 60 * SECOND - 1),
        ("9223372036854775807ns", 2**63 - 1),
    ],
)
def test_read(text: str, duration_ns: int) -> None:
    assert parse_duration(text) == duration_ns


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "5",
        "s",
        ".s",
        "1 s",
        "1d",
        "--1s",
        "1s-1s",
        "9223372036854775808ns",
        "1" * 200 + "s",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError, match="time: invalid duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_500, "1.5µs"),
        (250 * MS, "250ms"),
        (SECOND, "1s"),
        (1_500 * MS, "1.5s"),
        (60 * SECOND, "1m0s"),
        (600 * SECOND, "10m0s"),
        (3600 * SECOND, "1h0m0s"),
        (-90 * SECOND - 1, "-1m30.000000001s"),
    ],
)
def test_printed(duration_ns: int, text: str) -> None:
    assert format_duration(duration_ns) == text


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_what_is_printed_is_read_again(duration_ns: int) -> None:
    assert parse_duration(format_duration(duration_ns)) == duration_ns
