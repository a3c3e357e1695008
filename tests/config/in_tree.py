"""The plugins of the v1.36 tree with the extension points they implement, and small builders."""

import pytest

from scheduler_core.config import (
    Args,
    ConfigError,
    ExtensionPoint,
    FeatureGates,
    KubeSchedulerConfiguration,
    Plugin,
    Plugins,
    PluginSet,
    Profile,
    load_configuration,
)

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def points(names: str) -> frozenset[ExtensionPoint]:
    return frozenset(ExtensionPoint(name) for name in names.split())


EVERY_POINT = frozenset(ExtensionPoint)

ZOO = {
    "All": EVERY_POINT,
    "Sort": points("QueueSort"),
    "Bind": points("Bind"),
    "Score1": points("PreScore Score"),
    "Score2": points("PreScore Score"),
    "Normal": points("Score"),
    "Filter1": points("Filter"),
}
"""A few plugins that say by their names what they do."""

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


def plugin_set(text: str = "") -> PluginSet:
    """`"A B:5 -C"` enables A and B, B with weight 5, and disables C."""
    words = text.split()
    enabled = [word for word in words if not word.startswith("-")]
    disabled = [word.removeprefix("-") for word in words if word.startswith("-")]
    return PluginSet(enabled=plugins(" ".join(enabled)), disabled=plugins(" ".join(disabled)))


def load(body: str = "") -> KubeSchedulerConfiguration:
    return load_configuration(HEADER + body)


def args_of(name: str, args: str) -> Args:
    """The arguments of a plugin of which the file says `args`, a YAML flow mapping."""
    loaded = load(f"profiles: [{{pluginConfig: [{{name: {name}, args: {args}}}]}}]")
    assert loaded.profiles[0].plugin_config[0].name == name
    return loaded.profiles[0].plugin_config[0].args


NO_GATES = FeatureGates()
LABEL_KEY_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
"""What upstream says of a label key; tables have its name in its place."""


def problems_of(body: str, gates: FeatureGates = NO_GATES) -> list[tuple[int | None, str, str]]:
    with pytest.raises(ConfigError) as caught:
        load_configuration(HEADER + body, gates)
    return [
        (problem.line, problem.field, problem.message.replace(LABEL_KEY_RULE, "LABEL_KEY_RULE"))
        for problem in caught.value.problems
    ]


def profile(**sets: PluginSet) -> Profile:
    return Profile(
        scheduler_name="me",
        percentage_of_nodes_to_score=None,
        plugins=Plugins(**sets),
        plugin_config=(),
    )
