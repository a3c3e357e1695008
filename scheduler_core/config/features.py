"""Feature gates: which are on in a run, and which of them kviz lets one switch.

Gates are not part of a configuration file: kube-scheduler takes them from its command line, kviz
from the user who starts a run. What a release says about a gate is in `scheduler_core.releases`.

Upstream: v1.36 staging/src/k8s.io/component-base/featuregate/feature_gate.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from scheduler_core.config.old_settings import OLD_GATES
from scheduler_core.config.problems import ConfigError, Problem
from scheduler_core.releases import RELEASES, UNNAMED
from scheduler_core.releases.choosing import in_words
from scheduler_core.releases.switches import Switches
from scheduler_core.releases.table import GateSpec, OtherGate, Release
from scheduler_core.wording import say

_OF_KUBELET: Final = say(
    "gate.kubelet", "Concerns the kubelet; the scheduler decides the same either way."
)
_OF_API_SERVER: Final = say(
    "gate.api_server", "Concerns the API server; the scheduler decides the same either way."
)
SWITCHABLE: Final[Mapping[str, str]] = {
    "DRAConsumableCapacity": say(
        "gate.shared_devices", "Devices may be shared: a claim consumes part of their capacity."
    ),
    "DRADeviceBindingConditions": say(
        "gate.prebind_waits", "PreBind waits for devices that have to be made ready first."
    ),
    "DRADeviceTaintRules": say(
        "gate.taint_rules",
        "DeviceTaintRules add taints to devices, beside those that drivers write.",
    ),
    "DRADeviceTaints": say(
        "gate.device_taints", "Taints of devices repel claims that do not tolerate them."
    ),
    "DRAExtendedResource": say(
        "gate.extended_resources",
        "A device class may back an extended resource: pods that request it "
        "get devices without writing a claim.",
    ),
    "DRAFractionalCapacityRange": say(
        "gate.fractional_steps",
        "Least, greatest and step of a capacity that devices share may be fractions.",
    ),
    "DRAPartitionableDevices": say(
        "gate.partitions", "Devices may be partitions that draw on shared counters."
    ),
    "DRAPrioritizedList": say(
        "gate.alternatives",
        "A request may list alternatives, the preferred first (firstAvailable).",
    ),
    "DRAResourceClaimDeviceStatus": say(
        "gate.device_status", "Claims carry what drivers report about their devices."
    ),
    "DRAResourceClaimGranularStatusAuthorization": _OF_API_SERVER,
    "DRASchedulerFilterTimeout": say(
        "gate.filter_timeout",
        "The configuration may limit how long DynamicResources filters a "
        "node (filterTimeout). In virtual time filtering takes none.",
    ),
    "ExtendWebSocketsToKubelet": _OF_KUBELET,
    "InPlacePodLevelResourcesVerticalScaling": say(
        "gate.pod_level_resize", "Resizes of pod-level resources count while they are under way."
    ),
    "InPlacePodVerticalScalingExclusiveCPUs": _OF_KUBELET,
    "InPlacePodVerticalScalingInitContainers": _OF_KUBELET,
    "MatchLabelKeysInPodTopologySpread": say(
        "gate.match_label_keys", "PodTopologySpread applies matchLabelKeys."
    ),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": _OF_API_SERVER,
    "NodeDeclaredFeatures": say(
        "gate.declared_features", "Pods go only to nodes that declare the features they need."
    ),
    "NominatedNodeNameForExpectation": say(
        "gate.nominated_before_bind",
        "A pod's nominatedNodeName is set before it is bound, when "
        "Permit or PreBind have something to wait for.",
    ),
    "OpportunisticBatching": say(
        "gate.reuse_scores", "Equal pods that follow each other may reuse the scores of the first."
    ),
    "PodLevelResources": say(
        "gate.pod_level_resources", "Requests of the pod as a whole (spec.resources) count."
    ),
    "PodLevelResourcesFixDefaulting": _OF_API_SERVER,
    "PodLevelResourcesFixKubeletQOSClass": _OF_KUBELET,
    "RestartAllContainersOnContainerExits": _OF_KUBELET,
    "SchedulerAsyncPreemption": say(
        "gate.async_preemption",
        "Victims are evicted in the background, while the preemptor waits "
        "and other pods are scheduled.",
    ),
    "SchedulerPopFromBackoffQ": say(
        "gate.pop_from_backoff",
        "When the active queue is empty, pods are tried before their backoff is over.",
    ),
    "StorageCapacityScoring": say(
        "gate.storage_capacity_score",
        "VolumeBinding scores nodes by the free capacity of their storage.",
    ),
    "TaintTolerationComparisonOperators": say(
        "gate.numeric_tolerations", "Tolerations may compare numbers (operators Lt and Gt)."
    ),
    "VolumeLimitScaling": say(
        "gate.missing_driver",
        "NodeVolumeLimits rejects nodes that lack the CSI driver of a volume, if "
        "the driver asks for that (preventPodSchedulingIfMissing).",
    ),
}
"""Gates that a run may switch, with what they switch on, in a sentence."""

_PLAIN_PODS: Final = say(
    "gate.no_pod_groups", "kviz schedules pods one by one and does not model pod groups"
)
NOT_MODELLED: Final[Mapping[str, str]] = {
    "CompositePodGroup": _PLAIN_PODS,
    "DRADerivedAttributes": say(
        "gate.no_derived_attributes", "kviz does not derive attributes of devices"
    ),
    "DRADeviceCompatibilityGroups": say(
        "gate.no_compatibility_groups", "kviz does not compare the compatibility groups of devices"
    ),
    "DRAListTypeAttributes": say(
        "gate.no_list_attributes", "kviz does not compare attributes of devices that are lists"
    ),
    "DRANodeAllocatableResources": say(
        "gate.no_allocatable_devices", "kviz does not count devices against a node's allocatable"
    ),
    "DRAOptionalNodeOperations": say(
        "gate.no_optional_operations", "kviz does not read which devices need no preparation"
    ),
    "DRAWorkloadResourceClaims": say(
        "gate.no_group_claims", "kviz does not model claims of pod groups"
    ),
    "GangScheduling": _PLAIN_PODS,
    "GenericWorkload": _PLAIN_PODS,
    "InPlacePodVerticalScalingSchedulerPreemption": say(
        "gate.no_resize_preemption", "kviz does not make room for pods that are to grow in place"
    ),
    "InterPodAffinityHostnameFastPath": say(
        "gate.no_fast_path", "kviz has one way to count pods by host"
    ),
    "PodGroupPreemptionPolicy": _PLAIN_PODS,
    "SchedulerAsyncAPICalls": say(
        "gate.calls_at_once", "in kviz a call to the API server is over at once"
    ),
    "SchedulerPreQueueingHints": say(
        "gate.no_pre_queueing_hints", "kviz asks the hints of every parked pod"
    ),
    "TopologyAwareWorkloadScheduling": _PLAIN_PODS,
    "WorkloadAwarePreemption": _PLAIN_PODS,
}
"""Gates that are not modelled when they are on, with why they cannot be switched on.

One that a release has on by default may be switched off there."""


class FeatureGates(Struct, frozen=True):
    """Which gates of a release are on. `feature_gates` makes one.

    `FeatureGates()` has the defaults of the release that is followed where none is named.
    """

    overrides: tuple[tuple[str, bool], ...] = ()
    release: Release = UNNAMED
    release_told: str = ""
    """What the release was chosen by (`scheduler_core.releases.choosing`)."""

    def enabled(self, name: str) -> bool:
        """Whether the gate is on; one that the release does not have yet is off.

        Raises KeyError for a gate that no scheduler reads.
        """
        for gate, on in self.overrides:
            if gate == name:
                return on
        if name not in self.release.gates and name in SWITCHABLE:
            return False
        return self.release.gates[name].default

    @property
    def switches(self) -> Switches:
        """What the release does otherwise."""
        return self.release.switches

    @property
    def changed(self) -> dict[str, bool]:
        """The gates that are not at their release's default, sorted by name."""
        gates = self.release.gates
        return {
            name: on for name, on in self.overrides if name in gates and on != gates[name].default
        }

    @property
    def unread(self) -> list[str]:
        """The gates that were set, are other components', and change nothing."""
        return [name for name, _ in self.overrides if name in self.release.elsewhere]

    @property
    def text(self) -> str:
        """The release, and the gates that are not at its default."""
        changed = ", ".join(f"{name}={str(on).lower()}" for name, on in self.changed.items())
        release = f"Kubernetes v{self.release_text}"
        return f"{release}, feature gates {changed}" if changed else release

    @property
    def release_text(self) -> str:
        """The release's name, and what it was chosen by: `1.37.2 (nodes say v1.37.1)`."""
        return in_words(self.release.name, self.release_told)

    def as_json(self) -> dict[str, object]:
        """What is said of the gates in each JSON answer."""
        return {
            "release": self.release.name,
            "releaseText": self.release_text,
            "featureGates": self.changed,
        }


def switchable(release: Release) -> dict[str, GateSpec]:
    """The gates of a release that a run may switch, by name."""
    return {
        name: spec
        for name, spec in release.gates.items()
        if name in SWITCHABLE and not spec.locked and (spec.default or name not in NOT_MODELLED)
    }


def feature_gates(overrides: Mapping[str, bool], release: Release = UNNAMED) -> FeatureGates:
    """The defaults of a release with some gates switched.

    Gates of other components are taken as kube-scheduler takes them, and change nothing (`unread`).
    Raises ConfigError for a gate that is unknown, locked or not modelled, and else for one that is
    on while a gate it depends on is off. Its problems' paths are `featureGates.NAME`.
    """
    gates = FeatureGates(tuple(sorted(overrides.items())), release)
    objections = {name: _objection(name, on, release) for name, on in overrides.items()}
    if not any(objections.values()):
        objections = _lacking(overrides, release)
    problems = [
        Problem(("featureGates", name), message)
        for name, message in sorted(objections.items())
        if message
    ]
    if problems:
        raise ConfigError(problems)
    return gates


def _objection(name: str, on: bool, release: Release) -> str:
    """Why a gate cannot be set so, whatever the others are; "" if it can."""
    spec = release.gates.get(name) or release.elsewhere.get(name)
    if spec is None:
        return _unknown(name, release)
    if on != spec.default:
        if spec.locked:
            return _locked(name, on)
        if on and name in NOT_MODELLED:
            asked = str(on).lower()
            return say(
                "gate.cannot_set",
                "cannot set feature gate {name} to {asked}: {why}",
                name=name,
                asked=asked,
                why=NOT_MODELLED[name],
            )
    return ""


def _lacking(overrides: Mapping[str, bool], release: Release) -> dict[str, str]:
    """What is said of each gate that is on while gates it depends on are off, as upstream."""
    specs: dict[str, GateSpec | OtherGate] = {**release.elsewhere, **release.gates}
    on = {name: overrides.get(name, spec.default) for name, spec in specs.items()}
    found = {}
    for name, spec in specs.items():
        missing = sorted(needed for needed in spec.requires if not on[needed])
        if on[name] and missing:
            listed = " ".join(missing)
            found[name] = (
                f"{name} is enabled, but depends on features that are disabled: [{listed}]"
            )
    return found


def _locked(name: str, asked: bool) -> str:
    to, locked = str(asked).lower(), str(not asked).lower()
    return f"cannot set feature gate {name} to {to}, feature is locked to {locked}"


def _elsewhen(name: str, release: Release) -> str:
    """Return in which of the releases known there is a gate that this one lacks, if any."""
    has = [each for each in RELEASES.values() if name in each.gates or name in each.elsewhere]
    order = list(RELEASES.values())
    if not has:
        return ""
    if order.index(has[0]) > order.index(release):
        return say("gate.new_later", "It is new in v{first}", first=has[0].minor)
    return say("gate.gone_since", "It is gone: v{last} was the last to have it", last=has[-1].minor)


def _unknown(name: str, release: Release) -> str:
    refused = say(
        "gate.not_of_release",
        "{refused} (the scheduler of v{release} has none)",
        refused=f"unrecognized feature gate: {name}",
        release=release.name,
    )
    if when := _elsewhen(name, release):
        return say("config.refused_hint", "{refused}. {hint}", refused=refused, hint=when)
    if name in OLD_GATES:
        return say(
            "config.refused_hint", "{refused}. {hint}", refused=refused, hint=OLD_GATES[name].now
        )
    if near := get_close_matches(name, [*release.gates, *release.elsewhere], n=1):
        return say(
            "config.refused_near", "{refused}; did you mean {near}?", refused=refused, near=near[0]
        )
    return refused
