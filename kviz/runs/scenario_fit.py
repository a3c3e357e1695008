"""Whether a cluster has the objects that a scenario's steps act on, if that is predictable.

Pure: no database. What only the run can decide (pods made by owners, objects deleted before) is
left to it: the trace marks the steps that were refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.changes.vocabulary import (
    CopyNode,
    Create,
    Delete,
    Drain,
    NodeChange,
    Patch,
    Put,
    Scale,
    SetField,
)
from scheduler_core.config import Problem
from scheduler_core.config.source import located
from scheduler_core.sim import Scenario, load_scenario

Identity = tuple[str, str]
"""Kind, and key within it."""


def misfits(text: str, objects: Iterable[KubeObject]) -> list[Problem]:
    """What the scenario `text` misses or finds taken in the cluster, each with its line.

    Raises ScenarioError if the text is no scenario.
    """
    scenario = load_scenario(text)
    found = list(_misfits(scenario, {(item.kind, item.key) for item in objects}))
    if not found:
        return []
    problems = [Problem(("steps", place), message) for place, message in found]
    return located(problems, text)


def _misfits(scenario: Scenario, there: set[Identity]) -> Iterator[tuple[int, str]]:
    """Yield the place in the file of each step that cannot be carried out, and why."""
    gone: set[Identity] = set()
    owners_make_pods = scenario.options.recreate_evicted
    for step in scenario.steps:
        match step.action:
            case Create():
                made = [(item.kind, item.key) for item in step.action.items()]
                for kind, name in made:
                    if (kind, name) in there and (kind, name) not in gone:
                        yield step.place, f"{kind} {name} already exists in this cluster"
                there.update(made)
                gone.difference_update(made)
            case Put(items):
                put = {(item.kind, item.key) for item in items}
                there.update(put)
                gone.difference_update(put)
            case Scale():
                owners_make_pods = True
            case action:
                target = _target(action)
                foreseeable = not (owners_make_pods and target[0] == Pod.kind)
                if target not in there and foreseeable:
                    yield step.place, f"this cluster has no {target[0]} {target[1]}"
                if isinstance(action, Delete):
                    gone.add(target)


def _target(action: Patch | SetField | Delete | Drain | CopyNode | NodeChange) -> Identity:
    if isinstance(action, Patch | SetField | Delete):
        return action.target.kind.kind, action.target.key
    return Node.kind, action.node
