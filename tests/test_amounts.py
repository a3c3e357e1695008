"""Amounts of resources as people read them."""

from __future__ import annotations

import pytest

from scheduler_core.amounts import amount_text, amounts_text, in_one_unit

GIB = 1 << 30


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 500, "500m"),
        ("cpu", -100, "-100m"),
        ("cpu", 0, "0"),
        ("cpu", 1_500, "1.5"),
        ("cpu", 51_064, "51.06"),
        ("cpu", 7_928_930, "7,928.93"),
        ("memory", 87_548 * GIB, "85.5Ti"),
        ("memory", 16 * GIB, "16Gi"),
        ("memory", -GIB, "-1Gi"),
        ("memory", 219_277_164_544, "204.2Gi"),
        ("memory", (1 << 20) - 1, "1Mi"),
        ("ephemeral-storage", 1536 << 10, "1.5Mi"),
        ("hugepages-2Mi", 30 << 10, "30Ki"),
        ("pods", 220_000, "220,000"),
    ],
)
def test_an_amount_alone_has_the_unit_that_suits_it(resource: str, amount: int, text: str) -> None:
    assert amount_text(resource, amount) == text


@pytest.mark.parametrize(
    ("resource", "amounts", "texts"),
    [
        ("cpu", (1_000, 500), ("1", "0.5")),
        ("cpu", (250, 0), ("250m", "0")),
        ("memory", (16 * GIB, 1536 << 20), ("16Gi", "1.5Gi")),
        ("memory", (8 * GIB, 100 << 20), ("8,192Mi", "100Mi")),
        ("memory", (16 * GIB, (16 * GIB) - (10 << 20)), ("16,384Mi", "16,374Mi")),
        ("memory", (16 * GIB, 33_683_062_784), ("16Gi", "31.4Gi")),
        ("memory", (232 << 40, 32 * GIB), ("237,568Gi", "32Gi")),
        ("nvidia.com/gpu", (1_576, 1), ("1,576", "1")),
    ],
)
def test_amounts_that_are_compared_have_one_unit_and_stay_apart(
    resource: str, amounts: tuple[int, ...], texts: tuple[str, ...]
) -> None:
    assert in_one_unit(resource, *amounts) == texts


def test_amounts_of_several_resources_are_named_in_the_order_that_is_asked_for() -> None:
    amounts = {"memory": GIB, "pods": 3, "cpu": 2_000}
    assert amounts_text(amounts) == "1Gi memory, 3 pods, 2 cpu"
    assert amounts_text(amounts, only=("cpu", "memory")) == "2 cpu, 1Gi memory"
