"""Durations as Go writes them: `300ms`, `1.5h`, `2h45m`.

Upstream: Go's time.ParseDuration and Duration.String.
"""

import re
from fractions import Fraction
from typing import Final

_UNIT_NS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_MAX_NS: Final = 2**63 - 1
_MAX_DIGITS: Final = 100


def parse_duration(text: str) -> int:
    """Nanoseconds of a Go duration. Raises ValueError with Go's message."""
    unsigned = text[1:] if text[:1] in {"-", "+"} else text
    sign = -1 if text.startswith("-") else 1
    if unsigned == "0":
        return 0
    total_ns, position = 0, 0
    while position < len(unsigned):
        part = _PART.match(unsigned, position)
        if part is None or not (part[1] or part[2]) or len(part[0]) > _MAX_DIGITS:
            raise ValueError(f'time: invalid duration "{text}"')
        # Exact arithmetic: a float would round the nanoseconds of large values.
        amount = Fraction(f"{part[1] or 0}.{part[2] or 0}")
        total_ns += int(amount * _UNIT_NS[part[3]])
        position = part.end()
    if not unsigned or total_ns > _MAX_NS:
        raise ValueError(f'time: invalid duration "{text}"')
    return sign * total_ns


def format_duration(duration_ns: int) -> str:
    """The duration as Go prints it: `1m30s`, `1.5s`, `250ms`, `0s`."""
    sign, rest_ns = ("-", -duration_ns) if duration_ns < 0 else ("", duration_ns)
    if rest_ns == 0:
        return "0s"
    if rest_ns < _UNIT_NS["s"]:
        unit = next(unit for unit in ("ms", "µs", "ns") if rest_ns >= _UNIT_NS[unit])
        return f"{sign}{_decimal(rest_ns, _UNIT_NS[unit])}{unit}"
    minutes, seconds_ns = divmod(rest_ns, _UNIT_NS["m"])
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(seconds_ns, _UNIT_NS['s'])}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _decimal(amount_ns: int, unit_ns: int) -> str:
    whole, rest_ns = divmod(amount_ns, unit_ns)
    if not rest_ns:
        return str(whole)
    return f"{whole}.{rest_ns:0{len(str(unit_ns)) - 1}d}".rstrip("0")
