"""Kubernetes v1.36.2.

Upstream: v1.36 pkg/features/kube_features.go: stages, defaults and dependencies of the gates that
the scheduler reads, and of those that are on and depend on one which a run may switch off.
"""

from __future__ import annotations

from typing import Final

from scheduler_core.releases.bugs import IN_ALL
from scheduler_core.releases.switches import Switches
from scheduler_core.releases.table import GateSpec, Release
from scheduler_core.releases.v1_36_elsewhere import ELSEWHERE

_DRA: Final = ("DynamicResourceAllocation",)
_LOCKED: Final = GateSpec("GA", default=True, locked=True)
_BETA_ON: Final = GateSpec("beta", default=True)
_DRA_BETA: Final = GateSpec("beta", default=True, requires=_DRA)
_DECLARED_BETA: Final = GateSpec("beta", default=True, requires=("NodeDeclaredFeatures",))
_ALPHA: Final = GateSpec("alpha", default=False)
_DRA_ALPHA: Final = GateSpec("alpha", default=False, requires=_DRA)

V1_36_2: Final = Release(
    name="1.36.2",
    gates={
        "DRAAdminAccess": GateSpec("GA", default=True, locked=True, requires=_DRA),
        "DRAConsumableCapacity": _DRA_BETA,
        "DRADeviceBindingConditions": GateSpec(
            "beta", default=True, requires=(*_DRA, "DRAResourceClaimDeviceStatus")
        ),
        "DRADeviceTaintRules": GateSpec("beta", default=False, requires=("DRADeviceTaints",)),
        "DRADeviceTaints": _DRA_BETA,
        "DRAExtendedResource": _DRA_BETA,
        "DRAListTypeAttributes": _DRA_ALPHA,
        "DRANodeAllocatableResources": _DRA_ALPHA,
        "DRAPartitionableDevices": _DRA_BETA,
        "DRAPrioritizedList": GateSpec("GA", default=True, requires=_DRA),
        "DRAResourceClaimDeviceStatus": _BETA_ON,
        "DRAResourceClaimGranularStatusAuthorization": GateSpec(
            "beta", default=True, requires=(*_DRA, "DRAResourceClaimDeviceStatus")
        ),
        "DRASchedulerFilterTimeout": _DRA_BETA,
        "DRAWorkloadResourceClaims": GateSpec(
            "alpha", default=False, requires=(*_DRA, "GenericWorkload")
        ),
        "DynamicResourceAllocation": _LOCKED,
        "ExtendWebSocketsToKubelet": _DECLARED_BETA,
        "GangScheduling": GateSpec("alpha", default=False, requires=("GenericWorkload",)),
        "GenericWorkload": _ALPHA,
        "InPlacePodLevelResourcesVerticalScaling": GateSpec(
            "beta",
            default=True,
            requires=("InPlacePodVerticalScaling", "PodLevelResources", "NodeDeclaredFeatures"),
        ),
        "InPlacePodVerticalScaling": _LOCKED,
        "InPlacePodVerticalScalingExclusiveCPUs": GateSpec(
            "alpha", default=False, requires=("InPlacePodVerticalScaling",)
        ),
        "InPlacePodVerticalScalingInitContainers": GateSpec(
            "beta", default=True, requires=("InPlacePodVerticalScaling", "NodeDeclaredFeatures")
        ),
        "MatchLabelKeysInPodTopologySpread": _BETA_ON,
        "MatchLabelKeysInPodTopologySpreadSelectorMerge": GateSpec(
            "beta", default=True, requires=("MatchLabelKeysInPodTopologySpread",)
        ),
        "NodeDeclaredFeatures": _BETA_ON,
        "NodeInclusionPolicyInPodTopologySpread": _LOCKED,
        "NominatedNodeNameForExpectation": _BETA_ON,
        "OpportunisticBatching": _BETA_ON,
        "PodLevelResources": _BETA_ON,
        "RestartAllContainersOnContainerExits": GateSpec(
            "beta", default=True, requires=("ContainerRestartRules", "NodeDeclaredFeatures")
        ),
        "SchedulerAsyncAPICalls": GateSpec("beta", default=False),
        "SchedulerAsyncPreemption": _BETA_ON,
        "SchedulerPopFromBackoffQ": _BETA_ON,
        "SchedulerQueueingHints": _LOCKED,
        "SidecarContainers": _LOCKED,
        "StorageCapacityScoring": _ALPHA,
        "TaintTolerationComparisonOperators": _ALPHA,
        "TopologyAwareWorkloadScheduling": GateSpec(
            "alpha", default=False, requires=("GenericWorkload",)
        ),
        "VolumeAttributesClass": _LOCKED,
        "VolumeLimitScaling": _ALPHA,
        "WorkloadAwarePreemption": GateSpec("alpha", default=False, requires=("GangScheduling",)),
    },
    elsewhere=ELSEWHERE,
    tie_break="heap",
    switches=Switches(),
    bugs=IN_ALL
    | {
        "refused_devices",
        "shares_charged_again",
        "neighbours_distinct",
        "namespaces_without_labels",
        "budgets_used_up",
        "panic_balanced",
        "panic_capacity",
    },
)
