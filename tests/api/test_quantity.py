from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api.quantity import (
    MAX_INT64,
    Quantity,
    QuantityError,
    binary_text,
    canonical,
    milli_text,
    milli_value,
    number_text,
    parse_quantity,
    value,
)

FACTORS = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40),
    "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "whole", "milli", "printed"),
    [
        ("0", 0, 0, "0"),
        ("0Gi", 0, 0, "0"),
        ("250m", 1, 250, "250m"),
        ("1.5", 2, 1500, "1500m"),
        ("1.5Gi", 1610612736, 1610612736000, "1536Mi"),
        ("1024Ki", 1 << 20, 1000 << 20, "1Mi"),
        ("1000Ki", 1024000, 1024000000, "1000Ki"),
        ("1023", 1023, 1023000, "1023"),
        ("0.5Ki", 512, 512000, "512"),
        ("0.3Ki", 308, 307200, "307200m"),
        ("1.1Ki", 1127, 1126400, "1126400m"),
        ("64886Mi", 68037902336, 68037902336000, "64886Mi"),
        ("15770m", 16, 15770, "15770m"),
        ("1e3", 1000, 1000000, "1e3"),
        ("12E6", 12000000, 12000000000, "12e6"),
        ("1E", 10**18, MAX_INT64, "1E"),
        ("5e-1", 1, 500, "500e-3"),
        ("0.1m", 1, 1, "100u"),
        ("1n", 1, 1, "1n"),
        ("0.1n", 1, 1, "1n"),
        (".5", 1, 500, "500m"),
        ("5.", 5, 5000, "5"),
        ("+5", 5, 5000, "5"),
        ("007", 7, 7000, "7"),
        (" 2 ", 2, 2000, "2"),
        ("2000", 2000, 2000000, "2k"),
        ("1048576", 1048576, 1048576000, "1048576"),
        ("-1.5", -2, -1500, "-1500m"),
    ],
)
def test_known_amounts(text: str, whole: int, milli: int, printed: str) -> None:
    assert value(text) == whole
    assert milli_value(text) == milli
    assert canonical(text) == printed


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "abc", "1.1.M", "1+1.0M", "0.1mi", "0.1am", ".5i", "1i", "-3.01i", "-3.01e-", "1e",
        "1 0", "0x10", "1_000", "1,5", "٣", "NaN", "Inf", "1KiB", "1GB", "1ki", "1K", "1mm",
        "1" * 300, "1e1e1",
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(QuantityError, match="is not a quantity"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [("4GB", "4Gi"), ("512mi", "512Mi"), ("1,5", "1.5"), ("2 cores", "2"), ("100 mcpu", "100m")],
)
def test_what_was_meant_is_said(text: str, meant: str) -> None:
    with pytest.raises(QuantityError, match=f'did you mean "{meant}"'):
        parse_quantity(text)


def test_a_long_text_is_quoted_in_part() -> None:
    with pytest.raises(QuantityError) as raised:
        parse_quantity("x" * 10_000)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("text", ["9Ei", "100E", "1e400", "1e99999999999999999999", "9" * 200])
def test_absurd_amounts_saturate(text: str) -> None:
    assert value(text) == MAX_INT64
    assert milli_value(text) == MAX_INT64


def test_tiny_amounts_round_up_to_the_smallest_one() -> None:
    assert parse_quantity("1e-400") == Quantity(1, -9, "DecimalExponent")
    assert canonical("1e-400") == "1e-9"


@pytest.mark.parametrize(
    ("number", "text"), [(1, "1"), (0.5, "500m"), (1e16, "10e15"), (1e-7, "100e-9"), (-2, "-2")]
)
def test_bare_numbers(number: float, text: str) -> None:
    assert canonical(number_text(number)) == text


def test_amounts_for_display() -> None:
    assert milli_text(1500) == "1500m"
    assert milli_text(2000) == "2"
    assert binary_text(1536 << 20) == "1536Mi"
    assert binary_text(1000) == "1k"
    assert binary_text(0) == "0"


amounts = st.builds(
    lambda whole, decimals, suffix: (f"{whole}{decimals}{suffix}", whole, decimals, suffix),
    st.integers(0, 10**12),
    st.one_of(st.just(""), st.integers(0, 10**6).map(lambda digits: f".{digits:07}")),
    st.sampled_from(sorted(FACTORS)),
)


@given(amounts)
def test_values_are_the_exact_amount_rounded_up(amount: tuple[str, int, str, str]) -> None:
    text, whole, decimals, suffix = amount
    exact = Fraction(f"{whole}{decimals}") * FACTORS[suffix]
    nano = -(-exact * 10**9 // 1)
    assert parse_quantity(text).scaled_value(-9) == min(MAX_INT64, nano)
    if exact.denominator == 1 or 10**9 % exact.denominator == 0:
        assert value(text) == min(MAX_INT64, -(-exact // 1))
        assert milli_value(text) == min(MAX_INT64, -(-exact * 1000 // 1))


@given(amounts)
def test_the_canonical_text_is_the_same_amount_and_stays(
    amount: tuple[str, int, str, str],
) -> None:
    printed = canonical(amount[0])
    again = parse_quantity(printed)
    before = parse_quantity(amount[0])
    difference = again.unscaled * Fraction(10) ** again.exponent - (
        before.unscaled * Fraction(10) ** before.exponent
    )
    assert difference == 0
    assert canonical(printed) == printed


@given(st.integers(0, MAX_INT64))
def test_whole_numbers_survive_printing(amount: int) -> None:
    assert value(binary_text(amount)) == amount
    assert milli_value(milli_text(amount)) == amount


@given(st.text(alphabet="0123456789.+-eEnumkKMGTPi x", max_size=12))
def test_any_text_is_an_amount_or_refused(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except QuantityError:
        return
    assert -MAX_INT64 - 1 <= quantity.scaled_value(0) <= MAX_INT64
    assert parse_quantity(quantity.canonical()).scaled_value(-3) == quantity.scaled_value(-3)
