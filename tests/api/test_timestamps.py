from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api.timestamps import TimestampError, parse_timestamp, timestamp_text


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.000000001Z", 1_000_000_001),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:30:00-00:30", 0),
        ("2026-01-31T08:15:00Z", 1_769_847_300_000_000_000),
        ("2026-01-31T08:15:00.25Z", 1_769_847_300_250_000_000),
        ("2026-01-31T08:15:00.1234567899Z", 1_769_847_300_123_456_789),
        ("1969-12-31T23:59:59Z", -1_000_000_000),
    ],
)
def test_known_times(text: str, nanoseconds: int) -> None:
    assert parse_timestamp(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "2026-01-31", "2026-02-30T00:00:00Z", "2026-01-31T25:00:00Z",
        "2026-01-31T08:60:00Z", "2026-01-31T08:15:00", "2026-13-01T00:00:00Z",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(TimestampError, match="is not a time"):
        parse_timestamp(text)


@pytest.mark.parametrize("year", ["0000", "0001", "1699", "2201", "9999"])
def test_a_time_too_far_away_is_refused(year: str) -> None:
    with pytest.raises(TimestampError, match="is not between the years 1700 and 2200"):
        parse_timestamp(f"{year}-01-01T00:00:00Z")


def test_a_time_outside_the_calendar_cannot_be_printed() -> None:
    with pytest.raises(TimestampError, match="outside the calendar"):
        timestamp_text(10**30)


@given(st.integers(-8_500_000_000_000_000, 7_200_000_000_000_000))
def test_times_agree_with_the_calendar(microseconds: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    nanoseconds = parse_timestamp(moment.isoformat())
    expected = moment - datetime(1970, 1, 1, tzinfo=UTC)
    assert nanoseconds == (expected.days * 86_400 + expected.seconds) * 10**9 + (
        expected.microseconds * 1000
    )
    assert parse_timestamp(timestamp_text(nanoseconds)) == nanoseconds
