"""How lucky placements are: what was tossed so far, and what it comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.csv_file import Cell
from kviz.experiments.charts import Bar, Bars, Part
from kviz.experiments.models import Experiment, Result
from kviz.questions.luck.read import RunLuck, run_luck

NOWHERE: Final = ("", "-")


@dataclass(frozen=True)
class Tossed:
    """The finished answer, or None; as long as there is none, how often pods end as pinned."""

    sentences: Sequence[str]
    luck: RunLuck | None
    n_runs: int
    charts: Sequence[Bars]


def read(experiment: Experiment, results: Sequence[Result]) -> Tossed:
    """Read the runs that were made."""
    luck = run_luck(experiment.answer) if experiment.answer else None
    pinned = next((each.outcome for each in results if not each.variant), None)
    if pinned is None:
        return Tossed(_told(luck) if luck else [], luck, 0, [])
    moved, n_runs = _moved(results)
    placed = [i for i, place in enumerate(pinned["places"]) if place not in NOWHERE]
    return Tossed(
        sentences=_told(luck) if luck else _so_far(moved, placed, n_runs),
        luck=luck,
        n_runs=n_runs,
        charts=[_chart(pinned["pods"], placed, moved, n_runs)] if n_runs and placed else [],
    )


def _told(luck: RunLuck) -> list[str]:
    return [each for each in (luck.statement, luck.homeless) if each]


def _moved(results: Sequence[Result]) -> tuple[Counter[int], int]:
    """In how many runs with all the coins each pod ended elsewhere, and how many there were."""
    tossing = [each.outcome for each in results if each.variant]
    most = max((len(each["coins"]) for each in tossing), default=0)
    runs = [run for each in tossing if len(each["coins"]) == most for run in each["runs"]]
    return Counter(int(i) for run in runs for i in run["moved"]), len(runs)


def _so_far(moved: Counter[int], placed: Sequence[int], n_runs: int) -> list[str]:
    if not n_runs:
        return []
    text = ngettext(
        "%(held)d of %(all)d placements held in the one run so far.",
        "%(held)d of %(all)d placements held in all %(n)d runs so far.",
        n_runs,
    )
    held = sum(not moved[i] for i in placed)
    return [text % {"held": held, "all": len(placed), "n": n_runs}]


def _chart(pods: Sequence[str], placed: Sequence[int], moved: Counter[int], n_runs: int) -> Bars:
    luckiest = sorted(placed, key=lambda i: (-moved[i], pods[i]))
    shares = {i: round(100 * moved[i] / n_runs) for i in luckiest}
    return Bars(
        title=_("How often each placement holds"),
        parts=[
            Part(_("runs in which the pod ends on the node it has here"), "scheduled"),
            Part(_("runs in which it gets another node, or none"), "rejected"),
        ],
        bars=[Bar(pods[i], [100 - shares[i], shares[i]]) for i in luckiest],
        whole=100,
        unit=" %",
    )


COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], Cell]]] = {
    "coins": lambda outcome: ", ".join(outcome.get("coins", ())),
    "runs": lambda outcome: len(outcome.get("runs", ())) or 1,
    "pods that ended elsewhere": lambda outcome: len(
        {pod for run in outcome.get("runs", ()) for pod in run["moved"]}
    ),
}
