"""The values that Kubernetes adds to CEL: quantities and semantic versions.

CEL's runtime knows neither, so each is a map of one entry here, whose text is the same for equal
values; what is not a value raises ValueError with the message upstream gives.

Upstream: v1.36 apiserver/pkg/cel/library/{quantity,semverlib}.go and blang/semver.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from scheduler_core.api.quantity import MAX_INT64, QuantityError
from scheduler_core.devices.amounts import nano

CelMap = dict[str, str]

QUANTITY: Final = "kubernetes.Quantity"
SEMVER: Final = "kubernetes.Semver"

NO_SUCH_OVERLOAD: Final = "no such overload"
NOT_AN_INTEGER: Final = "cannot convert value to integer"
BAD_QUANTITY: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
NANO: Final = 10**9

_VERSION = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
MAX_VERSION_LENGTH: Final = 256


class Version(NamedTuple):
    """A semantic version without its build metadata, which never counts."""

    major: int
    minor: int
    patch: int
    pre: tuple[str, ...]

    @property
    def precedence(self) -> tuple[object, ...]:
        """Return a key in the order of versions: one without pre-release comes last."""
        parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in self.pre)
        return (self.major, self.minor, self.patch, not self.pre, parts)

    @property
    def text(self) -> str:
        pre = f"-{'.'.join(self.pre)}" if self.pre else ""
        return f"{self.major}.{self.minor}.{self.patch}{pre}"


# ---------------------------------------------------------------- quantities


def quantity(text: str) -> CelMap:
    """Return a quantity. Raises ValueError for text that is none."""
    try:
        return quantity_of_nano(nano(text))
    except QuantityError:
        raise ValueError(BAD_QUANTITY) from None


def quantity_of_nano(amount_nano: int) -> CelMap:
    return {QUANTITY: str(amount_nano)}


def is_quantity(text: str) -> bool:
    try:
        nano(text)
    except QuantityError:
        return False
    return True


def sign(value: Mapping[str, str]) -> int:
    amount = _nano_of(value)
    return (amount > 0) - (amount < 0)


def is_integer(value: Mapping[str, str]) -> bool:
    whole, rest = divmod(_nano_of(value), NANO)
    return not rest and -MAX_INT64 - 1 <= whole <= MAX_INT64


def as_integer(value: Mapping[str, str]) -> int:
    if not is_integer(value):
        raise ValueError(NOT_AN_INTEGER)
    return _nano_of(value) // NANO


def as_approximate_float(value: Mapping[str, str]) -> float:
    return _nano_of(value) / NANO


def add(value: Mapping[str, str], other: Mapping[str, str]) -> CelMap:
    return quantity_of_nano(_nano_of(value) + _nano_of(other))


def add_integer(value: Mapping[str, str], other: int) -> CelMap:
    return quantity_of_nano(_nano_of(value) + other * NANO)


def sub(value: Mapping[str, str], other: Mapping[str, str]) -> CelMap:
    return quantity_of_nano(_nano_of(value) - _nano_of(other))


def sub_integer(value: Mapping[str, str], other: int) -> CelMap:
    return quantity_of_nano(_nano_of(value) - other * NANO)


def _nano_of(value: Mapping[str, str]) -> int:
    text = value.get(QUANTITY)
    if text is None:
        raise ValueError(NO_SUCH_OVERLOAD)
    return int(text)


# ---------------------------------------------------------------- versions


def parse_version(text: str) -> Version:
    """Read a semantic version 2.0. Raises ValueError."""
    found = _VERSION.fullmatch(text) if len(text) <= MAX_VERSION_LENGTH else None
    pre = tuple((found[4] or "").split(".")) if found and found[4] else ()
    if found is None or any(p.isdigit() and p != "0" and p[0] == "0" for p in pre):
        raise ValueError(_why_no_version(text))
    return Version(int(found[1]), int(found[2]), int(found[3]), pre)


def _why_no_version(text: str) -> str:
    if not text:
        return "Version string empty"
    parts = text.split(".", 2)
    if len(parts) != 3:
        return "No Major.Minor.Patch elements found"
    names = ("Major", "Minor", "Patch")
    for name, part in zip(names, (*parts[:2], re.split("[-+]", parts[2])[0]), strict=True):
        if not part.isascii() or not part.isdigit():
            return f'Invalid character(s) found in {name.lower()} number "{part}"'
        if len(part) > 1 and part[0] == "0":
            return f'{name} number must not contain leading zeroes "{part}"'
    return f'Invalid character(s) found in prerelease "{text}"'


def semver(text: str) -> CelMap:
    """Return a version. Raises ValueError for text that is none."""
    return {SEMVER: parse_version(text).text}


def semver_normalized(text: str, normalize: bool) -> CelMap:
    """Return a version; normalising drops a leading v and zeros, and fills up short ones."""
    return semver(_normalized(text) if normalize else text)


def is_semver(text: str) -> bool:
    return is_semver_normalized(text, False)


def is_semver_normalized(text: str, normalize: bool) -> bool:
    try:
        semver_normalized(text, normalize)
    except ValueError:
        return False
    return True


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for i, part in enumerate(parts):
        if len(part) > 1:
            bare = part.lstrip("0")
            parts[i] = bare if bare[:1].isdigit() else "0" + bare
    if len(parts) < 3 and ("+" in parts[-1] or "-" in parts[-1]):
        raise ValueError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(3, len(parts))])


def major(value: Mapping[str, str]) -> int:
    return _version_of(value).major


def minor(value: Mapping[str, str]) -> int:
    return _version_of(value).minor


def patch(value: Mapping[str, str]) -> int:
    return _version_of(value).patch


def _version_of(value: Mapping[str, str]) -> Version:
    text = value.get(SEMVER)
    if text is None:
        raise ValueError(NO_SUCH_OVERLOAD)
    return parse_version(text)


# ---------------------------------------------------------------- both


def compare_to(value: Mapping[str, str], other: Mapping[str, str]) -> int:
    """Return -1, 0 or 1. Raises ValueError for a quantity beside a version."""
    if SEMVER in value:
        mine, theirs = _version_of(value).precedence, _version_of(other).precedence
        return (mine > theirs) - (mine < theirs)
    amount, limit = _nano_of(value), _nano_of(other)
    return (amount > limit) - (amount < limit)


def is_greater_than(value: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return compare_to(value, other) > 0


def is_less_than(value: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return compare_to(value, other) < 0
