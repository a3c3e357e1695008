"""The plugins of the v1.36 tree with the extension points they implement, and small builders."""

from scheduler_core.config import ExtensionPoint, Plugin, PluginSet

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def points(names: str) -> frozenset[ExtensionPoint]:
    return frozenset(ExtensionPoint(name) for name in names.split())


EVERY_POINT = frozenset(ExtensionPoint)

IN_TREE = {
    "DefaultBinder": points("Bind"),
    "DefaultPreemption": points("PreEnqueue PostFilter"),
    "DynamicResources": points("PreEnqueue PreFilter Filter PostFilter Score Reserve PreBind"),
    "ImageLocality": points("Score"),
    "InterPodAffinity": points("PreFilter Filter PreScore Score"),
    "NodeAffinity": points("PreFilter Filter PreScore Score"),
    "NodeDeclaredFeatures": points("PreFilter Filter"),
    "NodeName": points("Filter"),
    "NodePorts": points("PreFilter Filter"),
    "NodeResourcesBalancedAllocation": points("PreScore Score"),
    "NodeResourcesFit": points("PreFilter Filter PreScore Score"),
    "NodeUnschedulable": points("Filter"),
    "NodeVolumeLimits": points("PreFilter Filter"),
    "PodTopologySpread": points("PreFilter Filter PreScore Score"),
    "PrioritySort": points("QueueSort"),
    "SchedulingGates": points("PreEnqueue"),
    "TaintToleration": points("Filter PreScore Score"),
    "VolumeBinding": points("PreFilter Filter PreScore Score Reserve PreBind"),
    "VolumeRestrictions": points("PreFilter Filter"),
    "VolumeZone": points("PreFilter Filter"),
}


def plugins(text: str) -> tuple[Plugin, ...]:
    """`"A B:5"` is plugin A without and plugin B with weight 5."""
    found = (word.partition(":") for word in text.split())
    return tuple(Plugin(name=name, weight=int(weight or 0)) for name, _, weight in found)


def plugin_set(enabled: str = "", disabled: str = "") -> PluginSet:
    return PluginSet(enabled=plugins(enabled), disabled=plugins(disabled))
