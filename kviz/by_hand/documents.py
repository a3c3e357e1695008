"""What a player is sent: the board, why nodes refuse a pod, and what came of it.

Until the game is revealed nothing here is of the scheduler's run or of the best placement: not how
a move compares with its best node, either.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypedDict, cast
from uuid import UUID

from django.utils.translation import gettext

from kviz.by_hand.models import Attempt, Game
from kviz.by_hand.services import CannotPlay, best_ask
from kviz.by_hand.tables import table_of
from kviz.runs.models import Optimum
from scheduler_core.amounts import amount_text, in_one_unit
from scheduler_core.analysis.model.by_hand import NotPlaced, Reached, Room, WaitingPod
from scheduler_core.wording import told


class PodDocument(TypedDict):
    """`total` is that of its node at its turn, `best` the highest then; null while not known."""

    name: str
    priority: int
    asks: str
    node: str
    total: int | None
    best: int | None
    scores: Mapping[str, int]


class NodeDocument(TypedDict):
    name: str
    zone: str
    taints: list[str]
    pods: list[str]
    n_pods: int
    room: str
    """Of each resource, what is requested of how much."""


class ToPlaceDocument(TypedDict):
    """The waiting pods and the nodes before the first placement."""

    pods: list[PodDocument]
    nodes: list[NodeDocument]


class SideDocument(TypedDict):
    """What a placement comes to; `placed` by priority, the highest first."""

    placed: dict[str, int]
    worth: int | None
    placement: dict[str, str]
    objections: list[str]


class BestDocument(TypedDict):
    """`state`: `waiting`, `proven`, `found` (nobody knows a better one) or `unknown`."""

    state: Literal["waiting", "proven", "found", "unknown"]
    side: SideDocument | None
    why: str
    not_comparable: list[str]


class OutcomeDocument(TypedDict):
    """What is revealed of a game; `scheduler` null while its run is under way."""

    scheduler: SideDocument | None
    best: BestDocument


class BoardDocument(TypedDict):
    """One player's board."""

    title: str
    release_text: str
    pods: list[PodDocument]
    nodes: list[NodeDocument]
    of: dict[str, int]
    n_moves: int
    is_finished: bool
    is_revealed: bool
    mine: SideDocument | None
    outcome: OutcomeDocument | None
    verdict: str


def board_document(attempt: Attempt, *, is_secret: bool = False) -> BoardDocument:
    """The board as a player has it; what is revealed is shown once they are done.

    With `is_secret` it is not shown to them yet.
    """
    game = attempt.game
    shown = game.is_revealed and (attempt.is_finished or game.is_for_class) and not is_secret
    moves = {move["pod"]: move for move in attempt.moves}
    with table_of(game) as table:
        waiting, rooms, of = table.waiting, table.rooms(attempt.placement), table.of_priority
    outcome = outcome_document(game) if shown else None
    mine = side_of_attempt(attempt) if attempt.is_finished else None
    return {
        "title": game.run.name,
        "release_text": game.run.release_text,
        "pods": [_pod(pod, moves.get(pod.name), shown=shown) for pod in waiting],
        "nodes": [_node(room) for room in rooms],
        "of": {str(level): n for level, n in of.items()},
        "n_moves": len(attempt.moves),
        "is_finished": attempt.is_finished,
        "is_revealed": shown,
        "mine": mine,
        "outcome": outcome,
        "verdict": verdict(mine, outcome) if mine and outcome else "",
    }


def to_place_document(game: Game) -> ToPlaceDocument:
    with table_of(game) as table:
        pods = [_pod(pod, None, shown=False) for pod in table.waiting]
        return {"pods": pods, "nodes": [_node(room) for room in table.rooms({})]}


def _pod(pod: WaitingPod, move: Mapping[str, Any] | None, *, shown: bool) -> PodDocument:
    return {
        "name": pod.name,
        "priority": pod.priority,
        "asks": ", ".join(f"{n} {amount_text(n, v)}" for n, v in pod.requests.items()),
        "node": move["node"] if move else "",
        "total": move["total"] if move else None,
        "best": move["best"] if move and shown else None,
        "scores": move["scores"] if move else {},
    }


def _node(room: Room) -> NodeDocument:
    return {
        "name": room.name,
        "zone": room.zone,
        "taints": list(room.taints),
        "pods": list(room.pods),
        "n_pods": len(room.pods),
        "room": ", ".join(
            f"{name} {' / '.join(in_one_unit(name, used, whole))}"
            for name, (used, whole) in room.resources.items()
            if whole
        ),
    }


def look_document(attempt: Attempt, pod: str) -> dict[str, object]:
    """For every node, why a pod may not go there; null where it may. Raises CannotPlay."""
    try:
        with table_of(attempt.game) as table:
            found = table.look(attempt.placement, pod)
    except NotPlaced as error:
        raise CannotPlay(told(error)) from error
    refusals = {
        name: why and {"plugin": why.plugin, "message": why.message, "sentence": why.sentence}
        for name, why in found.items()
    }
    return {"pod": pod, "nodes": refusals}


# ---------------------------------------------------------------- what came of it


def side_of_attempt(attempt: Attempt) -> SideDocument:
    return {
        "placed": attempt.placed,
        "worth": attempt.worth,
        "placement": attempt.placement,
        "objections": attempt.objections,
    }


def outcome_document(game: Game) -> OutcomeDocument:
    """The scheduler's result, and the best placement that is known so far."""
    return {"scheduler": _scheduler(game), "best": _best(best_ask(game=game))}


def _scheduler(game: Game) -> SideDocument | None:
    if game.run.status != game.run.Status.FINISHED:
        return None
    return _of_run(game.pk)


@lru_cache(maxsize=64)
def _of_run(game_id: UUID) -> SideDocument:
    """A run that is over never changes."""
    game = Game.objects.select_related("run", "run__snapshot").get(pk=game_id)
    rows = game.run.pod_outcomes.filter(deleted=False).exclude(node="").order_by("pod")
    placement = dict(rows.values_list("pod", "node"))
    with table_of(game) as table:
        waiting = {pod.name for pod in table.waiting}
        placement = {pod: node for pod, node in placement.items() if pod in waiting}
        return _side(placement, table.reached(placement))


def _side(placement: dict[str, str], reached: Reached) -> SideDocument:
    return {
        "placed": {str(level): n for level, n in reached.placed.items()},
        "worth": reached.worth,
        "placement": placement,
        "objections": list(reached.objections),
    }


def _best(found: Optimum | None) -> BestDocument:
    if found is None or found.is_open:
        return {"state": "waiting", "side": None, "why": "", "not_comparable": []}
    answer = found.answer
    if answer is None:
        return {"state": "unknown", "side": None, "why": found.error, "not_comparable": []}
    best = answer["optimum"]
    return {
        "state": "proven" if answer["proven"] else "found",
        "side": {
            "placed": best["placed"],
            "worth": best["value"],
            "placement": best["assignment"],
            "objections": [],
        },
        "why": "",
        "not_comparable": answer["not_comparable"],
    }


def verdict(mine: SideDocument, outcome: OutcomeDocument) -> str:
    """A player's result compared with the scheduler's, in a sentence; empty while it is open."""
    scheduler, best = outcome["scheduler"], outcome["best"]
    if scheduler is None:
        return ""
    if mine["objections"]:
        return gettext("Given all pods you placed, some may not stay: this is not compared.")
    side = best["side"]
    if best["state"] == "proven" and side is not None and key_of(mine) >= key_of(side):
        if key_of(mine) > key_of(scheduler):
            return gettext("You beat the scheduler, and no placement is better: this is proved.")
        return gettext("As good as it gets: this is proved.")
    if key_of(mine) > key_of(scheduler):
        return gettext("You beat the scheduler.")
    if key_of(mine) == key_of(scheduler):
        return gettext("You did as well as the scheduler.")
    return gettext("The scheduler did better.")


def key_of(side: SideDocument) -> tuple[int, ...]:
    """What placements are compared by: pods placed, most important first; then the worth."""
    return (*(n for _, n in levels(side["placed"])), cast("int", side["worth"]))


def levels(placed: Mapping[str, int]) -> list[tuple[int, int]]:
    """Pods placed by priority, the highest first, however the database orders them."""
    return sorted(((int(level), n) for level, n in placed.items()), reverse=True)
