"""What a file decodes to: defaults, arguments, and what is refused while decoding."""

import json
from pathlib import Path

import pytest

from scheduler_core.api.types import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    TopologySpreadConstraint,
)
from scheduler_core.config import (
    ConfigError,
    ExtensionPoint,
    FeatureGates,
    PluginConfig,
    default_configuration,
    feature_gates,
    load_configuration,
    resolve_profiles,
)
from scheduler_core.config.types import (
    Args,
    ClientConnection,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    Extender,
    ExtenderManagedResource,
    ExtenderTLSConfig,
    InterPodAffinityArgs,
    LeaderElection,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
    ScoringStrategy,
    UnknownArgs,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from tests.config.in_tree import HEADER, IN_TREE, args_of, load

SECOND_NS = 1_000_000_000
CPU_AND_MEMORY = (ResourceSpec(name="cpu", weight=1), ResourceSpec(name="memory", weight=1))
DEFAULT_PLUGIN_CONFIG = (
    PluginConfig(
        name="DefaultPreemption",
        args=DefaultPreemptionArgs(
            min_candidate_nodes_percentage=10, min_candidate_nodes_absolute=100
        ),
    ),
    PluginConfig(
        name="DynamicResources",
        args=DynamicResourcesArgs(
            filter_timeout_ns=10 * SECOND_NS, binding_timeout_ns=600 * SECOND_NS
        ),
    ),
    PluginConfig(
        name="InterPodAffinity",
        args=InterPodAffinityArgs(
            hard_pod_affinity_weight=1, ignore_preferred_terms_of_existing_pods=False
        ),
    ),
    PluginConfig(name="NodeAffinity", args=NodeAffinityArgs(added_affinity=None)),
    PluginConfig(
        name="NodeResourcesBalancedAllocation",
        args=NodeResourcesBalancedAllocationArgs(resources=CPU_AND_MEMORY),
    ),
    PluginConfig(
        name="NodeResourcesFit",
        args=NodeResourcesFitArgs(
            ignored_resources=(),
            ignored_resource_groups=(),
            scoring_strategy=ScoringStrategy(type="LeastAllocated", resources=CPU_AND_MEMORY),
        ),
    ),
    PluginConfig(
        name="PodTopologySpread",
        args=PodTopologySpreadArgs(default_constraints=(), defaulting_type="System"),
    ),
    PluginConfig(
        name="VolumeBinding", args=VolumeBindingArgs(bind_timeout_seconds=600, shape=None)
    ),
)


def test_a_file_with_nothing_in_it_is_the_default_configuration() -> None:
    loaded = load()
    assert loaded == default_configuration()
    assert loaded.parallelism == 16
    assert loaded.percentage_of_nodes_to_score == 0
    assert loaded.pod_initial_backoff_seconds == 1
    assert loaded.pod_max_backoff_seconds == 10
    assert loaded.extenders == ()
    assert loaded.enable_profiling
    assert loaded.enable_contention_profiling
    assert not loaded.delay_cache_until_active
    assert loaded.leader_election == LeaderElection(
        leader_elect=True,
        lease_duration_ns=15 * SECOND_NS,
        renew_deadline_ns=10 * SECOND_NS,
        retry_period_ns=2 * SECOND_NS,
        resource_lock="leases",
        resource_name="kube-scheduler",
        resource_namespace="kube-system",
    )
    assert loaded.client_connection == ClientConnection(
        content_type="application/vnd.kubernetes.protobuf", qps=50.0, burst=100
    )


@pytest.mark.parametrize(
    ("gates", "last"),
    [
        ({"NodeDeclaredFeatures": False, "InPlacePodLevelResourcesVerticalScaling": False}, []),
        ({}, ["NodeDeclaredFeatures"]),
    ],
)
def test_gates_decide_about_default_plugins(gates: dict[str, bool], last: list[str]) -> None:
    (profile,) = default_configuration(FeatureGates(tuple(gates.items()))).profiles
    names = [plugin.name for plugin in profile.plugins.multi_point.enabled]
    assert names[names.index("DefaultBinder") + 1 :] == last


def test_gates_decide_about_default_arguments() -> None:
    gates = feature_gates(
        {"StorageCapacityScoring": True, "DRASchedulerFilterTimeout": False}
        | {"DRADeviceBindingConditions": False}
    )
    args = {
        config.name: config.args
        for config in default_configuration(gates).profiles[0].plugin_config
    }
    assert args["DynamicResources"] == DynamicResourcesArgs()
    assert args["VolumeBinding"] == VolumeBindingArgs(
        shape=(
            UtilizationShapePoint(utilization=0, score=10),
            UtilizationShapePoint(utilization=100, score=0),
        )
    )


@pytest.mark.parametrize(
    ("body", "top", "profile"),
    [
        ("", 0, None),
        ("percentageOfNodesToScore: 0", 0, None),
        ("percentageOfNodesToScore: null", 0, None),
        ("percentageOfNodesToScore: 10", 10, None),
        ("percentageOfNodesToScore: 10\nprofiles: [{percentageOfNodesToScore: 0}]", 10, 0),
        ("percentageOfNodesToScore: 10\nprofiles: [{percentageOfNodesToScore: 20}]", 10, 20),
    ],
)
def test_percentage_of_nodes_to_score(body: str, top: int, profile: int | None) -> None:
    loaded = load(body)
    assert loaded.percentage_of_nodes_to_score == top
    assert loaded.profiles[0].percentage_of_nodes_to_score == profile
    resolved = resolve_profiles(loaded, IN_TREE)["default-scheduler"]
    assert resolved.percentage_of_nodes_to_score == (top if profile is None else profile)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("DefaultPreemption", "null", DefaultPreemptionArgs()),
        ("DefaultPreemption", "{}", DefaultPreemptionArgs()),
        (
            "DefaultPreemption",
            "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: null}",
            DefaultPreemptionArgs(
                min_candidate_nodes_percentage=0, min_candidate_nodes_absolute=100
            ),
        ),
        (
            "DefaultPreemption",
            "{apiVersion: kubescheduler.config.k8s.io/v1, kind: DefaultPreemptionArgs}",
            DefaultPreemptionArgs(),
        ),
        (
            "DynamicResources",
            "{filterTimeout: 0s, bindingTimeout: 1m30s}",
            DynamicResourcesArgs(filter_timeout_ns=0, binding_timeout_ns=90 * SECOND_NS),
        ),
        (
            "InterPodAffinity",
            "{hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}",
            InterPodAffinityArgs(
                hard_pod_affinity_weight=0, ignore_preferred_terms_of_existing_pods=True
            ),
        ),
        (
            "NodeAffinity",
            "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "{nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}}}",
            NodeAffinityArgs(
                added_affinity=NodeAffinity(
                    required_during_scheduling_ignored_during_execution=NodeSelector(
                        node_selector_terms=(
                            NodeSelectorTerm(
                                match_expressions=(
                                    NodeSelectorRequirement(key="disk", operator="Exists"),
                                )
                            ),
                        )
                    )
                )
            ),
        ),
        (
            "NodeResourcesBalancedAllocation",
            "{resources: [{name: cpu}, {name: gpu, weight: 0}]}",
            NodeResourcesBalancedAllocationArgs(
                resources=(ResourceSpec(name="cpu", weight=1), ResourceSpec(name="gpu", weight=1))
            ),
        ),
        (
            "NodeResourcesBalancedAllocation",
            "{resources: []}",
            NodeResourcesBalancedAllocationArgs(resources=CPU_AND_MEMORY),
        ),
        (
            "NodeResourcesFit",
            "{ignoredResources: [example.com/a], ignoredResourceGroups: [acme.io]}",
            NodeResourcesFitArgs(
                ignored_resources=("example.com/a",), ignored_resource_groups=("acme.io",)
            ),
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 0}]}}",
            NodeResourcesFitArgs(
                scoring_strategy=ScoringStrategy(
                    type="MostAllocated", resources=(ResourceSpec(name="cpu", weight=1),)
                )
            ),
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: MostAllocated}}",
            NodeResourcesFitArgs(
                scoring_strategy=ScoringStrategy(type="MostAllocated", resources=CPU_AND_MEMORY)
            ),
        ),
        (
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: "
            "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
            PodTopologySpreadArgs(
                defaulting_type="List",
                default_constraints=(
                    TopologySpreadConstraint(
                        max_skew=1, topology_key="zone", when_unsatisfiable="ScheduleAnyway"
                    ),
                ),
            ),
        ),
        ("PodTopologySpread", '{defaultingType: ""}', PodTopologySpreadArgs()),
        ("VolumeBinding", "{bindTimeoutSeconds: 0}", VolumeBindingArgs(bind_timeout_seconds=0)),
        (
            "OutOfTree",
            "{a: [1, 2.5, null], b: x}",
            UnknownArgs(value={"a": [1, 2.5, None], "b": "x"}),
        ),
        ("OutOfTree", "null", UnknownArgs(value=None)),
        ("OutOfTree", "5", UnknownArgs(value=5)),
    ],
)
def test_plugin_arguments(name: str, args: str, expected: Args) -> None:
    assert args_of(name, args) == expected


def test_arguments_given_for_one_plugin_leave_the_others_at_their_defaults() -> None:
    loaded = load("profiles: [{pluginConfig: [{name: VolumeBinding}, {name: Mine, args: {}}]}]")
    configs = loaded.profiles[0].plugin_config
    assert [config.name for config in configs[:2]] == ["VolumeBinding", "Mine"]
    assert configs[2:] == DEFAULT_PLUGIN_CONFIG[:-1]


def test_a_disabled_plugin_has_no_default_arguments() -> None:
    loaded = load("profiles: [{plugins: {multiPoint: {disabled: [{name: NodeAffinity}]}}}]")
    names = [config.name for config in loaded.profiles[0].plugin_config]
    assert "NodeAffinity" not in names
    assert len(names) == len(DEFAULT_PLUGIN_CONFIG) - 1


def test_an_extender_with_every_field() -> None:
    loaded = load(
        """
extenders:
- urlPrefix: https://127.0.0.1:12346/scheduler
  filterVerb: filter
  preemptVerb: preempt
  prioritizeVerb: prioritize
  weight: 5
  bindVerb: bind
  enableHTTPS: true
  tlsConfig:
    {insecure: true, serverName: me, certFile: c, keyFile: k, certData: Yw==, keyData: aw==}
  httpTimeout: 1.5s
  nodeCacheCapable: true
  ignorable: true
  managedResources:
  - {name: example.com/gpu, ignoredByScheduler: true}
  - {name: example.com/fpga}
"""
    )
    assert loaded.extenders == (
        Extender(
            url_prefix="https://127.0.0.1:12346/scheduler",
            filter_verb="filter",
            preempt_verb="preempt",
            prioritize_verb="prioritize",
            weight=5,
            bind_verb="bind",
            enable_https=True,
            tls_config=ExtenderTLSConfig(
                insecure=True,
                server_name="me",
                cert_file="c",
                key_file="k",
                cert_data=b"c",
                key_data=b"k",
            ),
            http_timeout_ns=1_500_000_000,
            node_cache_capable=True,
            managed_resources=(
                ExtenderManagedResource(name="example.com/gpu", ignored_by_scheduler=True),
                ExtenderManagedResource(name="example.com/fpga"),
            ),
            ignorable=True,
        ),
    )


def test_sections_the_simulation_does_not_use_are_accepted() -> None:
    loaded = load(
        """
leaderElection: {leaderElect: false, resourceLock: endpoints, leaseDuration: 1ns}
clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf, qps: 12.5, burst: 7}
enableProfiling: false
delayCacheUntilActive: true
"""
    )
    assert not loaded.enable_contention_profiling
    assert loaded.client_connection.burst == 7
    assert loaded.profiles == default_configuration().profiles


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEADER + "parallelism: 4", id="yaml"),
        pytest.param("# a comment\n---\n" + HEADER + "parallelism: 4\n---\n", id="one document"),
        pytest.param(HEADER + "parallelism: 4.0", id="integral float"),
        pytest.param(
            HEADER + "leaderElection: &none {}\nclientConnection: *none\nparallelism: 4", id="alias"
        ),
        pytest.param(
            json.dumps(
                {
                    "apiVersion": "kubescheduler.config.k8s.io/v1",
                    "kind": "KubeSchedulerConfiguration",
                    "parallelism": 4,
                },
                indent="\t",
            ),
            id="json",
        ),
        pytest.param(b"\xef\xbb\xbf" + HEADER.encode() + b"parallelism: 4", id="byte order mark"),
    ],
)
def test_ways_to_write_it(text: str | bytes) -> None:
    assert load_configuration(text).parallelism == 4


def test_yaml_merge_keys_are_resolved() -> None:
    loaded = load(
        """
profiles:
- &base
  schedulerName: a
  percentageOfNodesToScore: 30
- <<: *base
  schedulerName: b
"""
    )
    percentages = {p.scheduler_name: p.percentage_of_nodes_to_score for p in loaded.profiles}
    assert percentages == {"a": 30, "b": 30}


RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "recorded.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("case", RECORDED, ids=[case["name"] for case in RECORDED])
def test_recorded_configurations(case: dict[str, object]) -> None:
    text = json.dumps(case["config"])
    if case.get("refused"):
        with pytest.raises(ConfigError):
            load_configuration(text)
        return
    resolved = resolve_profiles(load_configuration(text), IN_TREE)
    weights = case.get("weights", {})
    assert isinstance(weights, dict)
    score = dict(
        resolved[str(case.get("profile", "default-scheduler"))].points[ExtensionPoint.SCORE]
    )
    assert {name: score[name] for name in weights} == weights
