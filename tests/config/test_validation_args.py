"""Every rule about the arguments of plugins, with the field below them."""

import pytest

from scheduler_core.config import FeatureGates, feature_gates, load_configuration
from tests.config.in_tree import HEADER, LABEL_KEY_RULE, NO_GATES, problems_of


def args_problems(name: str, args: str, gates: FeatureGates = NO_GATES) -> list[tuple[str, str]]:
    """Field below the arguments and message; the arguments are a YAML flow mapping."""
    body = f"profiles:\n- pluginConfig:\n  - name: {name}\n    args: {args}"
    prefix = "profiles[0].pluginConfig[0].args."
    return [(field.removeprefix(prefix), message) for _, field, message in problems_of(body, gates)]


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        (
            "DefaultPreemption",
            "{minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1}",
            [
                (
                    "minCandidateNodesPercentage",
                    "Invalid value: 101: not in valid range [0, 100]",
                ),
                ("minCandidateNodesAbsolute", "Invalid value: -1: not in valid range [0, inf)"),
            ],
        ),
        (
            "DefaultPreemption",
            "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
            [
                (
                    "minCandidateNodesPercentage",
                    "Invalid value: 0: cannot be zero at the same time as "
                    "minCandidateNodesAbsolute",
                ),
                (
                    "minCandidateNodesAbsolute",
                    "Invalid value: 0: cannot be zero at the same time as "
                    "minCandidateNodesPercentage",
                ),
            ],
        ),
        (
            "DynamicResources",
            "{filterTimeout: -1s, bindingTimeout: 999ms}",
            [
                ("filterTimeout", 'Invalid value: "-1s": must be zero or positive'),
                ("bindingTimeout", 'Invalid value: "999ms": must be at least 1 second'),
            ],
        ),
        (
            "InterPodAffinity",
            "{hardPodAffinityWeight: -1}",
            [("hardPodAffinityWeight", "Invalid value: -1: not in valid range [0, 100]")],
        ),
        (
            "NodeResourcesBalancedAllocation",
            "{resources: [{name: cpu}, {name: cpu, weight: 2}]}",
            [
                ("resources[1].name", 'Duplicate value: "cpu"'),
                ("resources[1].weight", "Invalid value: 2: must be 1"),
            ],
        ),
        (
            "NodeResourcesFit",
            "{ignoredResources: ['-'], ignoredResourceGroups: [a/b, '-']}",
            [
                ("ignoredResources[0]", f'Invalid value: "-": {LABEL_KEY_RULE}'),
                (
                    "ignoredResourceGroups[0]",
                    "Invalid value: \"a/b\": resource group name can't contain '/'",
                ),
                ("ignoredResourceGroups[1]", f'Invalid value: "-": {LABEL_KEY_RULE}'),
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {}}",
            [
                (
                    "scoringStrategy.type",
                    'Unsupported value: "": supported values: '
                    '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
                )
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: LeastAllocated, resources: "
            "[{name: a, weight: 101}, {name: b, weight: -1}, {name: c, weight: 100}]}}",
            [
                (
                    "scoringStrategy.resources[0].weight",
                    "Invalid value: 101: resource weight of a not in valid range (0, 100]",
                ),
                (
                    "scoringStrategy.resources[1].weight",
                    "Invalid value: -1: resource weight of b not in valid range (0, 100]",
                ),
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: RequestedToCapacityRatio}}",
            [
                (
                    "scoringStrategy.requestedToCapacityRatio",
                    "Required value: must be specified when type is RequestedToCapacityRatio",
                )
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {}}}",
            [
                (
                    "scoringStrategy.requestedToCapacityRatio",
                    "Forbidden: must be nil when type is not RequestedToCapacityRatio",
                )
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {}}}",
            [
                (
                    "scoringStrategy.requestedToCapacityRatio.shape",
                    "Required value: at least one point must be specified",
                )
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
            "[{utilization: 5, score: 11}, {utilization: 5}, {utilization: 101, score: -1}]}}}",
            [
                (
                    "scoringStrategy.requestedToCapacityRatio.shape[1].utilization",
                    "Invalid value: 5: values must be sorted in increasing order",
                ),
                (
                    "scoringStrategy.requestedToCapacityRatio.shape[0].score",
                    "Invalid value: 11: not in valid range [0, 10]",
                ),
                (
                    "scoringStrategy.requestedToCapacityRatio.shape[2].utilization",
                    "Invalid value: 101: not in valid range [0, 100]",
                ),
                (
                    "scoringStrategy.requestedToCapacityRatio.shape[2].score",
                    "Invalid value: -1: not in valid range [0, 10]",
                ),
            ],
        ),
        (
            "PodTopologySpread",
            "{defaultingType: Cluster}",
            [
                (
                    "defaultingType",
                    'Unsupported value: "Cluster": supported values: "System", "List"',
                )
            ],
        ),
        (
            "PodTopologySpread",
            "{defaultConstraints: "
            "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
            [("defaultingType", 'Invalid value: "System": when .defaultConstraints are not empty')],
        ),
        (
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{labelSelector: {}}]}",
            [
                (
                    "defaultConstraints[0].maxSkew",
                    "Invalid value: 0: not in valid range (0, inf)",
                ),
                ("defaultConstraints[0].topologyKey", "Required value: can not be empty"),
                ("defaultConstraints[0].whenUnsatisfiable", "Required value: can not be empty"),
                (
                    "defaultConstraints[0].labelSelector",
                    "Forbidden: constraint must not define a selector, "
                    "as they deduced for each pod",
                ),
            ],
        ),
        (
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: "
            "[{maxSkew: 1, topologyKey: '-', whenUnsatisfiable: Never}]}",
            [
                ("defaultConstraints[0].topologyKey", f'Invalid value: "-": {LABEL_KEY_RULE}'),
                (
                    "defaultConstraints[0].whenUnsatisfiable",
                    'Unsupported value: "Never": '
                    'supported values: "DoNotSchedule", "ScheduleAnyway"',
                ),
            ],
        ),
        (
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: "
            "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, "
            "{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
            [("defaultConstraints[1]", 'Duplicate value: "{zone, DoNotSchedule}"')],
        ),
        (
            "VolumeBinding",
            "{bindTimeoutSeconds: -1, shape: []}",
            [
                (
                    "bindTimeoutSeconds",
                    "Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
                ),
                (
                    "shape",
                    "Invalid value: []: unexpected field `shape`, "
                    "remove it or turn on the feature gate StorageCapacityScoring",
                ),
            ],
        ),
    ],
)
def test_plugin_arguments(name: str, args: str, expected: list[tuple[str, str]]) -> None:
    assert args_problems(name, args) == expected


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
