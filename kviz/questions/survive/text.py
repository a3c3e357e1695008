"""What survives, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kviz.command_line.tables import listed, table
from kviz.questions.survive.answer import Survival
from scheduler_core.analysis.advice.survival import Aftermath, Loss, Replicas, ranked
from scheduler_core.api.counting import counted

MAX_DETAILED = 5
"""So many losses are told in detail as text."""
MAX_COLUMNS = 8
"""Up to so many losses have a column of their own, a workload a row."""


# ---------------------------------------------------------------- JSON


def as_json(found: Survival) -> dict[str, object]:
    """Return what `kviz survive --json` prints; `ranking` has the worst loss first."""
    return {
        "losses": [loss_json(each) for each in found.aftermaths],
        "ranking": [
            {"kind": each.loss.kind, "name": each.loss.name} for each in ranked(found.aftermaths)
        ],
        "before": before_json(found.n_pending_before, found.broken_before),
    }


def before_json(n_pending: int, broken: Sequence[Replicas]) -> dict[str, object]:
    """Return how the settled cluster stands before any loss."""
    return {"pending": n_pending, "broken_budgets": [_replicas_json(each) for each in broken]}


def loss_json(found: Aftermath) -> dict[str, object]:
    """Return what became of one loss."""
    return {
        "kind": found.loss.kind,
        "name": found.loss.name,
        "nodes": list(found.loss.nodes),
        "pods_lost": found.n_lost,
        "on_nodes_again": found.n_again,
        "pending": [
            {"pod": each.pod, "workload": each.workload, "message": each.message}
            for each in found.pending
        ],
        "gone": list(found.gone),
        "evicted": list(found.evicted),
        "workloads": [_replicas_json(each) for each in found.workloads],
        "down_at_once": [each.name for each in found.down_at_once],
        "down": [each.name for each in found.down],
        "budgets": [_replicas_json(each) for each in found.budgets],
        "broken_at_once": [each.name for each in found.broken_at_once],
        "broken": [each.name for each in found.broken],
    }


def _replicas_json(each: Replicas) -> dict[str, object]:
    counts = {
        "name": each.name,
        "before": each.before,
        "at_once": each.at_once,
        "after": each.after,
    }
    return counts | ({"desired": each.desired} if each.desired else {})


# ---------------------------------------------------------------- text

HEAD = ("LOST", "NODES", "PODS", "PENDING", "GONE", "EVICTED", "BUDGETS", "DOWN")


def as_text(found: Survival) -> str:
    """Return the losses, the worst first, and what the worst of them lead to."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Survival) -> Iterator[str]:
    worst = ranked(found.aftermaths)
    harmful = [each for each in worst if _is_harmful(each)]
    yield _verdict(worst, harmful)
    yield (
        f"Before any loss: {counted(found.n_pending_before, 'pod')} pending,"
        f" {counted(len(found.broken_before), 'budget')} broken"
    )
    yield ""
    yield from table(HEAD, [_row(each) for each in worst])
    yield ""
    yield "BUDGETS and DOWN (workloads without a pod on a node): at once, and in the end"
    if len(worst) <= MAX_COLUMNS:
        yield from _matrix(worst)
    for each in harmful[:MAX_DETAILED]:
        yield from ("", *_details(each))


def _is_harmful(found: Aftermath) -> bool:
    return bool(found.pending or found.gone or found.budgets or found.down_at_once)


def _verdict(all_losses: Sequence[Aftermath], harmful: Sequence[Aftermath]) -> str:
    if not harmful:
        return "None of these losses does harm: everything finds a node again"
    if len(all_losses) == 1:
        return f"{_name(harmful[0].loss)} is missed"
    return f"{len(harmful):,} of {len(all_losses):,} losses do harm; {_name(harmful[0].loss)} most"


def _name(loss: Loss) -> str:
    return f"{loss.kind} {loss.name}"


def _row(found: Aftermath) -> tuple[str, ...]:
    return (
        _name(found.loss),
        f"{len(found.loss.nodes):,}",
        f"{found.n_lost:,}",
        f"{len(found.pending):,}",
        f"{len(found.gone):,}",
        f"{len(found.evicted):,}",
        f"{len(found.broken_at_once)}, {len(found.broken)}",
        f"{len(found.down_at_once)}, {len(found.down)}",
    )


def _matrix(found: Sequence[Aftermath]) -> Iterator[str]:
    """A row per workload that is hurt, a column per loss: how many pods are on nodes."""
    hurt = {
        each.name: each.before
        for aftermath in found
        for each in aftermath.workloads
        if each.after < each.before or not each.at_once
    }
    if not hurt:
        return
    by_loss = [{each.name: each for each in aftermath.workloads} for aftermath in found]
    rows = [
        [name, f"{before:,}", *(_cell(columns.get(name)) for columns in by_loss)]
        for name, before in sorted(hurt.items())
    ]
    yield ""
    yield from table(("WORKLOAD", "PODS", *(each.loss.name for each in found)), rows)


def _cell(replicas: Replicas | None) -> str:
    return "" if replicas is None else f"{replicas.at_once} -> {replicas.after}"


def _details(found: Aftermath) -> Iterator[str]:
    yield f"{_name(found.loss)} gone"
    for each in found.down:
        yield f"  {each.name} has no pod on a node, of {each.before}"
    for each in found.down_at_once:
        if each.after:
            yield f"  {each.name} is down until its pods have moved: {each.after} of {each.before}"
    for each in found.broken:
        yield (
            f"  budget {each.name} wants {each.desired} healthy and has {each.after},"
            f" of {each.before} before"
        )
    for_now = [each.name for each in found.budgets if each not in found.broken]
    if for_now:
        yield f"  below their budget until pods have moved: {listed(for_now)}"
    if found.gone:
        yield f"  nobody makes again: {listed(found.gone)}"
    if found.evicted:
        yield f"  evicted for others: {listed(found.evicted)}"
    messages: dict[str, list[str]] = {}
    for pod in found.pending:
        messages.setdefault(pod.message, []).append(pod.pod)
    for message, pods in messages.items():
        yield f"  pending: {listed(pods)}"
        yield f"    {message}"
