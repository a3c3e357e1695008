"""Reading scenario files: what they may say, and where they say what they must not."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import Node, Pod, Taint
from scheduler_core.changes.vocabulary import (
    AddTaint,
    Cordon,
    Create,
    Delete,
    Drain,
    Patch,
    RemoveTaint,
    Scale,
    Target,
)
from scheduler_core.sim import recreates, recreating
from scheduler_core.sim.scenario import Scenario, ScenarioError, Step, load_scenario
from tests.tables import rows

SECOND_NS = 1_000_000_000


def load(text: str) -> Scenario:
    return load_scenario(textwrap.dedent(text))


def problems_of(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as refusal:
        load(text)
    return [str(problem) for problem in refusal.value.problems]


def only_step(text: str) -> Step:
    (step,) = load("steps:\n" + textwrap.dedent(text)).steps
    return step


def test_a_scenario_in_full() -> None:
    scenario = load(
        """\
        description: Everything
        until: 1h30m
        options:
          attempt: 5ms
          binding: 300ms
          preBind: 2s
          podStart: 1.5s
          kubelet: true
          recreateEvicted: true
        featureGates:
          SchedulerAsyncPreemption: false
        steps:
        - {at: 0s, note: first, cordon: n}
        """
    )
    assert scenario.description == "Everything"
    assert scenario.feature_gates == {"SchedulerAsyncPreemption": False}
    assert scenario.until_ns == 5400 * SECOND_NS
    options = scenario.options
    assert (options.attempt, options.binding) == (5_000_000, 300_000_000)
    assert (options.pre_bind, options.pod_start) == (2 * SECOND_NS, 1_500_000_000)
    assert options.kubelet is True
    assert options.recreate_evicted
    assert scenario.steps == (Step(0, Cordon("n", True), "first"),)


@pytest.mark.parametrize("text", ["{}", "steps: []", "description: nothing happens", "steps:"])
def test_a_scenario_in_which_nothing_happens(text: str) -> None:
    assert load(text).steps == ()


def test_steps_are_put_in_order_of_time_and_keep_that_of_the_file() -> None:
    scenario = load(
        """\
        steps:
        - {at: 10s, drain: c}
        - {at: 1ms, drain: a}
        - {at: 10s, drain: d}
        - {at: 2s, drain: b}
        """
    )
    assert [step.action for step in scenario.steps] == [Drain(name) for name in "abcd"]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("- {at: 1s, cordon: n}", Cordon("n", True)),
        ("- {at: 1s, uncordon: n}", Cordon("n", False)),
        ("- {at: 1s, drain: n}", Drain("n")),
        (
            "- {at: 1s, taint: {node: n, key: k, value: v, effect: NoExecute}}",
            AddTaint("n", Taint(key="k", value="v", effect="NoExecute")),
        ),
        ("- {at: 1s, untaint: {node: n, key: k}}", RemoveTaint("n", "k", "")),
        (
            "- {at: 1s, untaint: {node: n, key: k, effect: NoSchedule}}",
            RemoveTaint("n", "k", "NoSchedule"),
        ),
        (
            "- {at: 1s, delete: {kind: Pod, name: p}}",
            Delete(Target(Pod, "default", "p")),
        ),
        (
            "- {at: 1s, delete: {kind: Pod, namespace: shop, name: p, gracePeriodSeconds: 0}}",
            Delete(Target(Pod, "shop", "p"), 0),
        ),
        (
            "- {at: 1s, delete: {kind: Node, namespace: ignored, name: n}}",
            Delete(Target(Node, "", "n")),
        ),
        (
            "- {at: 1s, patch: {kind: Node, name: n, merge: {spec: {unschedulable: true}}}}",
            Patch(Target(Node, "", "n"), {"spec": {"unschedulable": True}}),
        ),
        (
            "- {at: 1s, patch: {kind: Pod, name: p, merge: {spec: {schedulingGates: null}}}}",
            Patch(Target(Pod, "default", "p"), {"spec": {"schedulingGates": None}}),
        ),
        (
            "- {at: 1s, scale: {kind: Deployment, name: web, replicas: 3}}",
            Scale("Deployment", "default", "web", 3),
        ),
    ],
)
def test_actions(text: str, action: object) -> None:
    step = only_step(text)
    assert step.action == action
    assert step.at_ns == SECOND_NS


def test_objects_are_read_as_uploads_are() -> None:
    step = only_step(
        """\
        - at: 0s
          create:
          - {apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 4}}}
          - apiVersion: v1
            kind: Pod
            metadata: {name: p}
            spec:
              containers: [{name: c, resources: {limits: {cpu: 500m}}}]
        """
    )
    assert isinstance(step.action, Create)
    node, pod = step.action.objects
    assert isinstance(node, Node)
    assert node.status.allocatable == {"cpu": "4"}
    assert isinstance(pod, Pod)
    assert pod.spec.containers[0].resources is not None
    assert pod.spec.containers[0].resources.requests == {"cpu": "500m"}


def test_a_scenario_may_be_json() -> None:
    assert load_scenario(b'\xef\xbb\xbf{"steps": [{"at": "1s", "drain": "n"}]}').steps


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(("text", "problem"), rows(__file__, "problems_have_their_line"))
def test_problems_have_their_line(text: str, problem: str) -> None:
    assert problem in problems_of(text)


def test_no_scenario_creates_more_than_the_limit() -> None:
    text = "steps:\n" + 11 * "- {at: 1s, scale: {kind: Deployment, name: d, replicas: 10000}}\n"
    problem = "line 1: steps: may create 110,000 objects in all; the limit is 100,000"
    assert problem in problems_of(text)


def test_an_unknown_kind_lists_the_known_ones() -> None:
    (problem,) = problems_of("steps:\n- at: 1s\n  delete:\n    kind: Secret\n    name: s\n")
    assert problem.startswith('line 4: steps[0].delete.kind: Unsupported value: "Secret"')
    assert '"PersistentVolumeClaim", "Pod"' in problem


def test_all_problems_are_listed_at_once() -> None:
    problems = problems_of(
        """\
        until: never
        steps:
        - at: 1s
          drain: 5
        - at: x
          cordon: n
        - uncordon: n
        """
    )
    assert [problem.split(":")[0] for problem in problems] == [
        "line 1",
        "line 4",
        "line 5",
        "line 7",
    ]


def test_text_that_is_no_text() -> None:
    with pytest.raises(ScenarioError, match="not UTF-8 text"):
        load_scenario(b"\xff\xfe\x00")


def test_text_that_is_no_yaml_says_where() -> None:
    (problem,) = problems_of("steps:\n- at: 1s\n   drain: n\n")
    assert problem.startswith("line 3: yaml:")


FIELDS = [
    "steps",
    "at",
    "note",
    "create",
    "patch",
    "delete",
    "scale",
    "taint",
    "untaint",
    "cordon",
    "drain",
    "merge",
    "kind",
    "name",
    "until",
    "options",
    "copies",
    "replicas",
    "node",
    "key",
]

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["1s", "Pod"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
def test_whatever_a_step_says_it_is_read_or_refused_where_it_stands(step: object) -> None:
    text = json.dumps({"until": "1h", "steps": [step]})
    try:
        read = load_scenario(text)
    except ScenarioError as refusal:
        refused = refusal.problems
    else:
        refused = ()
        assert len(read.steps) == 1
    assert all(problem.path[:1] == ("steps",) and problem.line == 1 for problem in refused)


@pytest.mark.parametrize(
    ("text", "longer"),
    [
        ("", "options: {recreateEvicted: true}\n"),
        ("# why\nsteps: []", "# why\nsteps: []\noptions: {recreateEvicted: true}\n"),
        ("options: {kubelet: false}", "options:\n  kubelet: false\n  recreateEvicted: true\n"),
        ('{"steps": []}', "steps: []\noptions:\n  recreateEvicted: true\n"),
        ("options: {recreateEvicted: true} # so", "options: {recreateEvicted: true} # so"),
        ("[not a scenario]", "[not a scenario]"),
    ],
)
def test_a_text_is_made_one_in_which_owners_recreate(text: str, longer: str) -> None:
    assert recreating(text) == longer
    assert recreates(longer) is ("recreate" in longer)
