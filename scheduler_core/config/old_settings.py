"""Fields, versions and feature gates of earlier releases, and what there is in their place.

Files, courses and command lines still have them. Who sets one is told what to set today.
Upstream: v1.17 pkg/scheduler/api, v1.18 to v1.22 pkg/scheduler/apis/config, pkg/features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class OldSetting:
    """What is there in its place, in a sentence; `plugins` are those it is about."""

    now: str
    plugins: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """What to add to a message that refuses it."""
        return self.now.removesuffix(".")


OLD_FIELDS: Final[Mapping[str, OldSetting]] = {
    "schedulerName": OldSetting("Each profile has its own: profiles[].schedulerName."),
    "plugins": OldSetting("Each profile has its own: profiles[].plugins."),
    "pluginConfig": OldSetting("Each profile has its own: profiles[].pluginConfig."),
    "algorithmSource": OldSetting("Policies and providers became profiles."),
    "predicates": OldSetting("They are Filter plugins now, enabled in a profile."),
    "priorities": OldSetting("They are Score plugins now, enabled in a profile."),
    "alwaysCheckAllPredicates": OldSetting(
        "It is gone: the first plugin that rejects a node is the last that is asked about it."
    ),
    "hardPodAffinitySymmetricWeight": OldSetting(
        "It is hardPodAffinityWeight in the arguments of InterPodAffinity now.",
        ("InterPodAffinity",),
    ),
    "disablePreemption": OldSetting(
        "To switch preemption off, disable DefaultPreemption at postFilter of a profile.",
        ("DefaultPreemption",),
    ),
    "bindTimeoutSeconds": OldSetting(
        "It is bindTimeoutSeconds in the arguments of VolumeBinding now.", ("VolumeBinding",)
    ),
    "healthzBindAddress": OldSetting("It is gone: health is served at --secure-port."),
    "metricsBindAddress": OldSetting("It is gone: metrics are served at --secure-port."),
}
"""Fields that a KubeSchedulerConfiguration or a Policy once had at its root."""

_GROUP: Final = "kubescheduler.config.k8s.io"
OLD_VERSIONS: Final[Mapping[str, str]] = {
    "componentconfig/v1alpha1": "until 1.11",
    f"{_GROUP}/v1alpha1": "1.12 to 1.18",
    f"{_GROUP}/v1alpha2": "from 1.18 on",
    f"{_GROUP}/v1beta1": "1.19 to 1.22",
    f"{_GROUP}/v1beta2": "1.22 to 1.27",
    f"{_GROUP}/v1beta3": "1.23 to 1.28",
}
"""Versions of the configuration file before v1, and which releases read them."""

_ALWAYS: Final = "It is always on now"
OLD_GATES: Final[Mapping[str, OldSetting]] = {
    "EvenPodsSpread": OldSetting(f"{_ALWAYS}: PodTopologySpread.", ("PodTopologySpread",)),
    "DefaultPodTopologySpread": OldSetting(
        f"{_ALWAYS}: PodTopologySpread has system defaults.", ("PodTopologySpread",)
    ),
    "MinDomainsInPodTopologySpread": OldSetting(
        f"{_ALWAYS}: minDomains of a spread constraint counts.", ("PodTopologySpread",)
    ),
    "PodPriority": OldSetting(
        f"{_ALWAYS}: pods have priorities, and DefaultPreemption makes room.",
        ("DefaultPreemption",),
    ),
    "NonPreemptingPriority": OldSetting(
        f"{_ALWAYS}: preemptionPolicy of a priority class counts.", ("DefaultPreemption",)
    ),
    "PreferNominatedNode": OldSetting(f"{_ALWAYS}: the nominated node is tried first."),
    "PodOverhead": OldSetting(f"{_ALWAYS}: overhead is requested, too.", ("NodeResourcesFit",)),
    "PodAffinityNamespaceSelector": OldSetting(
        f"{_ALWAYS}: namespaceSelector of a pod affinity term counts.", ("InterPodAffinity",)
    ),
    "TaintNodesByCondition": OldSetting(
        f"{_ALWAYS}: conditions of a node act through its taints.", ("TaintToleration",)
    ),
    "ScheduleDaemonSetPods": OldSetting(
        f"{_ALWAYS}: pods of a DaemonSet are scheduled like others, by node affinity.",
        ("NodeAffinity",),
    ),
    "VolumeScheduling": OldSetting(f"{_ALWAYS}: VolumeBinding.", ("VolumeBinding",)),
    "CSIStorageCapacity": OldSetting(
        f"{_ALWAYS}: VolumeBinding asks whether a storage has room.", ("VolumeBinding",)
    ),
    "AttachVolumeLimit": OldSetting(f"{_ALWAYS}: NodeVolumeLimits.", ("NodeVolumeLimits",)),
    "ReadWriteOncePod": OldSetting(f"{_ALWAYS}: VolumeRestrictions.", ("VolumeRestrictions",)),
    "BalanceAttachedNodeVolumes": OldSetting("It is gone: volumes on a node are not balanced."),
    "ResourceLimitsPriorityFunction": OldSetting("It is gone: limits of a pod are not scored."),
    "EnableEquivalenceClassCache": OldSetting("It is gone, with the equivalence cache."),
}
"""Gates of the scheduler that no release has any longer."""


def version_hint(version: str) -> str:
    """What to add where a version is refused; empty for one that never was."""
    if version not in OLD_VERSIONS:
        return ""
    return f". Releases {OLD_VERSIONS[version]} read that; with v1 each field that is gone is named"
