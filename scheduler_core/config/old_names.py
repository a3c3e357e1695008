"""What predicates, priorities and plugins of earlier releases are called today.

Books and configurations still have the names. If a configuration enables one, the error names its
replacement. Upstream: v1.17 algorithm/predicates and algorithm/priorities, v1.18 to v1.22 plugins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from scheduler_core.wording import AND, say, series

Former = Literal["predicate", "priority", "plugin"]


@dataclass(frozen=True)
class OldName:
    """A name that no plugin has any longer.

    `now` are the plugins that do its work, none if nothing does; `note` says what else is
    important, in a sentence. `since` is the first release in which that is so: most predicates and
    priorities became plugins in 1.18.
    """

    was: Former
    now: tuple[str, ...]
    note: str = ""
    since: str = "1.18"

    @property
    def sentence(self) -> str:
        """What became of it: `NodeResourcesFit does this now`."""
        match self.now:
            case ():
                return self.note or say(
                    "old.nothing_instead", "it is gone, and nothing does its work"
                )
            case (only,):
                said = say("old.plugin_does_it", "{plugin} does this now", plugin=only)
            case _:
                plugins = series((series(self.now[:-1]), self.now[-1]), AND)
                said = say("old.plugins_do_it", "{plugins} do this now", plugins=plugins)
        return (
            say("old.with_note", "{said}. {note}", said=said, note=self.note) if self.note else said
        )


_FIT: Final = ("NodeResourcesFit",)
_LIMITS: Final = ("NodeVolumeLimits",)
_IN_TREE: Final = say(
    "old.volumes_migrated", "In-tree volumes were migrated to CSI, and their limits with them."
)
_DEFAULTS: Final = say(
    "old.default_spread", "Its system defaults spread the pods of services and owners."
)


def _strategy(name: str) -> str:
    return say(
        "old.scoring_strategy", "It is the scoring strategy {strategy} there.", strategy=name
    )


def _taint(name: str) -> str:
    return say("old.taint", "The taint is {taint}.", taint=f"node.kubernetes.io/{name}")


OLD_NAMES: Final[Mapping[str, OldName]] = {
    "PodFitsHost": OldName("predicate", ("NodeName",)),
    "HostName": OldName("predicate", ("NodeName",)),
    "PodFitsResources": OldName("predicate", _FIT),
    "PodFitsHostPorts": OldName("predicate", ("NodePorts",)),
    "PodFitsPorts": OldName("predicate", ("NodePorts",)),
    "GeneralPredicates": OldName(
        "predicate", ("NodeName", "NodePorts", "NodeAffinity", "NodeResourcesFit")
    ),
    "MatchNodeSelector": OldName("predicate", ("NodeAffinity",)),
    "PodToleratesNodeTaints": OldName("predicate", ("TaintToleration",)),
    "CheckNodeUnschedulable": OldName("predicate", ("NodeUnschedulable",)),
    "CheckNodeCondition": OldName(
        "predicate",
        ("TaintToleration",),
        say("old.condition_taints", "Conditions act through taints node.kubernetes.io/*."),
        since="1.12",
    ),
    "CheckNodeMemoryPressure": OldName(
        "predicate", ("TaintToleration",), _taint("memory-pressure"), since="1.12"
    ),
    "CheckNodeDiskPressure": OldName(
        "predicate", ("TaintToleration",), _taint("disk-pressure"), since="1.12"
    ),
    "CheckNodePIDPressure": OldName(
        "predicate", ("TaintToleration",), _taint("pid-pressure"), since="1.12"
    ),
    "NoDiskConflict": OldName("predicate", ("VolumeRestrictions",)),
    "NoVolumeZoneConflict": OldName("predicate", ("VolumeZone",)),
    "CheckVolumeBinding": OldName("predicate", ("VolumeBinding",)),
    "MaxCSIVolumeCount": OldName("predicate", _LIMITS),
    "MaxCSIVolumeCountPred": OldName("predicate", _LIMITS),
    "MaxEBSVolumeCount": OldName("predicate", _LIMITS, _IN_TREE, since="1.31"),
    "MaxGCEPDVolumeCount": OldName("predicate", _LIMITS, _IN_TREE, since="1.31"),
    "MaxAzureDiskVolumeCount": OldName("predicate", _LIMITS, _IN_TREE, since="1.31"),
    "MaxCinderVolumeCount": OldName("predicate", _LIMITS, _IN_TREE, since="1.31"),
    "MatchInterPodAffinity": OldName("predicate", ("InterPodAffinity",)),
    "EvenPodsSpread": OldName("predicate", ("PodTopologySpread",)),
    "CheckNodeLabelPresence": OldName(
        "predicate",
        (),
        say("old.required_term", "It is gone; a required term of NodeAffinity asks for labels."),
        since="1.23",
    ),
    "CheckServiceAffinity": OldName(
        "predicate",
        (),
        say(
            "old.pods_together",
            "It is gone; InterPodAffinity keeps pods together in a topology domain.",
        ),
        since="1.23",
    ),
    "LeastRequestedPriority": OldName("priority", _FIT, _strategy("LeastAllocated"), since="1.22"),
    "MostRequestedPriority": OldName("priority", _FIT, _strategy("MostAllocated"), since="1.22"),
    "RequestedToCapacityRatioPriority": OldName(
        "priority", _FIT, _strategy("RequestedToCapacityRatio"), since="1.22"
    ),
    "BalancedResourceAllocation": OldName("priority", ("NodeResourcesBalancedAllocation",)),
    "SelectorSpreadPriority": OldName("priority", ("PodTopologySpread",), _DEFAULTS, since="1.20"),
    "ServiceSpreadingPriority": OldName(
        "priority", ("PodTopologySpread",), _DEFAULTS, since="1.20"
    ),
    "EvenPodsSpreadPriority": OldName("priority", ("PodTopologySpread",)),
    "NodeAffinityPriority": OldName("priority", ("NodeAffinity",)),
    "TaintTolerationPriority": OldName("priority", ("TaintToleration",)),
    "ImageLocalityPriority": OldName("priority", ("ImageLocality",)),
    "InterPodAffinityPriority": OldName("priority", ("InterPodAffinity",)),
    "ResourceLimitsPriority": OldName(
        "priority",
        (),
        say("old.limits_not_scored", "It is gone: limits of a pod are not scored."),
        since="1.19",
    ),
    "EqualPriority": OldName(
        "priority",
        (),
        say(
            "old.no_score_plugins",
            "It is gone; a profile without Score plugins rates all nodes the same.",
        ),
        since="1.23",
    ),
    "NodePreferAvoidPodsPriority": OldName(
        "priority",
        (),
        say("old.annotation_gone", "It is gone, with the annotation that it read."),
        since="1.23",
    ),
    "NodeResourcesLeastAllocated": OldName(
        "plugin", _FIT, _strategy("LeastAllocated"), since="1.22"
    ),
    "NodeResourcesMostAllocated": OldName("plugin", _FIT, _strategy("MostAllocated"), since="1.22"),
    "RequestedToCapacityRatio": OldName(
        "plugin", _FIT, _strategy("RequestedToCapacityRatio"), since="1.22"
    ),
    "SelectorSpread": OldName("plugin", ("PodTopologySpread",), _DEFAULTS, since="1.20"),
    "DefaultPodTopologySpread": OldName("plugin", ("PodTopologySpread",), _DEFAULTS, since="1.20"),
    "NodePreferAvoidPods": OldName(
        "plugin",
        (),
        say("old.annotation_gone", "It is gone, with the annotation that it read."),
        since="1.23",
    ),
    "NodeLabel": OldName(
        "plugin",
        (),
        say("old.required_term", "It is gone; a required term of NodeAffinity asks for labels."),
        since="1.23",
    ),
    "ServiceAffinity": OldName(
        "plugin",
        (),
        say(
            "old.pods_together",
            "It is gone; InterPodAffinity keeps pods together in a topology domain.",
        ),
        since="1.23",
    ),
    "EBSLimits": OldName("plugin", _LIMITS, _IN_TREE, since="1.31"),
    "GCEPDLimits": OldName("plugin", _LIMITS, _IN_TREE, since="1.31"),
    "AzureDiskLimits": OldName("plugin", _LIMITS, _IN_TREE, since="1.31"),
    "CinderLimits": OldName("plugin", _LIMITS, _IN_TREE, since="1.31"),
}
"""By the name as a policy file, a configuration or a message has it."""


def with_hint(refused: str, name: str) -> str:
    """Return `NAME does not exist` with what became of it; as it is for one that never was."""
    old = OLD_NAMES.get(name)
    return say("list.what_why", "{what}: {why}", what=refused, why=old.sentence) if old else refused
