"""Whose game an address names."""

from __future__ import annotations

from uuid import UUID

from kviz.accounts.models import Workspace
from kviz.by_hand.models import Attempt, Game
from kviz.by_hand.services import attempt_get


def own_attempt(*, workspace: Workspace, game_id: UUID) -> Attempt | None:
    """What somebody who plays alone has placed; None for a game of another workspace."""
    games = Game.objects.select_related("run", "run__snapshot")
    game = games.filter(pk=game_id, run__workspace=workspace, is_for_class=False).first()
    return attempt_get(game=game) if game is not None else None
