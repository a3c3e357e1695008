"""What is wrong with a scenario or a change is said in the reader's language."""

from __future__ import annotations

from tests.web.cast import Person
from tests.web.english import english_in
from tests.web.test_configuration_texts import asked, refused
from tests.web.test_no_english_left import CHINESE

SCENARIOS: dict[str, str] = {
    "empty": "# nothing",
    "a list": "- a\n",
    "steps are no list": "steps: 5\n",
    "a step is no mapping": "steps: [5]\n",
    "no time": "steps: [{cordon: n}]\n",
    "too early": "steps: [{at: -1s, cordon: n}]\n",
    "too late": "until: 1s\nsteps: [{at: 2s, cordon: n}]\n",
    "too much": f"steps: [{', '.join(['{at: 1s, copyNode: {node: n, copies: 10000}}'] * 11)}]\n",
    "nothing to do": "steps: [{at: 1s}]\n",
    "two things to do": "steps: [{at: 1s, cordon: n, drain: n}]\n",
    "a misspelt action": "steps: [{at: 1s, cordn: n}]\n",
    "copies of nothing": "steps: [{at: 1s, cordon: n, copies: 2}]\n",
    "no node": "steps: [{at: 1s, cordon: 5}]\n",
    "no object": "steps: [{at: 1s, create: 5}]\n",
    "a broken object": "steps: [{at: 1s, create: {apiVersion: v1, kind: Pod}}]\n",
    "nothing to merge": "steps: [{at: 1s, patch: {kind: Pod, name: a}}]\n",
    "nothing to set": "steps: [{at: 1s, set: {kind: Pod, name: a, path: spec.priority}}]\n",
    "no such field": "steps: [{at: 1s, set: {kind: Pod, name: a, path: spec.prio, value: 1}}]\n",
    "no path": "steps: [{at: 1s, set: {kind: Pod, name: a, path: '..', value: 1}}]\n",
    "a wrong value": "steps: [{at: 1s, set: {kind: Pod, name: a, path: spec.priority, value: x}}]",
    "too many copies": "steps: [{at: 1s, copyNode: {node: n, copies: 90000}}]\n",
    "an end before the start": "until: -1s\n",
}
CHANGES: tuple[object, ...] = (
    {"seed": "x"},
    {"config": 5},
    {"weight": {"plugin": "NodeName", "weight": 3}},
    {"restore": 5},
    {"restore": {"objects": [5]}},
    {"cordon": "n", "drain": "n"},
    {"gte": {}},
    "node/n jump",
    "pod",
    "weight NodeName=x",
    "deployment scale 3",
    "node/n taint a",
    "pod/a/b set",
    "pod/a/b set spec.prio=5",
    "pod/a/b set spec.priority=x",
    "config",
    "config my.yaml",
)


def test_what_is_wrong_with_a_scenario(owner: Person) -> None:
    snapshot = owner.snapshot()
    for what, text in SCENARIOS.items():
        told = [each["message"] for each in asked(owner, snapshot, scenario=text)]
        assert [each for each in told if not CHINESE.search(each)] == [], what
        assert english_in(told) == [], what


def test_what_is_wrong_with_a_change(owner: Person) -> None:
    run = owner.finished()
    at_a_cycle: dict[str, object] = {"changes": [{"seed": 7}], "cycle": 2}
    asked_for: list[dict[str, object]] = [{"changes": [each]} for each in CHANGES]
    for inputs in (*asked_for, at_a_cycle):
        told = refused(owner, "zh-hans", parent=str(run.pk), **inputs)
        assert [each for each in told if not CHINESE.search(each["message"])] == [], inputs
