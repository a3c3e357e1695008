"""Writes: a game begins, a pod is placed, a move is taken back, a player is done."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from kviz.accounts.models import Workspace
from kviz.by_hand.models import Attempt, Game
from kviz.by_hand.tables import table_of
from kviz.questions.optimum.services import optimum_ask
from kviz.runs.execution.engine import made_of, table
from kviz.runs.inputs import (
    InvalidInput,
    changes_of,
    configuration_of,
    gates_of_stored,
    refuse_hidden,
)
from kviz.runs.models import Optimum, Run
from kviz.runs.services import RunInputs, run_create, run_prepare, run_reveal
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import MAX_NODES_BY_HAND, MAX_PODS_BY_HAND
from scheduler_core.analysis.model import InstanceError
from scheduler_core.analysis.model.by_hand import NotPlaced
from scheduler_core.wording import told

EVENED_S: Final = 3.0
"""How long is searched for a placement as good as the scheduler's, before a class is offered it."""
SEARCH_S: Final = 20.0
"""How long a worker searches for the best placement."""


class CannotPlay(Exception):
    """A cluster is not one whose pods are placed by hand, or a move cannot be made now."""


def game_of_snapshot(
    *, workspace: Workspace, snapshot: Snapshot, name: str, scheduler_config: str
) -> Game:
    """Begin a game about a cluster. Raises CannotPlay and InvalidInput."""
    return _begin(workspace, snapshot, name, {"scheduler_config": scheduler_config, "scenario": ""})


def game_of_run(*, workspace: Workspace, run: Run, name: str, is_for_class: bool = False) -> Game:
    """Begin a game about what a run began with; its scenario and later changes are left out.

    About a hidden run only a class may play, whose teacher reveals: done alone, it would be known.
    Raises CannotPlay and InvalidInput.
    """
    if run.snapshot is None or run.is_observed:
        raise CannotPlay(gettext("A real scheduler decided this run; its pods cannot be placed."))
    if not is_for_class:
        refuse_hidden(run)
    return _begin(workspace, run.snapshot, name, _inputs_of(run), is_for_class=is_for_class)


def may_be_evened(*, run: Run) -> bool:
    """Whether somebody can do as well by hand as kube-scheduler at what a run began with.

    Nobody can where it evicts pods to place more. The scheduler runs and the best is searched for
    here, for at most `EVENED_S`; nothing of it is stored. False also where nothing can be played.
    """
    # The solver takes half a second to load.
    from kviz.questions.optimum.comparison import CheckFailed, compare, pose
    from kviz.questions.optimum.solver.clock import Clock
    from kviz.questions.optimum.solver.search import TooLarge

    if run.snapshot is None or run.is_observed:
        return False
    try:
        planned = _planned(run.workspace, run.snapshot, _inputs_of(run))
        found = compare(pose(*made_of(planned), "snapshot"), Clock(EVENED_S, lambda step: None))
    except (CannotPlay, InvalidInput, InstanceError, TooLarge, CheckFailed):
        return False
    best, ours = found.optimum, found.run
    return (*best.placed.values(), best.value) >= (*ours.placed.values(), ours.value or 0)


def _inputs_of(run: Run) -> RunInputs:
    """What a run began with: its scenario and later changes are left out."""
    return {
        "scheduler_config": run.scheduler_config,
        "scenario": "",
        "seed": run.seed,
        "release": run.release,
        "feature_gates": run.feature_gates,
        "tie_break": run.tie_break,  # type: ignore[typeddict-item]
        "queue_order": run.queue_order,  # type: ignore[typeddict-item]
        "changes": [each.change for each in changes_of(run) if not each.cycle],
    }


def _begin(
    workspace: Workspace,
    snapshot: Snapshot,
    name: str,
    inputs: RunInputs,
    *,
    is_for_class: bool = False,
) -> Game:
    _planned(workspace, snapshot, inputs)
    hidden: RunInputs = {**inputs, "hidden_after": 0}
    with transaction.atomic():
        run = run_create(workspace=workspace, snapshot=snapshot, **hidden)
        run.name = name[:200]
        run.save(update_fields=["name"])
        return Game.objects.create(run=run, is_for_class=is_for_class)


def _planned(workspace: Workspace, snapshot: Snapshot, inputs: RunInputs) -> Run:
    """The run, not stored, whose pods are placed by hand. Raises CannotPlay and InvalidInput."""
    planned = run_prepare(workspace=workspace, snapshot=snapshot, **inputs)
    gates = gates_of_stored(planned)
    if configuration_of(planned.scheduler_config, gates).extenders:
        raise CannotPlay(gettext("Scheduler extenders decide here, and a game does not call them."))
    found = table(planned)
    n_nodes, n_pods = found.n_nodes, len(found.waiting)
    if not n_nodes or not n_pods:
        raise CannotPlay(gettext("No pod waits here for a node, so there is nothing to place."))
    if n_nodes > MAX_NODES_BY_HAND or n_pods > MAX_PODS_BY_HAND:
        text = gettext(
            "Pods are placed by hand in clusters of at most %(nodes)d nodes and %(pods)d waiting "
            "pods; this one has %(n_nodes)d and %(n_pods)d."
        )
        most = {"nodes": MAX_NODES_BY_HAND, "pods": MAX_PODS_BY_HAND}
        raise CannotPlay(text % {**most, "n_nodes": n_nodes, "n_pods": n_pods})
    return planned


def attempt_get(*, game: Game, player: int = 0) -> Attempt:
    """What a player has placed so far; nothing, at first."""
    return Attempt.objects.get_or_create(game=game, player=player)[0]


def pod_place(*, attempt: Attempt, pod: str, node: str) -> None:
    """Put a pod on a node. Raises CannotPlay, in the plugin's words where one refuses."""
    try:
        with table_of(attempt.game) as table:
            turn = table.move(attempt.placement, pod, node)
    except NotPlaced as refused:
        raise CannotPlay(told(refused)) from refused
    _store(attempt, moves=[*attempt.moves, asdict(turn)])


def move_undo(*, attempt: Attempt) -> None:
    """Take the last move back, if there is one. Raises CannotPlay."""
    _store(attempt, moves=attempt.moves[:-1])


def moves_reset(*, attempt: Attempt) -> None:
    """Begin again. Raises CannotPlay."""
    _store(attempt, moves=[])


def attempt_finish(*, attempt: Attempt) -> None:
    """Measure what is placed; it cannot be changed after that. Raises CannotPlay."""
    with table_of(attempt.game) as table:
        reached = table.reached(attempt.placement)
    _store(
        attempt,
        is_finished=True,
        placed={str(level): n for level, n in reached.placed.items()},
        worth=reached.worth,
        objections=list(reached.objections),
    )


def attempt_reopen(*, attempt: Attempt) -> None:
    """Let somebody who plays alone try again, from the beginning."""
    Attempt.objects.filter(pk=attempt.pk).update(
        moves=[], is_finished=False, version=F("version") + 1
    )
    attempt.refresh_from_db()


def _store(attempt: Attempt, **what: Any) -> None:
    """Write what became of an attempt, unless another page of the player did meanwhile."""
    if attempt.game.is_for_class and attempt.game.is_revealed:
        raise CannotPlay(gettext("What the scheduler did is shown: pods stay where they are."))
    unchanged = Attempt.objects.filter(pk=attempt.pk, version=attempt.version, is_finished=False)
    stored = unchanged.update(version=attempt.version + 1, **what)
    attempt.refresh_from_db()
    if stored:
        return
    if attempt.is_finished:
        raise CannotPlay(gettext("This is finished: pods stay where they are."))
    raise CannotPlay(gettext("Another of your pages has moved a pod meanwhile."))


def game_reveal(*, game: Game) -> None:
    """Reveal the scheduler's result: its run continues."""
    run_reveal(run=game.run, upto=None)


def best_ask(*, game: Game) -> Optimum | None:
    """The search for the best placement, which begins once the run is over; None before."""
    found = game.run.optima.filter(mode="snapshot", at_cycle=1).first()
    if found is None and game.is_revealed:
        return optimum_ask(run=game.run, mode="snapshot", time_limit_s=SEARCH_S)
    return found
