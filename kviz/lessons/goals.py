"""Whether a run reached what a task asks for, goal by goal."""

from __future__ import annotations

from dataclasses import dataclass

from kviz.lessons.enacting import Ends
from kviz.lessons.lesson import Goal, Task
from scheduler_core.wording import say, series


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
        words = say("goal.no_node", "{pod} has no node", pod=goal.pending)
        return Reached(words, node == "", _where(goal.pending, ends))
    if goal.evicted:
        met = goal.evicted in ends.evicted
        words = say("goal.evicted", "{pod} is evicted", pod=goal.evicted)
        return Reached(words, met, _where(goal.evicted, ends))
    return _apart(goal, ends)


def _bound(pod: str, on: str, ends: Ends) -> Reached:
    node = ends.nodes.get(pod, "")
    words = (
        say("goal.runs_on", "{pod} runs on {node}", pod=pod, node=on)
        if on
        else say("goal.has_node", "{pod} has a node", pod=pod)
    )
    return Reached(words, bool(node) and on in ("", node), _where(pod, ends))


def _apart(goal: Goal, ends: Ends) -> Reached:
    nodes = [ends.nodes.get(pod, "") for pod in goal.apart]
    places = [ends.labels.get(node, {}).get(goal.by, "") if goal.by else node for node in nodes]
    pods = series(goal.apart)
    words = say("goal.nodes_differ", "{pods} are on different nodes", pods=pods)
    if goal.by:
        words = say(
            "goal.domains_differ",
            "{pods} are on nodes with different values of {label}",
            pods=pods,
            label=goal.by,
        )
    met = all(places) and len(set(places)) == len(places)
    return Reached(words, met, series([_where(pod, ends) for pod in goal.apart]))


def _where(pod: str, ends: Ends) -> str:
    if pod not in ends.nodes:
        is_gone = pod in ends.evicted
        return (
            say("goal.gone", "{pod} is gone", pod=pod)
            if is_gone
            else say("goal.no_pod", "there is no pod {pod}", pod=pod)
        )
    node = ends.nodes[pod]
    return (
        say("goal.is_on", "{pod} is on {node}", pod=pod, node=node)
        if node
        else say("goal.no_node", "{pod} has no node", pod=pod)
    )
