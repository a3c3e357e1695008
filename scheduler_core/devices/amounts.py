"""Amounts of devices' capacities and counters, exactly.

Upstream: v1.36 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go.
"""

from __future__ import annotations

from functools import lru_cache

from scheduler_core.api.quantity import parse_quantity

NANO_EXPONENT = -9


@lru_cache(maxsize=16384)
def nano(text: str) -> int:
    """Return an amount in billionths of its unit. Raises QuantityError."""
    amount = parse_quantity(text)
    return int(amount.unscaled * 10 ** (amount.exponent - NANO_EXPONENT))
