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
from scheduler_core.sim.scenario import Scenario, ScenarioError, Step, load_scenario

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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the document is empty"),
        ("- at: 1s", "expected a mapping"),
        ("steps: 5", "line 1: steps: expected a list, got the number 5"),
        ("steps:\n- 5", "line 2: steps[0]: expected a mapping, got the number 5"),
        ("untill: 5s", 'line 1: untill: unknown field "untill", did you mean "until"?'),
        ("until: soon", 'line 1: until: time: invalid duration "soon"'),
        ("until: -5s", "line 1: until: Invalid value: -5000000000: must not be negative"),
        (
            "options:\n  bindng: 5s",
            'line 2: options.bindng: unknown field "bindng", did you mean "binding"?',
        ),
        (
            "options:\n  kubelet: perhaps",
            'line 2: options.kubelet: expected true or false, got the string "perhaps"',
        ),
        ("steps:\n- drain: n", "line 2: steps[0].at: Required value: when it happens"),
        (
            "steps:\n- at: 5\n  drain: n",
            "line 2: steps[0].at: expected a duration such as 10s, got the number 5",
        ),
        ("steps:\n- {at: -1s, drain: n}", "line 2: steps[0].at: must not be negative"),
        (
            "steps:\n- at: 1s",
            "line 2: steps[0]: one action is needed, of create, put, patch, set, delete, "
            "cordon, uncordon, drain, taint, untaint, label, unlabel, copyNode, scale; got none",
        ),
        (
            "steps:\n- at: 1s\n  drain: n\n  cordon: n",
            "line 2: steps[0]: one action is needed, of create, put, patch, set, delete, "
            "cordon, uncordon, drain, taint, untaint, label, unlabel, copyNode, scale; "
            "got drain and cordon",
        ),
        (
            "steps:\n- at: 1s\n  drain: n\n  copies: 3",
            "line 4: steps[0].copies: only goes with create",
        ),
        (
            "steps:\n- at: 1s\n  drian: n\n  cordon: n",
            'line 3: steps[0].drian: unknown field "drian", did you mean "drain"?',
        ),
        (
            "steps:\n- at: 1s\n  drain: [n]",
            "line 3: steps[0].drain: expected a node's name, got a list",
        ),
        (
            "until: 5s\nsteps:\n- at: 10s\n  drain: n",
            "line 3: steps[0].at: is after the end of the run (until)",
        ),
        (
            "steps:\n- at: 1s\n  delete:\n    kind: Pod",
            "line 3: steps[0].delete.name: Required value",
        ),
        (
            "steps:\n- at: 1s\n  taint:\n    node: n\n    key: k\n    effect: Never",
            'line 6: steps[0].taint.effect: Unsupported value: "Never": supported values: '
            '"NoSchedule", "PreferNoSchedule", "NoExecute"',
        ),
        (
            "steps:\n- at: 1s\n  untaint: {node: n, key: k, effect: Never}",
            'line 3: steps[0].untaint.effect: Unsupported value: "Never": supported values: '
            '"NoSchedule", "PreferNoSchedule", "NoExecute"',
        ),
        (
            "steps:\n- at: 1s\n  scale:\n    kind: ReplicaSet\n    name: web\n    replicas: -1",
            "line 6: steps[0].scale.replicas: Invalid value: -1: must be between 0 and 10000",
        ),
        (
            "steps:\n- at: 1s\n  scale: {kind: ReplicaSet, name: web}",
            "line 3: steps[0].scale.replicas: Required value",
        ),
        (
            "steps:\n- at: 1s\n  create: pod",
            'line 3: steps[0].create: expected an object, got the text "pod"',
        ),
        (
            "steps:\n- at: 1s\n  create: {kind: Pod, metadata: {name: p}}",
            "line 3: steps[0].create.apiVersion: is missing; Pod is read as v1",
        ),
        (
            "steps:\n- at: 1s\n  create: {apiVersion: v1, kind: Secret, metadata: {name: s}}",
            'line 3: steps[0].create.kind: the text "Secret" is not a modelled kind',
        ),
        (
            "steps:\n"
            "- at: 1s\n"
            "  create:\n"
            "  - apiVersion: v1\n"
            "    kind: Pod\n"
            "    metadata: {name: p}\n"
            "    spec:\n"
            "      containers:\n"
            "      - name: c\n"
            "        resources:\n"
            "          requests: {cpu: lots}\n",
            'line 11: steps[0].create[0].spec.containers[0].resources.requests.cpu: "lots" is not '
            "a quantity (write for example 500m, 2, 1.5Gi or 128M)",
        ),
        (
            "steps:\n"
            "- at: 1s\n"
            "  copies: 0\n"
            "  create: {apiVersion: v1, kind: Node, metadata: {name: n}}\n",
            "line 3: steps[0].copies: Invalid value: 0: must be between 1 and 10000",
        ),
        (
            "steps:\n" + 11 * "- {at: 1s, scale: {kind: Deployment, name: d, replicas: 10000}}\n",
            "line 1: steps: may create 110,000 objects in all; the limit is 100,000",
        ),
        (
            "steps:\n- at: 1s\n  patch: {kind: Pod, name: p}",
            "line 3: steps[0].patch.merge: Required value: what to merge into the object, a "
            "mapping",
        ),
        (
            "steps:\n"
            "- at: 1s\n"
            "  patch:\n"
            "    kind: Pod\n"
            "    name: p\n"
            "    merge:\n"
            "      spec:\n"
            "        priority: high\n",
            "line 8: steps[0].patch.merge.spec.priority: must be a whole number, not the text "
            '"high"',
        ),
        (
            "steps:\n- at: 1s\n  at: 2s\n  drain: n",
            'line 3: steps[0].at: key "at" already set in map',
        ),
    ],
)
def test_problems_have_their_line(text: str, problem: str) -> None:
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
