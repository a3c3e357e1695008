"""Kubernetes v1.37.2.

Upstream: v1.37 pkg/scheduler/features and pkg/features: stages, defaults and dependencies of the
gates that the scheduler reads, as kube-scheduler alone has them (gates whose default depends on
the minimum compatibility version have the one without it).
"""

from __future__ import annotations

from typing import Final

from scheduler_core.releases.bugs import IN_ALL
from scheduler_core.releases.switches import Switches
from scheduler_core.releases.table import GateSpec, Release
from scheduler_core.releases.v1_36_2 import V1_36_2
from scheduler_core.releases.v1_37_elsewhere import ELSEWHERE

_DRA: Final = ("DynamicResourceAllocation",)
_LOCKED: Final = GateSpec("GA", default=True, locked=True)
_BETA_ON: Final = GateSpec("beta", default=True)
_ALPHA: Final = GateSpec("alpha", default=False)
_DRA_ALPHA: Final = GateSpec("alpha", default=False, requires=_DRA)
_LOCKED_DRA: Final = GateSpec("GA", default=True, locked=True, requires=_DRA)
_OF_GROUPS: Final = GateSpec("alpha", default=False, requires=("GenericWorkload",))

_GONE: Final = (
    "GangScheduling",
    "SchedulerQueueingHints",
    "SidecarContainers",
    "WorkloadAwarePreemption",
)

_CHANGED: Final = {
    "CompositePodGroup": _OF_GROUPS,
    "DRADerivedAttributes": _DRA_ALPHA,
    "DRADeviceCompatibilityGroups": GateSpec(
        "alpha", default=False, requires=(*_DRA, "DRAPartitionableDevices")
    ),
    "DRADeviceTaintRules": GateSpec("GA", default=True, requires=("DRADeviceTaints",)),
    "DRADeviceTaints": GateSpec("GA", default=True, requires=_DRA),
    "DRAExtendedResource": _LOCKED_DRA,
    "DRAFractionalCapacityRange": GateSpec(
        "beta", default=False, requires=("DRAConsumableCapacity",)
    ),
    "DRAOptionalNodeOperations": _DRA_ALPHA,
    "DRAPrioritizedList": _LOCKED_DRA,
    "DRAResourceClaimDeviceStatus": _LOCKED,
    "DRAWorkloadResourceClaims": GateSpec(
        "beta", default=False, requires=(*_DRA, "GenericWorkload")
    ),
    "GenericWorkload": GateSpec("beta", default=False),
    "InPlacePodVerticalScalingInitContainers": _LOCKED,
    "InPlacePodVerticalScalingSchedulerPreemption": GateSpec(
        "alpha", default=False, requires=("InPlacePodVerticalScaling",)
    ),
    "InterPodAffinityHostnameFastPath": _ALPHA,
    "NodeDeclaredFeatures": _LOCKED,
    "PodGroupPreemptionPolicy": _OF_GROUPS,
    "PodLevelResourcesFixDefaulting": GateSpec(
        "beta", default=True, requires=("PodLevelResources",)
    ),
    "PodLevelResourcesFixKubeletQOSClass": GateSpec(
        "beta", default=True, requires=("PodLevelResources",)
    ),
    "SchedulerPreQueueingHints": _ALPHA,
    "StorageCapacityScoring": _BETA_ON,
    "VolumeLimitScaling": _BETA_ON,
}
"""The gates that are new or are no longer as v1.36 has them."""

V1_37_2: Final = Release(
    name="1.37.2",
    gates={
        name: spec
        for name, spec in sorted({**V1_36_2.gates, **_CHANGED}.items())
        if name not in _GONE
    },
    elsewhere=ELSEWHERE,
    tie_break="heap",
    bugs=IN_ALL | {"panic_balanced", "panic_capacity"},
    switches=Switches(
        refused_devices_give_back=True,
        placement_in_message=True,
        quiet_claim_post_filter=True,
        target_pod_events=True,
        narrow_taint_events=True,
        scale_up_events=True,
        any_anti_affinity_term=True,
        claim_deletion_events=True,
        gated_pods_nominated=True,
        unlabelled_namespaces_apart=True,
        image_volumes_raise_limit=True,
        requests_by_pod=True,
        budgets_spared=True,
        batches_rescore=True,
        config_for_all_requests=True,
        distinct_among_all=True,
        cel_errors_name_device=True,
        shares_charged_once=True,
        counters_of_own_nodes=True,
        counters_by_driver=True,
        all_despite_use=True,
        claim_limit_by_request=True,
        capacities_in_range=True,
        rules_need_selector=True,
        gated_pods_flushed=True,
        preemptors_activated=True,
        compatibility_groups_withheld=True,
        node_name_first=True,
        group_post_filter_sets=True,
        mount_options_required=True,
        list_attributes_read=True,
        derived_attributes_refused=True,
        stray_users_counted=True,
    ),
)
