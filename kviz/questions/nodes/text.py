"""Which nodes to add or to drain, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator

from kviz.command_line.tables import listed, table
from kviz.questions.nodes.answer import Draining
from scheduler_core.amounts import amount_text
from scheduler_core.analysis.advice.nodes.adding import Addition
from scheduler_core.analysis.advice.nodes.draining import Drained
from scheduler_core.analysis.advice.nodes.offers import Offer
from scheduler_core.api.counting import counted

# ---------------------------------------------------------------- JSON


def as_json(addition: Addition, drains: Draining) -> dict[str, object]:
    """Return what `kviz nodes --json` prints; fields may be added."""
    return {
        "add": addition_json(addition),
        "drain": {
            "nodes": [
                {"node": each.node, "waves": [list(wave) for wave in each.waves]}
                for each in drains.drained
            ],
            "kept": [{"node": each.node, "why": each.why} for each in drains.kept],
            "tried": drains.n_tried,
            "of": drains.n_nodes,
        },
    }


def addition_json(found: Addition) -> dict[str, object]:
    return {
        "nodes": [
            {"offer": offer.name, "count": n, "price": _price(offer)}
            for offer, n in zip(found.offers, found.counts, strict=True)
            if n
        ],
        "count": found.n_nodes,
        "price": _total(found),
        "proven_minimal": found.is_minimal,
        "runs": found.n_runs,
        "refuted": found.n_refuted,
        "placed": dict(found.placed),
        "unhelped": [{"pod": each.pod, "message": each.message} for each in found.unhelped],
        "evicted": list(found.evicted),
        "evicted_without": found.n_evicted_without,
        "least_price": float(found.least_price),
        "offers": [_offer_json(offer) for offer in found.offers],
    }


def _offer_json(offer: Offer) -> dict[str, object]:
    return {
        "offer": offer.name,
        "like": offer.node.name,
        "price": _price(offer),
        "room": dict(offer.room),
        "daemons": len(offer.daemons),
    }


def _price(offer: Offer) -> float | None:
    return None if offer.terms.price is None else float(offer.terms.price)


def _total(found: Addition) -> float | None:
    """Return the price of the set, None where no prices are known."""
    return float(found.prices.total(found.counts)[0]) if found.prices.are_known else None


# ---------------------------------------------------------------- text


def as_text(addition: Addition, drains: Draining) -> str:
    """Return what to add, how sure that is, and what could go."""
    return "\n".join([*_addition_lines(addition), "", *_drain_lines(drains)]) + "\n"


def _addition_lines(found: Addition) -> Iterator[str]:
    if found.n_nodes:
        pods = counted(len(found.placed), "pending pod")
        price = f" for {_total(found):g}" if found.prices.are_known else ""
        bind = "binds" if len(found.placed) == 1 else "bind"
        yield f"Add {counted(found.n_nodes, 'node')}{price}, and {pods} {bind}:"
        yield ""
        yield from table(("OFFER", "NODES", "PRICE", "CPU", "MEMORY"), list(_rows(found)))
        yield ""
        yield _proof(found)
        if not found.prices.are_known:
            yield "No prices were given: fewer nodes count as cheaper, then smaller ones (--shapes)"
    elif found.unhelped:
        yield "No new node lets a pending pod bind"
    else:
        yield "No pod is pending: there is nothing to add"
    if found.evicted:
        yield (
            f"Evicted with these nodes: {listed(found.evicted)};"
            f" without them {counted(found.n_evicted_without, 'pod')}"
        )
    if found.unhelped:
        yield f"{counted(len(found.unhelped), 'pod')} unschedulable regardless:"
        for each in found.unhelped[:5]:
            yield f"  {each.pod}: {each.message or 'no scheduling cycle'}"
        if len(found.unhelped) > 5:
            yield f"  and {len(found.unhelped) - 5:,} more"


def _rows(found: Addition) -> Iterator[tuple[str, ...]]:
    for offer, n in zip(found.offers, found.counts, strict=True):
        if n:
            room = offer.room
            yield (
                offer.name,
                f"{n:,}",
                "-" if offer.terms.price is None else f"{float(offer.terms.price):g}",
                amount_text("cpu", room.get("cpu", 0)),
                amount_text("memory", room.get("memory", 0)),
            )


def _proof(found: Addition) -> str:
    runs = f"{counted(found.n_runs, 'run')}, {counted(found.n_refuted, 'set')} ruled out by sums"
    if found.is_minimal:
        return f"A run proves it, and no set that costs less will do ({runs})"
    least = f"none can cost less than {float(found.least_price):g}"
    return f"A run proves it. Not proven minimal: not all cheaper sets were tried; {least} ({runs})"


def _drain_lines(found: Draining) -> Iterator[str]:
    tried = f"{found.n_tried:,} of {counted(found.n_nodes, 'node')} tried"
    if not found.drained:
        yield f"No node can be drained with everything still placed ({tried})"
    else:
        n = counted(len(found.drained), "node")
        yield f"{n} can go with everything still placed, in this order ({tried}):"
        yield ""
        rows = [
            (each.node, f"{each.n_pods:,}", f"{len(each.waves):,}", listed(_first(each), 3))
            for each in found.drained
        ]
        yield from table(("DRAIN", "PODS", "WAVES", "MOVES"), rows)
        yield ""
        yield "Between two waves their pods are on nodes again: so every budget is kept"
    reasons: dict[str, list[str]] = {}
    for kept in found.kept:
        reasons.setdefault(kept.why, []).append(kept.node)
    for why, nodes in list(reasons.items())[:5]:
        yield f"  {listed(nodes, 3)}: {why}"
    if len(reasons) > 5:
        yield f"  and {len(reasons) - 5:,} more reasons"


def _first(drained: Drained) -> list[str]:
    return [pod for wave in drained.waves for pod in wave]
