"""Amounts of resources as people read them, on pages, in commands and in exports.

Cpu is in milli, what is counted in bytes in bytes, all else in units. An amount that stands alone
has the unit that suits it: `500m`, `51.06`, `204.2Gi`, `1,576`. Amounts that are compared have one
unit, and none of them is rounded to nothing or to another: `needs 1, 0.5 free`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from scheduler_core.api.quantity import is_in_bytes

SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


class Scale(NamedTuple):
    """The unit in which a sentence has all its amounts of one resource."""

    divisor: int
    suffix: str
    decimals: int

    def text(self, amount: int) -> str:
        """Return an amount in this unit: `0.5`, `500m`, `1.5Gi`, `1,576`, `0`."""
        number = f"{amount / self.divisor:,.{self.decimals}f}"
        number = number.rstrip("0").rstrip(".") if self.decimals else number
        return f"{number}{self.suffix}" if number != "0" else number


def scale_of(resource: str, amounts: Iterable[int]) -> Scale:
    """Return the unit for amounts that are compared: never `needs 1, free 500m`.

    Cpu is in cores unless all amounts are below one. Bytes are in the largest binary unit in which
    one decimal changes no amount by more than a hundredth, but for those that are a hundredth of
    the largest, leaves different ones different, and rounds none to 0.
    """
    sizes = {abs(amount) for amount in amounts if amount}
    if resource == "cpu":
        in_milli = all(amount < 1000 for amount in sizes)
        return Scale(1, "m", 0) if in_milli else Scale(1000, "", 3)
    if is_in_bytes(resource):
        for step in range(len(SUFFIXES) - 1, 0, -1):
            scale = Scale(1024**step, SUFFIXES[step], 1)
            if _keeps_apart(scale, sizes):
                return scale
    return Scale(1, "", 0)


def in_one_unit(resource: str, *amounts: int) -> tuple[str, ...]:
    """Return amounts that stand beside each other: `("3.5", "16")`, `("0.5Gi", "31.4Gi")`."""
    scale = scale_of(resource, amounts)
    return tuple(map(scale.text, amounts))


def amount_text(resource: str, amount: int) -> str:
    """Return an amount that stands alone: `500m`, `51.06`, `12.3Gi`, `4`."""
    if resource == "cpu":
        scale = Scale(1, "m", 0) if abs(amount) < 1000 else Scale(1000, "", 2)
    elif is_in_bytes(resource):
        sizes = range(len(SUFFIXES) - 1, 0, -1)
        step = next((step for step in sizes if round(10 * abs(amount) / 1024**step) >= 10), 0)
        scale = Scale(1024**step, SUFFIXES[step], 1)
    else:
        scale = Scale(1, "", 0)
    return scale.text(amount)


def amounts_text(amounts: Mapping[str, int], only: Collection[str] | None = None) -> str:
    """Return amounts by resource, or those of the resources in `only`: `2 cpu, 1Gi memory`."""
    names = amounts if only is None else [name for name in only if name in amounts]
    return ", ".join(f"{amount_text(name, amounts[name])} {name}" for name in names)


def _keeps_apart(scale: Scale, amounts: Collection[int]) -> bool:
    tenths = {amount: round(10 * amount / scale.divisor) for amount in amounts}
    largest = max(amounts, default=0)
    close = all(
        abs(tenth * scale.divisor - 10 * amount) * 100 <= 10 * amount
        or (tenth and amount * 100 < largest)
        for amount, tenth in tenths.items()
    )
    return bool(amounts) and close and len(set(tenths.values())) == len(tenths)
