"""Kubernetes quantities: exact amounts such as ``250m``, ``1.5Gi`` or ``12e6``.

API objects keep quantities as text. The functions here read that text and remember the answer:
a cluster holds few distinct amounts and asks for them often.

Upstream: v1.36 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go. One difference: an
amount beyond int64 saturates here, where upstream wraps around or turns into zero.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from scheduler_core.wording import say

Notation = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

MAX_INT64 = (1 << 63) - 1

_GRAMMAR = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?P<suffix>[eEinumkKMGTP]*[+-]?[0-9]*)"
)
_DECIMAL_EXPONENTS = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL_EXPONENTS.items()}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_WRITTEN = re.compile(r"(?P<amount>[0-9]+(?:[.,][0-9]+)?)[ \t]*(?P<unit>[A-Za-z]*)")
_UNITS = {
    **dict.fromkeys(("", "core", "cpu", "vcpu", "byte", "b"), ""),
    **dict.fromkeys(("m", "mcpu", "millicore", "millicpu"), "m"),
    **{
        name: f"{step}i"
        for step in ("K", "M", "G", "T")
        for name in (f"{step.lower()}i", f"{step.lower()}b", f"{step.lower()}ib", step.lower())
        if name != "m"
    },
}
"""Units as people write them, in small letters, and what is a quantity with them."""
_NANO_EXPONENT = -9
_MILLI_EXPONENT = -3

# No honest amount comes near these; beyond them exact arithmetic would only burn time.
_MAX_TEXT_LENGTH = 256
_MAX_EXPONENT = 400


class QuantityError(ValueError):
    """The text is not a quantity; the message says what is wrong and quotes it."""


class Quantity(NamedTuple):
    """The exact amount ``unscaled * 10**exponent`` and the notation it was written in."""

    unscaled: int
    exponent: int
    notation: Notation

    def scaled_value(self, exponent: int) -> int:
        """The amount in units of ``10**exponent``, rounded away from zero, within int64."""
        shift = self.exponent - exponent
        if shift >= 0:
            scaled = self.unscaled * _power_of_ten(shift)
        else:
            scaled = _divide_away_from_zero(self.unscaled, _power_of_ten(-shift))
        return max(-MAX_INT64 - 1, min(MAX_INT64, scaled))

    def canonical(self) -> str:
        """The text the API server would print."""
        if self.unscaled == 0:
            return "0"
        if self.notation == "BinarySI" and self._is_binary_integer():
            return _binary_text(self.scaled_value(0))
        return _decimal_text(self)

    def _is_binary_integer(self) -> bool:
        whole = self.scaled_value(0)
        exact = self.exponent >= 0 or self.unscaled % _power_of_ten(-self.exponent) == 0
        return exact and abs(whole) >= 1024


@lru_cache(maxsize=65536)
def parse_quantity(text: str) -> Quantity:
    """The exact amount that ``text`` writes. Raises :class:`QuantityError`."""
    stripped = text.strip()
    found = _GRAMMAR.fullmatch(stripped)
    if found is None or not stripped or len(stripped) > _MAX_TEXT_LENGTH:
        raise QuantityError(_complaint(text))
    fraction = found["fraction"] or ""
    unscaled = int((found["whole"] + fraction) or "0")
    if found["sign"] == "-":
        unscaled = -unscaled
    base, power, notation = _interpret_suffix(found["suffix"], text)
    if base == 2:
        return _normalised(unscaled << power, -len(fraction), notation)
    return _normalised(unscaled, power - len(fraction), notation)


@lru_cache(maxsize=65536)
def value(text: str) -> int:
    """The amount in whole units, rounded up as ``Quantity.Value`` does.

    Raises :class:`QuantityError`.
    """
    return parse_quantity(text).scaled_value(0)


@lru_cache(maxsize=65536)
def milli_value(text: str) -> int:
    """The amount in thousandths, rounded up as ``Quantity.MilliValue`` does.

    Raises :class:`QuantityError`.
    """
    return parse_quantity(text).scaled_value(_MILLI_EXPONENT)


def canonical(text: str) -> str:
    """``text`` as the API server would print it back. Raises :class:`QuantityError`."""
    return parse_quantity(text).canonical()


def milli_text(amount_milli: int) -> str:
    """Thousandths as a quantity: ``milli_text(1500) == "1500m"``, ``milli_text(2000) == "2"``."""
    return Quantity(amount_milli, _MILLI_EXPONENT, "DecimalSI").canonical()


def binary_text(amount_bytes: int) -> str:
    """Bytes as a quantity with the largest exact binary suffix, such as ``1536Mi``."""
    return Quantity(amount_bytes, 0, "BinarySI").canonical()


def number_text(number: int | float) -> str:
    """A bare YAML or JSON number as the text of a quantity."""
    return repr(number)


def _interpret_suffix(suffix: str, text: str) -> tuple[int, int, Notation]:
    exponent = _DECIMAL_EXPONENTS.get(suffix)
    if exponent is not None:
        return 10, exponent, "DecimalSI"
    if suffix in _BINARY_SUFFIXES:
        return 2, 10 * _BINARY_SUFFIXES.index(suffix), "BinarySI"
    if suffix[0] in "eE":
        try:
            power = int(suffix[1:])
        except ValueError:
            raise QuantityError(_complaint(text)) from None
        return 10, max(-_MAX_EXPONENT, min(_MAX_EXPONENT, power)), "DecimalExponent"
    raise QuantityError(_complaint(text))


def _normalised(unscaled: int, exponent: int, notation: Notation) -> Quantity:
    """Rounds up to whole nano-units, caps and settles the notation as upstream does."""
    if exponent < _NANO_EXPONENT:
        unscaled = _divide_away_from_zero(unscaled, _power_of_ten(_NANO_EXPONENT - exponent))
        exponent = _NANO_EXPONENT
    if notation == "BinarySI":
        one = _power_of_ten(-exponent)
        if abs(unscaled) > MAX_INT64 * one:
            unscaled, exponent = (MAX_INT64 if unscaled > 0 else -MAX_INT64), 0
        elif 0 < abs(unscaled) < one:
            notation = "DecimalSI"
    return Quantity(unscaled, exponent, notation)


def _power_of_ten(exponent: int) -> int:
    """``10**exponent`` for an exponent that is not negative."""
    return int(10**exponent)


def _divide_away_from_zero(dividend: int, divisor: int) -> int:
    magnitude = -(-abs(dividend) // divisor)
    return magnitude if dividend >= 0 else -magnitude


def _decimal_text(quantity: Quantity) -> str:
    unscaled, exponent = quantity.unscaled, quantity.exponent
    while unscaled % 10 == 0:
        unscaled //= 10
        exponent += 1
    steps = exponent % 3
    unscaled *= 10**steps
    exponent -= steps
    if quantity.notation != "DecimalExponent" and exponent in _DECIMAL_SUFFIXES:
        return f"{unscaled}{_DECIMAL_SUFFIXES[exponent]}"
    return f"{unscaled}e{exponent}" if exponent else str(unscaled)


def _binary_text(amount: int) -> str:
    step = 0
    while amount % 1024 == 0 and step < len(_BINARY_SUFFIXES) - 1:
        amount //= 1024
        step += 1
    return f"{amount}{_BINARY_SUFFIXES[step]}"


def _complaint(text: str) -> str:
    shown = text if len(text) <= 40 else text[:37] + "..."
    if meant := _meant(text):
        return say(
            "field.quantity_meant",
            '"{text}" is not a quantity; did you mean "{meant}"?',
            text=shown,
            meant=meant,
        )
    return say(
        "field.not_quantity",
        '"{text}" is not a quantity (write for example 500m, 2, 1.5Gi or 128M)',
        text=shown,
    )


def _meant(text: str) -> str:
    """What is meant by an amount with a decimal comma, a blank, or a unit as people write it."""
    found = _WRITTEN.fullmatch(text.strip()) if len(text) <= _MAX_TEXT_LENGTH else None
    unit = _UNITS.get(found["unit"].lower().rstrip("s")) if found is not None else None
    if found is None or unit is None:
        return ""
    return found["amount"].replace(",", ".") + unit


def quantity_text(resource: str, amount: int) -> str:
    """Return an integer amount of a resource as an exact quantity: `1500m`, `2Gi`, `4`.

    Cpu is in milli, all else in bytes or units. For people, see `scheduler_core.amounts`.
    """
    if resource == "cpu":
        return milli_text(amount)
    return binary_text(amount) if is_in_bytes(resource) else str(amount)


def is_in_bytes(resource: str) -> bool:
    """Return whether a resource is counted in bytes."""
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
