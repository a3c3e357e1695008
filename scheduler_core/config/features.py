"""Feature gates the scheduler reads, with their v1.36 defaults.

Gates are not part of a configuration file: kube-scheduler takes them from its command line, kviz
from whoever starts a run.

Upstream: v1.36 pkg/features/kube_features.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from scheduler_core.config.problems import ConfigError, Problem


class GateSpec(Struct, frozen=True):
    """A gate's default; `locked` gates cannot be switched; `requires` must be on as well."""

    default: bool
    locked: bool = False
    requires: tuple[str, ...] = ()


_DRA: Final = ("DynamicResourceAllocation",)
_ON: Final = GateSpec(default=True)
_OFF: Final = GateSpec(default=False)
_ALWAYS: Final = GateSpec(default=True, locked=True)

GATES: Final[Mapping[str, GateSpec]] = {
    "DRAAdminAccess": GateSpec(default=True, locked=True, requires=_DRA),
    "DRAConsumableCapacity": GateSpec(default=True, requires=_DRA),
    "DRADeviceBindingConditions": GateSpec(
        default=True, requires=(*_DRA, "DRAResourceClaimDeviceStatus")
    ),
    "DRADeviceTaintRules": GateSpec(default=False, requires=("DRADeviceTaints",)),
    "DRADeviceTaints": GateSpec(default=True, requires=_DRA),
    "DRAExtendedResource": GateSpec(default=True, requires=_DRA),
    "DRAListTypeAttributes": GateSpec(default=False, requires=_DRA),
    "DRANodeAllocatableResources": GateSpec(default=False, requires=_DRA),
    "DRAPartitionableDevices": GateSpec(default=True, requires=_DRA),
    "DRAPrioritizedList": GateSpec(default=True, requires=_DRA),
    "DRAResourceClaimDeviceStatus": _ON,
    "DRASchedulerFilterTimeout": GateSpec(default=True, requires=_DRA),
    "DRAWorkloadResourceClaims": GateSpec(default=False, requires=(*_DRA, "GenericWorkload")),
    "DynamicResourceAllocation": _ALWAYS,
    "GangScheduling": GateSpec(default=False, requires=("GenericWorkload",)),
    "GenericWorkload": _OFF,
    "InPlacePodLevelResourcesVerticalScaling": GateSpec(
        default=True,
        requires=("InPlacePodVerticalScaling", "PodLevelResources", "NodeDeclaredFeatures"),
    ),
    "InPlacePodVerticalScaling": _ALWAYS,
    "InPlacePodVerticalScalingExclusiveCPUs": GateSpec(
        default=False, requires=("InPlacePodVerticalScaling",)
    ),
    "MatchLabelKeysInPodTopologySpread": _ON,
    "NodeDeclaredFeatures": _ON,
    "NodeInclusionPolicyInPodTopologySpread": _ALWAYS,
    "NominatedNodeNameForExpectation": _ON,
    "OpportunisticBatching": _ON,
    "PodLevelResources": _ON,
    "SchedulerAsyncAPICalls": _OFF,
    "SchedulerAsyncPreemption": _ON,
    "SchedulerPopFromBackoffQ": _ON,
    "SchedulerQueueingHints": _ALWAYS,
    "SidecarContainers": _ALWAYS,
    "StorageCapacityScoring": _OFF,
    "TaintTolerationComparisonOperators": _OFF,
    "TopologyAwareWorkloadScheduling": GateSpec(default=False, requires=("GenericWorkload",)),
    "VolumeAttributesClass": _ALWAYS,
    "VolumeLimitScaling": _OFF,
    "WorkloadAwarePreemption": GateSpec(default=False, requires=("GangScheduling",)),
}
"""Every gate the scheduler reads, by name."""


class FeatureGates(Struct, frozen=True):
    """Which gates are on. Make one with `feature_gates`; `FeatureGates()` has the defaults."""

    overrides: tuple[tuple[str, bool], ...] = ()

    def enabled(self, name: str) -> bool:
        """Whether the gate is on. Raises KeyError for a gate the scheduler does not read."""
        for gate, on in self.overrides:
            if gate == name:
                return on
        return GATES[name].default


def feature_gates(overrides: Mapping[str, bool]) -> FeatureGates:
    """The defaults with some gates switched.

    Raises ConfigError for an unknown gate, a locked one, and one that needs a gate which is off.
    """
    gates = FeatureGates(tuple(sorted(overrides.items())))
    problems = [
        Problem(("featureGates", name), message)
        for name in sorted({*GATES, *overrides})
        if (message := _objection(name, gates))
    ]
    if problems:
        raise ConfigError(problems)
    return gates


def _objection(name: str, gates: FeatureGates) -> str:
    spec = GATES.get(name)
    if spec is None:
        return f"unrecognized feature gate: {name}"
    enabled = gates.enabled(name)
    if spec.locked and enabled != spec.default:
        asked, locked = str(enabled).lower(), str(spec.default).lower()
        return f"cannot set feature gate {name} to {asked}, feature is locked to {locked}"
    missing = [needed for needed in spec.requires if not gates.enabled(needed)]
    if enabled and missing:
        return f"{name} is enabled, but depends on features that are disabled: {', '.join(missing)}"
    return ""
