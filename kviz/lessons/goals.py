"""Whether a run reached what a task asks for, goal by goal."""

from __future__ import annotations

from dataclasses import dataclass

from kviz.lessons.enacting import Ends
from kviz.lessons.lesson import Goal, Task


@dataclass(frozen=True)
class Reached:
    """A goal in words, and whether the run reached it; `instead` says what is so if it did not."""

    goal: str
    met: bool
    instead: str = ""


def reached(task: Task, ends: Ends) -> list[Reached]:
    """Hold the goals of a task against what a run came to."""
    return [_reached(goal, ends) for goal in task.goals]


def _reached(goal: Goal, ends: Ends) -> Reached:
    if goal.bound:
        return _bound(goal.bound, goal.on, ends)
    if goal.pending:
        node = ends.nodes.get(goal.pending)
        instead = _where(goal.pending, ends)
        return Reached(f"{goal.pending} has no node", node == "", instead)
    if goal.evicted:
        met = goal.evicted in ends.evicted
        return Reached(f"{goal.evicted} is evicted", met, _where(goal.evicted, ends))
    return _apart(goal, ends)


def _bound(pod: str, on: str, ends: Ends) -> Reached:
    node = ends.nodes.get(pod, "")
    words = f"{pod} runs on {on}" if on else f"{pod} has a node"
    return Reached(words, bool(node) and on in ("", node), _where(pod, ends))


def _apart(goal: Goal, ends: Ends) -> Reached:
    nodes = [ends.nodes.get(pod, "") for pod in goal.apart]
    places = [ends.labels.get(node, {}).get(goal.by, "") if goal.by else node for node in nodes]
    what = f"different values of {goal.by}" if goal.by else "different nodes"
    met = all(places) and len(set(places)) == len(places)
    where = ", ".join(_where(pod, ends) for pod in goal.apart)
    return Reached(f"{', '.join(goal.apart)} are on {what}", met, where)


def _where(pod: str, ends: Ends) -> str:
    if pod not in ends.nodes:
        return f"{pod} is gone" if pod in ends.evicted else f"there is no pod {pod}"
    node = ends.nodes[pod]
    return f"{pod} is on {node}" if node else f"{pod} has no node"
