"""A cluster whose waiting pods are placed by hand, and how far everybody is who places them."""

from __future__ import annotations

import uuid

from django.db import models

from kviz.runs.models import Run


class Game(models.Model):
    """Pods to be placed by hand, by one player or a class: the same cluster for everybody."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="game")
    """The scheduler's own. It is hidden, and so not simulated, until it may be known."""
    is_for_class = models.BooleanField(default=False)
    """Then its teacher reveals; otherwise the single player, by being done."""

    def __str__(self) -> str:
        return f"{self.run.name} by hand"

    @property
    def is_revealed(self) -> bool:
        """Whether what the scheduler makes of it may be known."""
        return self.run.hidden_after is None


class Attempt(models.Model):
    """What one player has placed so far."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="attempts")
    player = models.PositiveIntegerField(default=0)
    """The seat's number in a class; 0: a single player."""
    moves = models.JSONField(default=list)
    """`scheduler_core.analysis.model.by_hand.Turn`, in the order of placing."""
    version = models.PositiveIntegerField(default=0)
    """Grows with every move, so that two pages of a player do not move at once."""
    is_finished = models.BooleanField(default=False)
    placed = models.JSONField(default=dict)
    """By priority, the highest first: how many pods are placed; of a finished one."""
    worth = models.BigIntegerField(default=0)
    """In the cluster as it was (docs/by-hand.md); of a finished one."""
    objections = models.JSONField(default=list)
    """Pods whose node is not feasible given all others, in words; of a finished one."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["game", "player"], name="attempt_of_player")]

    def __str__(self) -> str:
        return f"{self.player} in {self.game_id}"

    @property
    def placement(self) -> dict[str, str]:
        """The node of each placed pod, in the order of placing."""
        return {move["pod"]: move["node"] for move in self.moves}
