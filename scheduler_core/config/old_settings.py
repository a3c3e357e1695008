"""Fields, versions and feature gates of earlier releases, and what there is in their place.

Files, courses and command lines still have them. If one is set, the error says what to set today.
Upstream: v1.17 pkg/scheduler/api, v1.18 to v1.22 pkg/scheduler/apis/config, pkg/features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.wording import say


@dataclass(frozen=True)
class OldSetting:
    """What is there in its place, in a sentence without its full stop.

    `since` is the first release in which that is so, "unknown" if it was not found; `plugins` are
    those it is about.
    """

    now: str
    since: str
    plugins: tuple[str, ...] = ()


OLD_FIELDS: Final[Mapping[str, OldSetting]] = {
    "schedulerName": OldSetting(
        say("old.profile_scheduler_name", "Each profile has its own: profiles[].schedulerName"),
        "1.18",
    ),
    "plugins": OldSetting(
        say("old.profile_plugins", "Each profile has its own: profiles[].plugins"), "1.18"
    ),
    "pluginConfig": OldSetting(
        say("old.profile_plugin_config", "Each profile has its own: profiles[].pluginConfig"),
        "1.18",
    ),
    "algorithmSource": OldSetting(
        say("old.policies", "Policies and providers became profiles"), "1.22"
    ),
    "predicates": OldSetting(
        say("old.filter_plugins", "They are Filter plugins now, enabled in a profile"), "1.18"
    ),
    "priorities": OldSetting(
        say("old.score_plugins", "They are Score plugins now, enabled in a profile"), "1.18"
    ),
    "alwaysCheckAllPredicates": OldSetting(
        say(
            "old.always_first_rejection",
            "It is gone: the first plugin that rejects a node is the last that is asked about it",
        ),
        "1.23",
    ),
    "hardPodAffinitySymmetricWeight": OldSetting(
        say(
            "old.hard_pod_affinity_weight",
            "It is hardPodAffinityWeight in the arguments of InterPodAffinity now",
        ),
        "1.18",
        ("InterPodAffinity",),
    ),
    "disablePreemption": OldSetting(
        say(
            "old.disable_preemption",
            "To switch preemption off, disable DefaultPreemption at postFilter of a profile",
        ),
        "1.19",
        ("DefaultPreemption",),
    ),
    "bindTimeoutSeconds": OldSetting(
        say("old.bind_timeout", "It is bindTimeoutSeconds in the arguments of VolumeBinding now"),
        "1.19",
        ("VolumeBinding",),
    ),
    "healthzBindAddress": OldSetting(
        say("old.health_port", "It is gone: health is served at --secure-port"), "1.23"
    ),
    "metricsBindAddress": OldSetting(
        say("old.metrics_port", "It is gone: metrics are served at --secure-port"), "1.23"
    ),
}
"""Fields that a KubeSchedulerConfiguration or a Policy once had at its root."""


def _always(plugin: str) -> str:
    return say("old.always_plugin", "It is always on now: {plugin}", plugin=plugin)


_GROUP: Final = "kubescheduler.config.k8s.io"
OLD_VERSIONS: Final[Mapping[str, str]] = {
    "componentconfig/v1alpha1": say("old.until_release", "until {last}", last="1.11"),
    f"{_GROUP}/v1alpha1": say("old.releases", "{first} to {last}", first="1.12", last="1.18"),
    f"{_GROUP}/v1alpha2": say("old.from_release", "from {first} on", first="1.18"),
    f"{_GROUP}/v1beta1": say("old.releases", "{first} to {last}", first="1.19", last="1.22"),
    f"{_GROUP}/v1beta2": say("old.releases", "{first} to {last}", first="1.22", last="1.27"),
    f"{_GROUP}/v1beta3": say("old.releases", "{first} to {last}", first="1.23", last="1.28"),
}
"""Versions of the configuration file before v1, and which releases read them."""

OLD_GATES: Final[Mapping[str, OldSetting]] = {
    "EvenPodsSpread": OldSetting(_always("PodTopologySpread"), "1.19", ("PodTopologySpread",)),
    "DefaultPodTopologySpread": OldSetting(
        say(
            "old.always_default_spread",
            "It is always on now: PodTopologySpread has system defaults",
        ),
        "1.24",
        ("PodTopologySpread",),
    ),
    "MinDomainsInPodTopologySpread": OldSetting(
        say(
            "old.always_min_domains",
            "It is always on now: minDomains of a spread constraint counts",
        ),
        "1.30",
        ("PodTopologySpread",),
    ),
    "PodPriority": OldSetting(
        say(
            "old.always_priorities",
            "It is always on now: pods have priorities, and DefaultPreemption makes room",
        ),
        "1.16",
        ("DefaultPreemption",),
    ),
    "NonPreemptingPriority": OldSetting(
        say(
            "old.always_preemption_policy",
            "It is always on now: preemptionPolicy of a priority class counts",
        ),
        "1.24",
        ("DefaultPreemption",),
    ),
    "PreferNominatedNode": OldSetting(
        say("old.always_nominated_first", "It is always on now: the nominated node is tried first"),
        "1.24",
    ),
    "PodOverhead": OldSetting(
        say("old.always_overhead", "It is always on now: overhead is requested, too"),
        "1.24",
        ("NodeResourcesFit",),
    ),
    "PodAffinityNamespaceSelector": OldSetting(
        say(
            "old.always_namespace_selector",
            "It is always on now: namespaceSelector of a pod affinity term counts",
        ),
        "1.24",
        ("InterPodAffinity",),
    ),
    "TaintNodesByCondition": OldSetting(
        say(
            "old.always_condition_taints",
            "It is always on now: conditions of a node act through its taints",
        ),
        "1.17",
        ("TaintToleration",),
    ),
    "ScheduleDaemonSetPods": OldSetting(
        say(
            "old.always_daemonset_pods",
            "It is always on now: pods of a DaemonSet are scheduled like others, by node affinity",
        ),
        "1.17",
        ("NodeAffinity",),
    ),
    "VolumeScheduling": OldSetting(_always("VolumeBinding"), "1.14", ("VolumeBinding",)),
    "CSIStorageCapacity": OldSetting(
        say(
            "old.always_storage_room",
            "It is always on now: VolumeBinding asks whether a storage has room",
        ),
        "1.24",
        ("VolumeBinding",),
    ),
    "AttachVolumeLimit": OldSetting(_always("NodeVolumeLimits"), "1.17", ("NodeVolumeLimits",)),
    "ReadWriteOncePod": OldSetting(_always("VolumeRestrictions"), "1.29", ("VolumeRestrictions",)),
    "BalanceAttachedNodeVolumes": OldSetting(
        say("old.volumes_not_balanced", "It is gone: volumes on a node are not balanced"), "1.22"
    ),
    "ResourceLimitsPriorityFunction": OldSetting(
        say("old.gate_limits_not_scored", "It is gone: limits of a pod are not scored"), "1.19"
    ),
    "EnableEquivalenceClassCache": OldSetting(
        say("old.equivalence_cache", "It is gone, with the equivalence cache"), "1.14"
    ),
}
"""Gates of the scheduler that no release has any longer."""


def with_version_hint(refused: str, version: str) -> str:
    """Return what refuses a version with who reads it; as it is for one that never was."""
    if version not in OLD_VERSIONS:
        return refused
    return say(
        "config.read_by_releases",
        "{refused}. Releases {releases} read that; with v1 each field that is gone is named",
        refused=refused,
        releases=OLD_VERSIONS[version],
    )
