"""How lucky placements were, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scheduler_core.analysis.advice.coins import IN_WORDS, Coin
from scheduler_core.analysis.advice.intervals import Share
from scheduler_core.analysis.advice.luck import Alone, Luck, PodLuck
from scheduler_core.api.counting import counted

MAX_NODES = 4
"""So many nodes of a pod are listed as text; all are in the JSON."""


def luck_json(found: Luck, pod: str = "") -> dict[str, object]:
    """Return what `kviz luck --json` prints, of one pod if it is named."""
    return {
        "runs": found.runs,
        "asked": found.asked,
        "tight": found.is_tight,
        "seed": found.seed,
        "interval": "Wilson, 95 %",
        "coins": [
            {
                "coin": each.coin,
                "what": IN_WORDS[each.coin],
                "runs_alone": each.runs,
                "pods_alone": each.n_pods,
            }
            for each in found.alone
        ],
        "placements": {
            "made": len(found.placements),
            "held": found.n_held,
            "always_bound": found.n_always_bound,
        },
        "pods": [_pod_json(each) for each in found.pods if pod in ("", each.pod)],
        "lost_node": [{"pod": name, **share_json(share)} for name, share in found.left],
    }


def _pod_json(each: PodLuck) -> dict[str, object]:
    return {
        "pod": each.pod,
        "pinned": each.pinned or None,
        "held": each.held,
        "bound": share_json(each.bound),
        "as_pinned": share_json(each.as_pinned),
        "nodes": [{"node": name, **share_json(share)} for name, share in each.nodes],
        "pools": [{"pool": name, **share_json(share)} for name, share in each.pools],
        "deciding": list(each.deciding),
    }


def share_json(share: Share) -> dict[str, object]:
    return {
        "n": share.n,
        "share": round(share.share, 4),
        "low": round(share.low, 4),
        "high": round(share.high, 4),
    }


# ---------------------------------------------------------------- in words


def statement(found: Luck) -> str:
    """Say what it comes to in two sentences."""
    n = len(found.placements)
    if not n:
        return f"No pod that waited at the start is placed in this run. {_never(found)}"
    luck = n - found.n_held
    parts = [
        f"Of {counted(n, 'placement')}, {found.n_held} held in all {counted(found.runs, 'run')} "
        f"tried; {luck} {'is' if luck == 1 else 'are'} luck."
    ]
    if found.n_always_bound == n and luck:
        parts.append("Every pod that was placed found a node in all of them, if not this one.")
    elif found.n_always_bound < n:
        lucky = n - found.n_always_bound
        parts.append(f"{counted(lucky, 'pod')} that found a node found none in some of them.")
    return " ".join(parts)


def _never(found: Luck) -> str:
    sometimes, runs = sum(each.bound.n > 0 for each in found.pods), counted(found.runs, "run")
    if not sometimes:
        return f"Neither is any in the {runs} tried."
    return f"{counted(sometimes, 'pod')} found a node in some of the {runs} tried."


def percent(share: Share) -> str:
    """Return a share with its interval: `37 % (33-41)`."""
    return f"{rounded(share.share)} % ({rounded(share.low)}-{rounded(share.high)})"


def rounded(share: float) -> str:
    """Return per cent; what is neither nothing nor everything never looks as if it were."""
    text = f"{share * 100:.0f}"
    if text in ("0", "100") and share not in (0, 1):
        return f"{share * 100:.1f}"
    return text


def coins_in_words(coins: Iterable[Coin]) -> str:
    return ", ".join(coins)


def alone_in_words(each: Alone) -> str:
    """Say what a coin does when it alone is tossed."""
    if not each.runs:
        return "had nothing to decide"
    if not each.n_pods:
        return f"alone moves no pod in {counted(each.runs, 'run')}"
    return f"alone moves {counted(each.n_pods, 'pod')} in {counted(each.runs, 'run')}"


def luck_text(found: Luck, pod: str = "") -> str:
    """Return the statement, a line per pod, and what each coin does."""
    return "\n".join(_lines(found, pod)) + "\n"


COLUMNS = ("POD", "IN THIS RUN", "FINDS A NODE", "ENDS LIKE THIS", "DECIDED BY", "NODES")


def _lines(found: Luck, pod: str) -> Iterator[str]:
    yield from (statement(found), "")
    pods = [each for each in found.pods if pod in ("", each.pod)]
    rows = [COLUMNS, *map(_row, pods)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    for row in rows:
        yield " ".join(map(str.ljust, row, widths)).rstrip()
    if found.left and not pod:
        yield from ("", "Lost the node they had:")
        yield from (f"  {name} {percent(share)}" for name, share in found.left)
    yield ""
    for each in found.alone:
        yield f"{each.coin}: {IN_WORDS[each.coin]}; {alone_in_words(each)}"
    yield _how(found)


def _how(found: Luck) -> str:
    end = (
        f" of {found.asked:,}: every interval was tight by then" if found.is_tight else ", as asked"
    )
    return f"{found.runs:,} runs{end}; seed {found.seed}; in brackets Wilson intervals at 95 %"


def _row(each: PodLuck) -> tuple[str, ...]:
    return (
        each.pod,
        each.pinned or "pending",
        percent(each.bound),
        percent(each.as_pinned),
        deciding_in_words(each),
        _nodes(each.nodes),
    )


def deciding_in_words(each: PodLuck) -> str:
    """Name the coins that decide alone; several may matter only together."""
    if each.held:
        return "-"
    return coins_in_words(each.deciding) or "several together"


def _nodes(nodes: Sequence[tuple[str, Share]]) -> str:
    listed = [f"{name} {rounded(share.share)} %" for name, share in nodes[:MAX_NODES]]
    if len(nodes) > MAX_NODES:
        listed.append(f"and {len(nodes) - MAX_NODES} more")
    return ", ".join(listed)
