"""Every rule about the arguments of plugins, with the field below them."""

import pytest

from scheduler_core.config import FeatureGates, feature_gates, load_configuration
from tests.config.in_tree import HEADER, NO_GATES, problems_of
from tests.tables import rows


def args_problems(name: str, args: str, gates: FeatureGates = NO_GATES) -> list[tuple[str, str]]:
    """Field below the arguments and message; the arguments are a YAML flow mapping."""
    body = f"profiles:\n- pluginConfig:\n  - name: {name}\n    args: {args}"
    prefix = "profiles[0].pluginConfig[0].args."
    return [(field.removeprefix(prefix), message) for _, field, message in problems_of(body, gates)]


@pytest.mark.parametrize(("name", "args", "expected"), rows(__file__, "plugin_arguments"))
def test_plugin_arguments(name: str, args: str, expected: list[list[str]]) -> None:
    assert [list(problem) for problem in args_problems(name, args)] == expected


def test_added_affinity_points_at_the_requirement() -> None:
    found = problems_of(
        """
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - {}
          - matchExpressions:
            - {key: disk, operator: Is, values: [ssd]}
            - key: example.com/disk
              operator: In
              values:
              - ssd
              - "-"
        preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 0
          preference: {matchExpressions: [{key: a, operator: Never}]}
        - weight: 1
          preference:
            matchFields:
            - key: metadata.name
              operator: In
              values: []
"""
    )
    assert [line for line, _, _ in found] == [13, 18, 27]
    assert found[0][2].startswith('Unsupported value: "Is": supported values: "In", "NotIn"')
    assert found[1][1].endswith("nodeSelectorTerms[1].matchExpressions[1].values[1]")
    assert found[2][1:] == (
        "profiles[0].pluginConfig[0].args.addedAffinity."
        "preferredDuringSchedulingIgnoredDuringExecution[1].preference.matchFields[0].values",
        "Invalid value: null: must have one element",
    )


def test_gates_decide_which_arguments_may_be_given() -> None:
    gates = feature_gates(
        {"DRASchedulerFilterTimeout": False, "DRADeviceBindingConditions": False}
        | {"StorageCapacityScoring": True}
    )
    assert args_problems("DynamicResources", "{filterTimeout: 1s, bindingTimeout: 1s}", gates) == [
        ("filterTimeout", "Forbidden: DRASchedulingFilterTimeout feature gate is disabled"),
        (
            "bindingTimeout",
            "Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus "
            "feature gate is disabled",
        ),
    ]
    assert args_problems("VolumeBinding", "{shape: [{utilization: -1}]}", gates) == [
        ("shape[0].utilization", "Invalid value: -1: not in valid range [0, 100]")
    ]


def test_upstream_never_looks_at_the_arguments_of_a_fit_plugin_it_does_not_create() -> None:
    body = """
profiles:
- plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: Nonsense}}
"""
    assert load_configuration(HEADER + body).profiles
