"""Reads: how lucky a run's placements were, as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.wording import translated
from kviz.questions.luck.text import percent, rounded
from kviz.runs.models import Run
from scheduler_core.analysis.advice.coins import IN_WORDS
from scheduler_core.analysis.advice.intervals import Share

MAX_PODS: Final = 200
"""So many pods a page lists, those that are luck first."""
MAX_NODES: Final = 5


@dataclass(frozen=True)
class PodRow:
    """One pod: where this run has it, how often it finds a node, and which."""

    pod: str
    node: str
    held: bool
    bound: str
    as_here: str
    nodes: Sequence[tuple[str, str]]
    n_more_nodes: int
    deciding: Sequence[str]


@dataclass(frozen=True)
class CoinRow:
    """What one coin does alone; `runs` is 0 if it had nothing to decide."""

    what: str
    runs: int
    n_pods: int


@dataclass(frozen=True)
class RunLuck:
    """What many runs came to. `n_held` of `n_placed` placements were the same in all `runs`."""

    runs: int
    is_tight: bool
    n_placed: int
    n_held: int
    n_always_bound: int
    pods: Sequence[PodRow]
    n_pods: int
    n_pending: int
    """Pods that are pending here and in all other runs; the table leaves them out."""
    left: Sequence[tuple[str, str]]
    coins: Sequence[CoinRow]

    @property
    def n_luck(self) -> int:
        return self.n_placed - self.n_held

    @property
    def n_sometimes_bound(self) -> int:
        """So many pods that this run places find no node in some of the runs."""
        return self.n_placed - self.n_always_bound

    @property
    def statement(self) -> str:
        """The answer in one sentence."""
        counts = {
            "runs": f"{self.runs:,}",
            "shown": f"{self.n_placed:,}",
            "all": f"{self.n_placed:,}",
            "held": f"{self.n_held:,}",
            "n": f"{self.n_luck:,}",
        }
        if not self.n_placed:
            text = _("No pod that waited is placed in this run, so no placement can be luck.")
        elif self.n_placed == 1 and self.n_luck:
            text = _(
                "The one placement is luck: in some of %(runs)s runs the pod got another node,"
                " or none."
            )
        elif not self.n_luck:
            text = ngettext(
                "The one placement held in all %(runs)s runs tried.",
                "All %(shown)s placements held in all %(runs)s runs tried.",
                self.n_placed,
            )
        else:
            text = ngettext(
                "%(n)s of %(all)s placements is luck: in some of %(runs)s runs the pod got another"
                " node, or none. %(held)s held in all.",
                "%(n)s of %(all)s placements are luck: in some of %(runs)s runs those pods got"
                " other nodes, or none. %(held)s held in all.",
                self.n_luck,
            )
        return text % counts

    @property
    def homeless(self) -> str:
        """How many pods that this run places found no node in some, empty if none did."""
        n = self.n_sometimes_bound
        text = ngettext(
            "%(n)s pod placed here found no node in some of them.",
            "%(n)s pods placed here found no node in some of them.",
            n,
        )
        return text % {"n": f"{n:,}"} if n else ""


def luck_of(run: Run) -> RunLuck | None:
    """What is stored with the run, None if nobody has asked."""
    return run_luck(run.luck) if run.luck else None


def luck_document(run: Run) -> dict[str, Any] | None:
    """Return what is stored, None if nobody has asked; what coins are can be translated."""
    if run.luck is None:
        return None
    coins = [{**each, "what": IN_WORDS[each["coin"]]} for each in run.luck["coins"]]
    return {**run.luck, "coins": coins, "release_text": run.release_text}


def run_luck(stored: Mapping[str, Any]) -> RunLuck:
    """Read what `kviz luck --json` prints."""
    placements, runs = stored["placements"], stored["runs"]
    told = [each for each in stored["pods"] if each["pinned"] or not each["held"]]
    pods = sorted(told, key=lambda each: (each["held"], not each["pinned"], each["pod"]))
    return RunLuck(
        runs=runs,
        is_tight=stored["tight"],
        n_placed=placements["made"],
        n_held=placements["held"],
        n_always_bound=placements["always_bound"],
        pods=[_pod(each, runs) for each in pods[:MAX_PODS]],
        n_pods=len(pods),
        n_pending=len(stored["pods"]) - len(pods),
        left=[(each["pod"], _percent(each["n"], runs)) for each in stored["lost_node"]],
        coins=[
            CoinRow(
                translated(IN_WORDS[each["coin"]]),
                each["runs_alone"],
                each["pods_alone"],
            )
            for each in stored["coins"]
        ],
    )


def _pod(each: Mapping[str, Any], runs: int) -> PodRow:
    nodes = [(node["node"], rounded(node["n"] / runs)) for node in each["nodes"]]
    return PodRow(
        pod=each["pod"],
        node=each["pinned"] or "",
        held=each["held"],
        bound=_percent(each["bound"]["n"], runs),
        as_here=_percent(each["as_pinned"]["n"], runs),
        nodes=nodes[:MAX_NODES],
        n_more_nodes=max(0, len(nodes) - MAX_NODES),
        deciding=[translated(IN_WORDS[coin]) for coin in each["deciding"]],
    )


def _percent(n: int, runs: int) -> str:
    """Return a share with its interval, in one line whatever the width."""
    return percent(Share(n, runs)).replace(" ", "\N{NO-BREAK SPACE}").replace("-", "\N{EN DASH}")
