"""Every rule about values, with the line the offending value stands on."""

import pytest

from scheduler_core.config import ConfigError, FeatureGates, feature_gates, load_configuration

from .in_tree import HEADER

NO_GATES = FeatureGates()
LABEL_KEY_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def problems_of(body: str, gates: FeatureGates = NO_GATES) -> list[tuple[int | None, str, str]]:
    with pytest.raises(ConfigError) as caught:
        load_configuration(HEADER + body, gates)
    return [(problem.line, problem.field, problem.message) for problem in caught.value.problems]


def args_problems(name: str, args: str, gates: FeatureGates = NO_GATES) -> list[tuple[str, str]]:
    """Field below the arguments and message; the arguments are a YAML flow mapping."""
    body = f"profiles:\n- pluginConfig:\n  - name: {name}\n    args: {args}"
    prefix = "profiles[0].pluginConfig[0].args."
    return [(field.removeprefix(prefix), message) for _, field, message in problems_of(body, gates)]


@pytest.mark.parametrize(
    ("body", "line", "field", "message"),
    [
        (
            "parallelism: 0",
            3,
            "parallelism",
            "Invalid value: 0: should be an integer value greater than zero",
        ),
        (
            "percentageOfNodesToScore: 101",
            3,
            "percentageOfNodesToScore",
            "Invalid value: 101: not in valid range [0-100]",
        ),
        (
            "percentageOfNodesToScore: -1",
            3,
            "percentageOfNodesToScore",
            "Invalid value: -1: not in valid range [0-100]",
        ),
        (
            "profiles:\n- percentageOfNodesToScore: 101",
            4,
            "profiles[0].percentageOfNodesToScore",
            "Invalid value: 101: not in valid range [0-100]",
        ),
        (
            "podInitialBackoffSeconds: 0",
            3,
            "podInitialBackoffSeconds",
            "Invalid value: 0: must be greater than 0",
        ),
        (
            "podMaxBackoffSeconds: 4\npodInitialBackoffSeconds: 5",
            3,
            "podMaxBackoffSeconds",
            "Invalid value: 4: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        (
            "podInitialBackoffSeconds: 11",
            None,
            "podMaxBackoffSeconds",
            "Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        (
            "clientConnection: {burst: -1}",
            3,
            "clientConnection.burst",
            "Invalid value: -1: must be non-negative",
        ),
        (
            "leaderElection:\n  resourceLock: configmaps",
            4,
            "leaderElection.resourceLock",
            'Invalid value: "configmaps": resourceLock value must be "leases"',
        ),
        (
            "leaderElection:\n  retryPeriod: -1m30.5s",
            4,
            "leaderElection.retryPeriod",
            'Invalid value: "-1m30.5s": must be greater than zero',
        ),
        (
            "leaderElection:\n  leaseDuration: 5s",
            4,
            "leaderElection.leaseDuration",
            'Invalid value: "10s": must be greater than `RenewDeadline`',
        ),
        ('profiles: [{schedulerName: ""}]', 3, "profiles[0].schedulerName", "Required value"),
        (
            "profiles:\n- schedulerName: a\n- percentageOfNodesToScore: 5",
            5,
            "profiles[1].schedulerName",
            "Required value",
        ),
        (
            "profiles:\n- schedulerName: a\n- schedulerName: b\n- schedulerName: a",
            6,
            "profiles[2].schedulerName",
            'Duplicate value: "profiles[0].schedulerName"',
        ),
        (
            "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: ImageLocality\n"
            "      - name: EBSLimits",
            8,
            "profiles[0].plugins.score.enabled[1]",
            'Invalid value: "EBSLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        ),
        (
            "profiles:\n- pluginConfig:\n  - name: GCEPDLimits",
            5,
            "profiles[0].pluginConfig[0]",
            'Invalid value: "GCEPDLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        ),
        (
            "profiles:\n- pluginConfig:\n  - name: Mine\n  - name: Mine",
            6,
            "profiles[0].pluginConfig[1]",
            'Duplicate value: "Mine"',
        ),
        (
            "profiles:\n- plugins:\n    queueSort:\n      enabled: [{name: A}, {name: B}]",
            6,
            "profiles[0].plugins.queueSort.enabled",
            "Invalid value: 2: only one queue sort plugin can be enabled",
        ),
        (
            "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    queueSort:\n"
            "      enabled: [{name: B}]",
            7,
            "profiles[1].plugins.queueSort",
            'Invalid value: {"enabled":["B"],"disabled":[]}: must be the same for all profiles',
        ),
        (
            "profiles:\n- schedulerName: a\n  plugins: {queueSort: {enabled: [{name: B}]}}\n"
            "- schedulerName: b\n  plugins: {queueSort: {enabled: [{name: B}]}}\n"
            "  pluginConfig:\n  - name: Other\n  - name: B\n    args: {c: 1}",
            11,
            "profiles[1].pluginConfig[name=B].args",
            'Invalid value: "B": queueSort must be the same for all profiles',
        ),
        (
            "extenders:\n- prioritizeVerb: prioritize",
            4,
            "extenders[0].weight",
            "Invalid value: 0: must have a positive weight applied to it",
        ),
        (
            "extenders:\n- prioritizeVerb: prioritize\n  weight: -1",
            5,
            "extenders[0].weight",
            "Invalid value: -1: must have a positive weight applied to it",
        ),
        (
            "extenders:\n- bindVerb: bind\n- bindVerb: bind",
            3,
            "extenders",
            'Invalid value: "found 2 extenders implementing bind": '
            "only one extender can implement bind",
        ),
        (
            "extenders:\n- managedResources: [{name: example.com/a}]\n"
            "- managedResources:\n  - name: example.com/b\n  - name: example.com/a",
            7,
            "extenders[1].managedResources[1].name",
            'Invalid value: "example.com/a": duplicate extender managed resource name',
        ),
        (
            "extenders:\n- managedResources: [{name: cpu}]",
            4,
            "extenders[0].managedResources[0].name",
            'Invalid value: "cpu": is an invalid extended resource name',
        ),
        (
            "extenders:\n- managedResources: [{name: kubernetes.io/a}]",
            4,
            "extenders[0].managedResources[0].name",
            'Invalid value: "kubernetes.io/a": is an invalid extended resource name',
        ),
        (
            "extenders:\n- managedResources: [{name: requests.example.com/a}]",
            4,
            "extenders[0].managedResources[0].name",
            'Invalid value: "requests.example.com/a": is an invalid extended resource name',
        ),
        (
            "extenders:\n- managedResources: [{name: example.com/-}]",
            4,
            "extenders[0].managedResources[0].name",
            f'Invalid value: "example.com/-": {LABEL_KEY_RULE}',
        ),
        (
            "extenders:\n- tlsConfig:\n    caFile: ca.pem\n    insecure: true",
            6,
            "extenders[0].tlsConfig.insecure",
            "Invalid value: true: "
            "specifying a root certificates file with the insecure flag is not allowed",
        ),
    ],
)
def test_values(body: str, line: int | None, field: str, message: str) -> None:
    assert problems_of(body) == [(line, field, message)]


def test_all_problems_are_reported() -> None:
    found = problems_of(
        """parallelism: -1
percentageOfNodesToScore: 200
podInitialBackoffSeconds: -2
podMaxBackoffSeconds: -3
leaderElection: {leaseDuration: -1s, renewDeadline: -1s, retryPeriod: -1s, resourceLock: x}
profiles:
- schedulerName: a
  pluginConfig:
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 101}
- schedulerName: a
extenders:
- {prioritizeVerb: x, bindVerb: y}
- {bindVerb: y}
"""
    )
    assert sorted(line for line, _, _ in found if line) == [
        3, 4, 5, 6, 7, 7, 7, 7, 7, 12, 13, 14, 15,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "percentageOfNodesToScore: 100",
        "podInitialBackoffSeconds: 10",
        "leaderElection: {leaderElect: false, resourceLock: x, retryPeriod: -1s}",
        "profiles: []",
        "profiles:\n- schedulerName: a\n- schedulerName: b",
        "extenders:\n- filterVerb: filter",
        "extenders:\n- {urlPrefix: '', bindVerb: bind}\n- {weight: -1}",
        "extenders:\n- tlsConfig: {insecure: true}\n- tlsConfig: {caFile: ca.pem}",
    ],
)
def test_values_at_the_border_are_accepted(body: str) -> None:
    assert load_configuration(HEADER + body).profiles


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
