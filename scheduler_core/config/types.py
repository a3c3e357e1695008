"""KubeSchedulerConfiguration v1 as the scheduler works with it: decoded, defaulted, merged.

The structs that appear verbatim in a file (`Plugins`, `Extender`, the plugin arguments, ...) are
also what the file is decoded into: a field's default is upstream's default for an absent field, or
Go's zero value where upstream has none.

Upstream: v1.36 pkg/scheduler/apis/config/{types,types_pluginargs}.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct, field

from scheduler_core.api.types import NodeAffinity, TopologySpreadConstraint

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"
POD_GROUP_POST_FILTER: Final = "podGroupPostFilter"
"""The field of `pod_group_post_filter`."""
DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"
MAX_CUSTOM_SCORE: Final = 10
"""Largest `score` of a shape point."""

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What a JSON document decodes to."""

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
DurationNs = Annotated[int, Meta(extra={"go": "time.Duration"})]
"""Nanoseconds; written as a Go duration string (`10s`, `1m30s`) in the file."""


class ExtensionPoint(StrEnum):
    """The places of the scheduling framework at which plugins run, in the order of a pod's way."""

    PRE_ENQUEUE = "PreEnqueue"
    QUEUE_SORT = "QueueSort"
    PRE_FILTER = "PreFilter"
    FILTER = "Filter"
    POST_FILTER = "PostFilter"
    PRE_SCORE = "PreScore"
    SCORE = "Score"
    RESERVE = "Reserve"
    PERMIT = "Permit"
    PRE_BIND = "PreBind"
    BIND = "Bind"
    POST_BIND = "PostBind"

    @property
    def config_field(self) -> str:
        """The point's name in a file: `preFilter` for PreFilter."""
        return self.value[0].lower() + self.value[1:]


class ScoringStrategyType(StrEnum):
    LEAST_ALLOCATED = "LeastAllocated"
    MOST_ALLOCATED = "MostAllocated"
    REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"


class DefaultingType(StrEnum):
    """Where PodTopologySpread takes the constraints of a pod that has none."""

    SYSTEM = "System"
    LIST = "List"


class ConfigStruct(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of all configuration structs: immutable, camelCase in the file."""


class Plugin(ConfigStruct, frozen=True, kw_only=True):
    """A plugin named in a plugin set. `weight` 0 means: not given."""

    name: str = ""
    weight: Int32 = 0


class PluginSet(ConfigStruct, frozen=True, kw_only=True):
    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(ConfigStruct, frozen=True, kw_only=True):
    """What is enabled and disabled per extension point.

    `multi_point` stands for every point a plugin implements. The last three sets belong to
    pod groups: they are accepted and merged, and take part in no cycle of a single pod.
    """

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()

    def by_point(self) -> dict[ExtensionPoint, PluginSet]:
        """The twelve extension points' own sets, without `multi_point` and those of groups."""
        return {
            ExtensionPoint.PRE_ENQUEUE: self.pre_enqueue,
            ExtensionPoint.QUEUE_SORT: self.queue_sort,
            ExtensionPoint.PRE_FILTER: self.pre_filter,
            ExtensionPoint.FILTER: self.filter,
            ExtensionPoint.POST_FILTER: self.post_filter,
            ExtensionPoint.PRE_SCORE: self.pre_score,
            ExtensionPoint.SCORE: self.score,
            ExtensionPoint.RESERVE: self.reserve,
            ExtensionPoint.PERMIT: self.permit,
            ExtensionPoint.PRE_BIND: self.pre_bind,
            ExtensionPoint.BIND: self.bind,
            ExtensionPoint.POST_BIND: self.post_bind,
        }

    def sets(self) -> dict[str, PluginSet]:
        """All sets by their name here, `multi_point` and those of groups included."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    def enabled_names(self) -> list[str]:
        """Every plugin that some set enables, sorted: upstream creates these and no others."""
        return sorted({plugin.name for each in self.sets().values() for plugin in each.enabled})


class ResourceSpec(ConfigStruct, frozen=True, kw_only=True):
    """A resource to score, with its weight."""

    name: str = ""
    weight: Int64 = 0


DEFAULT_RESOURCES: Final = (
    ResourceSpec(name="cpu", weight=1),
    ResourceSpec(name="memory", weight=1),
)


class UtilizationShapePoint(ConfigStruct, frozen=True, kw_only=True):
    """A point of a scoring function: utilization 0 to 100 percent, score 0 to 10."""

    utilization: Int32 = 0
    score: Int32 = 0


class RequestedToCapacityRatioParam(ConfigStruct, frozen=True, kw_only=True):
    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(ConfigStruct, frozen=True, kw_only=True):
    """How NodeResourcesFit scores. `type` is one of `ScoringStrategyType` once validated."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class DefaultPreemptionArgs(ConfigStruct, frozen=True, kw_only=True):
    """How many candidates a preemption dry run looks for: the larger of the two."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class DynamicResourcesArgs(ConfigStruct, frozen=True, kw_only=True):
    """Timeouts of DynamicResources in nanoseconds; None where a feature gate is off."""

    filter_timeout_ns: DurationNs | None = field(default=None, name="filterTimeout")
    binding_timeout_ns: DurationNs | None = field(default=None, name="bindingTimeout")


class InterPodAffinityArgs(ConfigStruct, frozen=True, kw_only=True):
    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class NodeAffinityArgs(ConfigStruct, frozen=True, kw_only=True):
    """`added_affinity` has to hold for every pod in addition to the pod's own."""

    added_affinity: NodeAffinity | None = None


class NodeResourcesBalancedAllocationArgs(ConfigStruct, frozen=True, kw_only=True):
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


class NodeResourcesFitArgs(ConfigStruct, frozen=True, kw_only=True):
    """`ignored_*` concern the filter only, `scoring_strategy` the score only."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(
        type=ScoringStrategyType.LEAST_ALLOCATED, resources=DEFAULT_RESOURCES
    )


class PodTopologySpreadArgs(ConfigStruct, frozen=True, kw_only=True):
    """`defaulting_type` is one of `DefaultingType` once validated."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = DefaultingType.SYSTEM


class VolumeBindingArgs(ConfigStruct, frozen=True, kw_only=True):
    """`shape` is None unless the gate StorageCapacityScoring is on."""

    bind_timeout_seconds: Int64 = 600
    shape: tuple[UtilizationShapePoint, ...] | None = None


class UnknownArgs(ConfigStruct, frozen=True, kw_only=True):
    """Arguments of a plugin that is not in the tree, as decoded from the file."""

    value: JsonValue = None


TreeArgs: TypeAlias = (
    DefaultPreemptionArgs
    | DynamicResourcesArgs
    | InterPodAffinityArgs
    | NodeAffinityArgs
    | NodeResourcesBalancedAllocationArgs
    | NodeResourcesFitArgs
    | PodTopologySpreadArgs
    | VolumeBindingArgs
)
"""Arguments of a plugin in the tree."""

Args: TypeAlias = TreeArgs | UnknownArgs

ARGS_TYPES: Final[Mapping[str, type[TreeArgs]]] = {
    "DefaultPreemption": DefaultPreemptionArgs,
    "DynamicResources": DynamicResourcesArgs,
    "InterPodAffinity": InterPodAffinityArgs,
    "NodeAffinity": NodeAffinityArgs,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
    "NodeResourcesFit": NodeResourcesFitArgs,
    "PodTopologySpread": PodTopologySpreadArgs,
    "VolumeBinding": VolumeBindingArgs,
}
"""The plugins whose arguments have a type, by plugin name."""


class PluginConfig(ConfigStruct, frozen=True, kw_only=True):
    """The arguments of one plugin, shared by all extension points it runs at."""

    name: str
    args: Args


class Profile(ConfigStruct, frozen=True, kw_only=True):
    """One scheduler name with its plugins, defaults merged in.

    `percentage_of_nodes_to_score` is None when the file's top level decides, 0 for adaptive.
    """

    scheduler_name: str
    percentage_of_nodes_to_score: int | None
    plugins: Plugins
    plugin_config: tuple[PluginConfig, ...]


class ExtenderManagedResource(ConfigStruct, frozen=True, kw_only=True):
    """An extended resource an extender looks after.

    The scheduler itself does not check it when `ignored_by_scheduler`.
    """

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(ConfigStruct, frozen=True, kw_only=True):
    """TLS settings of one extender; `*_data` hold PEM bytes and go before `*_file`."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


class Extender(ConfigStruct, frozen=True, kw_only=True):
    """An HTTP extender. A verb that is empty is not called. `http_timeout_ns` 0 means 5 s."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout_ns: DurationNs = field(default=0, name="httpTimeout")
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class LeaderElection(ConfigStruct, frozen=True, kw_only=True):
    """Read and validated as upstream does; the simulation has one scheduler and uses none of it."""

    leader_elect: bool = True
    lease_duration_ns: DurationNs = field(default=0, name="leaseDuration")
    renew_deadline_ns: DurationNs = field(default=0, name="renewDeadline")
    retry_period_ns: DurationNs = field(default=0, name="retryPeriod")
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnection(ConfigStruct, frozen=True, kw_only=True):
    """Read and validated as upstream does; the simulation talks to no API server."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: float = 0.0
    burst: Int32 = 0


class KubeSchedulerConfiguration(ConfigStruct, frozen=True, kw_only=True):
    """A complete configuration: every default is filled in and every profile is merged.

    `percentage_of_nodes_to_score` 0 means adaptive. Profiles keep the order of the file.
    """

    parallelism: int
    percentage_of_nodes_to_score: int
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    profiles: tuple[Profile, ...]
    extenders: tuple[Extender, ...]
    leader_election: LeaderElection
    client_connection: ClientConnection
    enable_profiling: bool
    enable_contention_profiling: bool
    delay_cache_until_active: bool
