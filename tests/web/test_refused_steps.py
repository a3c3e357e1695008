"""What a scenario did is told on the run's pages: refused steps, and evictions for nobody."""

from __future__ import annotations

import pytest

from kviz.runs.reading import trace
from scheduler_core.api import KubeObject
from scheduler_core.api.errors import Place
from scheduler_core.api.parse import parse_object
from scheduler_core.sim import RunOptions, load_scenario, simulate
from scheduler_core.trace.events import ScenarioStepped
from tests.web.cast import Person

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "north"}}
REFUSED = {
    "create: {apiVersion: v1, kind: Node, metadata: {name: north}}": 'refused, "north" already',
    "create: {apiVersion: v1, kind: Pod, metadata: {name: p},"
    " spec: {priorityClassName: vip, containers: [{name: c}]}}": "forbidden, ",
    "patch: {kind: Node, name: north, merge: {metadata: {name: south}}}": "cannot change",
    "delete: {kind: Pod, name: p}": "there is none",
    "drain: south": "there is none",
    "untaint: {node: north, key: k, effect: NoSchedule}": "there is no such taint",
    "scale: {kind: ReplicaSet, name: web, replicas: 2}": "it has no pod to copy",
}
CARRIED_OUT = [
    "{at: 1s, cordon: north}",
    '{at: 1s, note: "Look: there is none", cordon: north}',
    "{at: 1s, patch: {kind: Node, name: north, merge: {metadata: {labels: {refused: x}}}}}",
]


def told(step: str) -> list[str]:
    scenario = load_scenario(f"steps:\n- {step}\n")
    objects: list[KubeObject] = [parse_object(NODE, Place())]
    trace = simulate(objects, RunOptions(scenario=scenario))
    return [step.text for step in trace if isinstance(step, ScenarioStepped) and step.refused]


@pytest.mark.parametrize("note", ["", 'note: "Now: try", '])
@pytest.mark.parametrize(("action", "why"), REFUSED.items(), ids=REFUSED.values())
def test_every_refusal_of_the_engine_is_marked(action: str, why: str, note: str) -> None:
    [text] = told(f"{{at: 1s, {note}{action}}}")
    assert why in text


@pytest.mark.parametrize("step", CARRIED_OUT)
def test_a_step_that_was_carried_out_is_not_listed(step: str) -> None:
    assert told(step) == []


def test_refused_steps_are_found_in_a_stored_run(ada: Person) -> None:
    scenario = "steps:\n- {at: 1s, drain: nowhere}\n- {at: 2s, cordon: south}\n"
    run = ada.finished(scenario=scenario)
    [step] = trace.steps_refused(run=run)
    assert (step.number, step.text) == (1, "Drain node nowhere: there is none")
