"""Everything a file may get wrong before its values are looked at, with the line it stands on."""

import pytest

from scheduler_core.config import (
    ConfigError,
    Plugin,
    load_configuration,
)
from scheduler_core.config.source import MAX_BYTES
from scheduler_core.config.types import (
    NodeResourcesBalancedAllocationArgs,
    ResourceSpec,
)
from tests.config.in_tree import HEADER, args_of, load
from tests.tables import rows


def problems_of(text: str | bytes) -> list[tuple[int | None, str, str]]:
    with pytest.raises(ConfigError) as caught:
        load_configuration(text)
    return [(problem.line, problem.field, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize(("body", "line", "field", "message"), rows(__file__, "strict_decoding"))
def test_strict_decoding(body: str, line: int, field: str, message: str) -> None:
    assert problems_of(HEADER + body) == [(line, field, message)]


def test_every_decoding_problem_is_reported_at_once() -> None:
    found = problems_of(
        HEADER
        + """parallelism: x
profiles:
- pluginConfig:
  - name: DefaultPreemption
    args:
      minCandidateNodesPercentage: ten
      minimum: 1
- plugin: {}
"""
    )
    assert [line for line, _, _ in found] == [3, 10, 8, 9]


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        (HEADER + "kind: KubeSchedulerConfiguration", 3, "kind", 'key "kind" already set in map'),
        (
            HEADER + "profiles:\n- schedulerName: a\n  schedulerName: b",
            5,
            "profiles[0].schedulerName",
            'key "schedulerName" already set in map',
        ),
        ('{"a": 1,\n\t"a": 2}', 2, "a", 'key "a" already set in map'),
        ("", None, "", "the document is empty"),
        ("# nothing\n", None, "", "the document is empty"),
        ("[1, 2]", None, "", "expected a mapping"),
        ("a: 1\n---\nb: 2", None, "", "more than one document: give one configuration"),
        (b"\xff\xfe", None, "", "not UTF-8 text"),
        ('{"a":' * 5000, None, "", "nested too deeply"),
        ("a: 1\n" + "#" * MAX_BYTES, None, "", "larger than 256 KiB"),
        ('{"a": 1,\n "b": }', 2, "", "JSON is malformed: invalid character"),
        (
            "kind: KubeSchedulerConfiguration",
            None,
            "apiVersion",
            "Object 'apiVersion' is missing, expected kubescheduler.config.k8s.io/v1",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1",
            None,
            "kind",
            "Object 'kind' is missing, expected KubeSchedulerConfiguration",
        ),
        (
            HEADER.replace("io/v1", "io/v1beta3"),
            1,
            "apiVersion",
            'no kind "KubeSchedulerConfiguration" is registered for version '
            '"kubescheduler.config.k8s.io/v1beta3", expected kubescheduler.config.k8s.io/v1'
            ". Releases 1.23 to 1.28 read that; with v1 each field that is gone is named",
        ),
        (
            HEADER.replace("kind: Kube", "kind: "),
            2,
            "kind",
            'no kind "SchedulerConfiguration" is registered for version '
            '"kubescheduler.config.k8s.io/v1", expected KubeSchedulerConfiguration',
        ),
    ],
)
def test_documents_that_are_refused(
    text: str | bytes, line: int | None, field: str, message: str
) -> None:
    assert problems_of(text) == [(line, field, message)]


def test_every_duplicate_key_is_reported() -> None:
    found = problems_of("a: &a {x: 1,\n x: 2}\nb:\n- c: 1\n  c: 2\n- *a\n")
    assert [(line, field) for line, field, _ in found] == [(2, "a.x"), (5, "b[0].c")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [1\n", 2),
        ("a: b: c\n", 1),
        ("a:\n  - &x [*x]\n", 2),
        ("a: 1\n\tb: 2\n", 2),
    ],
)
def test_broken_yaml_names_its_line(text: str, line: int) -> None:
    ((found, field, message),) = problems_of(text)
    assert found == line
    assert field == ""
    assert message.startswith("yaml: ")


def test_null_elements_are_empty_ones() -> None:
    (profile, _) = load(
        "profiles:\n- {schedulerName: a, plugins: {filter: {disabled: [null]}}}\n"
        "- {schedulerName: b, pluginConfig: [null]}"
    ).profiles
    assert profile.plugins.filter.disabled == (Plugin(name=""),)
    assert args_of("NodeResourcesBalancedAllocation", "{resources: [null]}") == (
        NodeResourcesBalancedAllocationArgs(resources=(ResourceSpec(name="", weight=1),))
    )
    ((_, field, _),) = problems_of(
        HEADER + "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: "
        "{ignoredResources: [a, null]}}]}]"
    )[:1]
    assert field == "profiles[0].pluginConfig[0].args.ignoredResources[1]"


def test_a_problem_reads_as_one_line() -> None:
    with pytest.raises(ConfigError) as caught:
        load("parallelism: x\nprofiles: {}")
    assert str(caught.value) == (
        'line 3: parallelism: expected an integer, got the string "x"; '
        "line 4: profiles: expected a list, got a mapping"
    )
