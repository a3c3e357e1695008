"""Whether a scenario's steps find in a cluster what they act on, as far as that can be foreseen.

Pure: no database. What only the run can tell (pods made by owners, objects deleted before) is
left to it: the trace marks the steps that were refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.config import Problem
from scheduler_core.config.source import located, text_value
from scheduler_core.sim import Scenario, load_scenario
from scheduler_core.sim.scenario import (
    AddTaint,
    Cordon,
    Create,
    Delete,
    Drain,
    Patch,
    RemoveTaint,
    Scale,
)

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
    places = _places_in_file(text)
    problems = [Problem(("steps", places[index]), message) for index, message in found]
    return located(problems, text)


def _misfits(scenario: Scenario, there: set[Identity]) -> Iterator[tuple[int, str]]:
    """Yield the index of each step that cannot be carried out, and why."""
    gone: set[Identity] = set()
    owners_make_pods = scenario.options.recreate_evicted
    for index, step in enumerate(scenario.steps):
        match step.action:
            case Create():
                made = _made(step.action)
                for kind, name in made:
                    if (kind, name) in there and (kind, name) not in gone:
                        yield index, f"{kind} {name} already exists in this cluster"
                there.update(made)
                gone.difference_update(made)
            case Scale():
                owners_make_pods = True
            case action:
                target = _target(action)
                foreseeable = not (owners_make_pods and target[0] == Pod.kind)
                if target not in there and foreseeable:
                    yield index, f"this cluster has no {target[0]} {target[1]}"
                if isinstance(action, Delete):
                    gone.add(target)


def _made(action: Create) -> list[Identity]:
    made: list[Identity] = []
    for item in action.objects:
        prefix = f"{item.namespace or 'default'}/" if item.namespaced else ""
        copies = range(1, action.copies + 1)
        names = [f"{item.name}-{i}" for i in copies] if action.copies else [item.name]
        made += [(item.kind, prefix + name) for name in names]
    return made


def _target(action: Patch | Delete | Cordon | Drain | AddTaint | RemoveTaint) -> Identity:
    if isinstance(action, Patch | Delete):
        return action.target.kind.kind, action.target.key
    return Node.kind, action.node


def _places_in_file(text: str) -> list[int]:
    """Where in the file each step of the scenario stands: steps are played in order of time."""
    value = text_value(text)
    written = value["steps"] if isinstance(value, dict) else []
    if not isinstance(written, list):
        return []
    starts = [load_scenario(json.dumps({"steps": [step]})).steps[0].at_ns for step in written]
    return sorted(range(len(starts)), key=starts.__getitem__)
