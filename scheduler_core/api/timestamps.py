"""RFC 3339 times as nanoseconds since the Unix epoch, and back."""

import re
from datetime import date
from functools import lru_cache

from scheduler_core.wording import say

_RFC3339 = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})[Tt ]"
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,30}))?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<zone_hour>[0-9]{2}):(?P<zone_minute>[0-9]{2}))"
)
MIN_YEAR, MAX_YEAR = 1700, 2200
"""Beyond these, nanoseconds leave the range of 64 bits, or would in the course of a run."""

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_NS_PER_SECOND = 1_000_000_000
_SECONDS_PER_DAY = 86_400

TIMESTAMPS = range(
    *(
        (date(year, 1, 1).toordinal() - _EPOCH_DAY) * _SECONDS_PER_DAY * _NS_PER_SECOND
        for year in (MIN_YEAR - 1, MAX_YEAR + 2)
    )
)
"""The nanoseconds that a text can say, with a year at each end for zones and leap seconds."""


class TimestampError(ValueError):
    """The text is not an RFC 3339 time, or too far away; the message quotes it."""


@lru_cache(maxsize=65536)
def parse_timestamp(text: str) -> int:
    """Nanoseconds since the epoch, cut after the ninth decimal. Raises TimestampError."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise TimestampError(_complaint(text))
    clock = [int(found[part]) for part in ("hour", "minute", "second")]
    if clock[0] > 23 or clock[1] > 59 or clock[2] > 60:
        raise TimestampError(_complaint(text))
    if not MIN_YEAR <= int(found["year"]) <= MAX_YEAR:
        raise TimestampError(
            say(
                "field.year_out_of_range",
                '"{text}" is not between the years {first} and {last}',
                text=text,
                first=MIN_YEAR,
                last=MAX_YEAR,
            )
        )
    try:
        day = date(int(found["year"]), int(found["month"]), int(found["day"])).toordinal()
    except ValueError:
        raise TimestampError(_complaint(text)) from None
    seconds = (day - _EPOCH_DAY) * _SECONDS_PER_DAY + clock[0] * 3600 + clock[1] * 60 + clock[2]
    if found["sign"]:
        offset_seconds = int(found["zone_hour"]) * 3600 + int(found["zone_minute"]) * 60
        seconds -= offset_seconds if found["sign"] == "+" else -offset_seconds
    return seconds * _NS_PER_SECOND + int((found["fraction"] or "0").ljust(9, "0")[:9])


def timestamp_text(timestamp: int) -> str:
    """The time in UTC as the API prints it; decimals only where there are any.

    Raises :class:`TimestampError` outside the years 1 to 9999.
    """
    seconds, nanoseconds = divmod(timestamp, _NS_PER_SECOND)
    days, second = divmod(seconds, _SECONDS_PER_DAY)
    try:
        day = date.fromordinal(days + _EPOCH_DAY)
    except (ValueError, OverflowError):
        raise TimestampError(
            say(
                "field.time_out_of_range",
                "{timestamp} ns lies outside the calendar",
                timestamp=timestamp,
            )
        ) from None
    fraction = f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{day.isoformat()}T{clock}{fraction}Z"


def _complaint(text: str) -> str:
    shown = text if len(text) <= 40 else text[:37] + "..."
    return say("field.not_time", '"{text}" is not a time such as 2026-01-31T08:15:00Z', text=shown)
