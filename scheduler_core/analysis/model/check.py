"""Checks a placement by the engine itself: every node forced, every pod in its final context."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.analysis.model.instance import Placement
from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.framework.status import Status


@dataclass(frozen=True)
class Objection:
    """A pod that PreFilter or Filter turns down on its node, all others being where they are."""

    pod: str
    node: str
    status: Status

    @property
    def text(self) -> str:
        plugin = f"{self.status.plugin}: " if self.status.plugin else ""
        return f"pod {self.pod} on {self.node}: {plugin}{self.status.message}"


def objections(world: RestingWorld, placement: Placement) -> tuple[Objection, ...]:
    """Put all pods of a placement where it says, and ask the plugins about each in turn."""
    placed = [pod for pod in world.waiting if pod.key in placement]
    for pod in placed:
        world.put(pod, placement[pod.key])
    found = []
    for pod in placed:
        node = placement[pod.key]
        world.take_off(pod)
        status = world.verdict(pod, node)
        world.put(pod, node)
        if not status.is_success:
            found.append(Objection(pod.key, node, status))
    for pod in placed:
        world.take_off(pod)
    return tuple(found)
