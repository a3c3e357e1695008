"""Packing pods onto nodes that could be added, by arithmetic: where a search for a set begins.

First fit, the largest pods first, onto one node after the other: always of the offer that takes
most for its price. What comes of it is only a proposal: the scheduler spreads where this packs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from scheduler_core.analysis.advice.nodes.needs import Need, resources_of
from scheduler_core.analysis.advice.nodes.offers import Offer

Counts = tuple[int, ...]
"""How many nodes of each offer."""


@dataclass(frozen=True)
class Prices:
    """What a node of each offer costs; `first` counts, then the smaller node is the cheaper one.

    Offers without a price are None if others have one: they cannot be added.
    """

    of: tuple[tuple[Fraction, int, int] | None, ...]
    are_known: bool

    def total(self, counts: Counts) -> tuple[Fraction, int, int]:
        """Return the price of a set, then its cpu and its memory."""
        parts = [(n, price) for n, price in zip(counts, self.of, strict=True) if price and n]
        return (
            sum((n * price[0] for n, price in parts), Fraction(0)),
            sum(n * price[1] for n, price in parts),
            sum(n * price[2] for n, price in parts),
        )


def prices_of(offers: Sequence[Offer]) -> Prices:
    """Return the prices of the offers; where none is said, every node costs 1."""
    are_known = any(offer.terms.price is not None for offer in offers)
    prices: list[tuple[Fraction, int, int] | None] = []
    for offer in offers:
        price = offer.terms.price if are_known else Fraction(1)
        room = offer.room
        size = room.get("cpu", 0), room.get("memory", 0)
        prices.append(None if price is None else (price, *size))
    return Prices(tuple(prices), are_known)


def packed(needs: Sequence[Need], offers: Sequence[Offer], prices: Prices) -> Counts:
    """Return how many nodes of each offer would hold the pods, for those that any would hold."""
    total = _total(needs)
    left = sorted(needs, key=lambda need: (-_size(need.requests, total), need.pod))
    counts = [0] * len(offers)
    while left:
        best: tuple[Fraction, tuple[int, int], int, list[Need]] | None = None
        for i, offer in enumerate(offers):
            price, at_most = prices.of[i], offer.terms.at_most
            if price is None or (at_most is not None and counts[i] >= at_most):
                continue
            taken = _first_fit(left, i, offer.room)
            if not taken:
                continue
            worth = sum((_size(need.requests, total) for need in taken), Fraction(0))
            entry = (price[0] / worth, price[1:], i, taken)
            if best is None or entry[:3] < best[:3]:
                best = entry
        if best is None:
            break
        counts[best[2]] += 1
        gone = {need.pod for need in best[3]}
        left = [need for need in left if need.pod not in gone]
    return tuple(counts)


def may_hold(needs: Sequence[Need], offers: Sequence[Offer], counts: Counts) -> bool:
    """Return whether a set could hold the pods that no node takes which is there.

    False is a proof: a pod is taken by no node of the set, or they ask for more than all have.
    """
    must = [need for need in needs if need.must_leave]
    there = {i for i, n in enumerate(counts) if n}
    if not all(need.offers & there for need in must):
        return False
    asked: Counter[str] = Counter()
    for need in must:
        asked.update(need.requests)
    rooms = {i: offers[i].room for i in there}
    return all(
        asked[name] <= sum(counts[i] * max(rooms[i].get(name, 0), 0) for i in there)
        for name in resources_of(must)
    )


def least_price(needs: Sequence[Need], offers: Sequence[Offer], prices: Prices) -> Fraction:
    """Return what no set that holds the pods costs less than, though none need be that cheap.

    The pods are those that no node takes which is there. Of each resource the cheapest offer by the
    unit; of pods that keep apart, as many nodes of the cheapest that takes one.
    """
    must = [need for need in needs if need.must_leave]
    bounds = [Fraction(0)]
    for name, asked in _total(must).items():
        units = [
            price[0] / room
            for offer, price in zip(offers, prices.of, strict=True)
            if price is not None and (room := offer.room.get(name, 0)) > 0
        ]
        if asked and units:
            bounds.append(asked * min(units))
    groups: dict[str, list[Need]] = {}
    for i, need in enumerate(must):
        groups.setdefault(need.apart or f"alone {i}", []).append(need)
    for group in groups.values():
        each = [price[0] for i in group[0].offers if (price := prices.of[i]) is not None]
        if each:
            bounds.append(len(group) * min(each))
    least = max(bounds)
    return least if prices.are_known else Fraction(-(-least.numerator // least.denominator))


def _total(needs: Sequence[Need]) -> Counter[str]:
    total: Counter[str] = Counter()
    for need in needs:
        total.update(need.requests)
    return total


def _size(requests: Mapping[str, int], total: Mapping[str, int]) -> Fraction:
    """Return the part of all that is asked for, summed over resources."""
    parts = (Fraction(n, total[name]) for name, n in requests.items() if n)
    return sum(parts, Fraction(0))


def _first_fit(needs: Sequence[Need], offer: int, room: Mapping[str, int]) -> list[Need]:
    left, apart, taken = dict(room), set[str](), list[Need]()
    for need in needs:
        if offer not in need.offers or (need.apart and need.apart in apart):
            continue
        if any(n > left.get(name, 0) for name, n in need.requests.items() if n):
            continue
        for name, n in need.requests.items():
            left[name] = left.get(name, 0) - n
        apart.add(need.apart)
        taken.append(need)
    return taken
