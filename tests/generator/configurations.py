"""Random scheduler configurations and feature gates."""

from __future__ import annotations

from typing import Final

from scheduler_core.releases import UNNAMED
from tests.generator.draw import Draw, Json
from tests.generator.selectors import HOSTNAME, ZONE

SCORE_PLUGINS: Final = (
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "NodeResourcesBalancedAllocation",
    "PodTopologySpread",
    "InterPodAffinity",
    "ImageLocality",
    "VolumeBinding",
    "DynamicResources",
)
FILTER_PLUGINS: Final = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeDeclaredFeatures",
)
GATES: Final = (
    ("SchedulerPopFromBackoffQ", False),
    ("SchedulerAsyncPreemption", False),
    ("PodLevelResources", False),
    ("InPlacePodLevelResourcesVerticalScaling", False),
    ("MatchLabelKeysInPodTopologySpread", False),
    ("NodeDeclaredFeatures", False),
    ("NominatedNodeNameForExpectation", False),
    ("StorageCapacityScoring", True),
    ("TaintTolerationComparisonOperators", True),
    ("VolumeLimitScaling", True),
    ("DRAExtendedResource", False),
    ("DRAPrioritizedList", False),
    ("DRAConsumableCapacity", False),
    ("DRAPartitionableDevices", False),
    ("DRADeviceTaints", False),
    ("DRADeviceBindingConditions", False),
    ("DRAResourceClaimDeviceStatus", False),
    ("DRASchedulerFilterTimeout", False),
)
NEEDED_BY: Final = {
    name: spec.requires
    for name, spec in UNNAMED.gates.items()
    if spec.default and not spec.locked and spec.requires
}
"""Gates that cannot stay on when one of those named is off."""


def feature_gates(draw: Draw) -> dict[str, bool]:
    gates: dict[str, bool] = {}
    if "gates-switched" in draw.features:
        gates = dict(draw.some(draw.shuffled(GATES), 1, 3))
    for gate, needed in NEEDED_BY.items():
        if any(gates.get(each) is False for each in needed):
            gates[gate] = False
    if "comparison" in draw.features:
        gates["TaintTolerationComparisonOperators"] = True
    if "batching" in draw.features:
        gates["OpportunisticBatching"] = True
    return gates


def configuration(draw: Draw) -> Json | None:
    """Return a configuration, None for the defaults."""
    if not draw.features & {"profiles", "configured", "sampling", "batching", "backoff"}:
        return None
    names = ["default-scheduler", *(["second"] if "profiles" in draw.features else [])]
    found: Json = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [_profile(draw, name) for name in names],
    }
    if draw.has("sampling", 0.6):
        found["percentageOfNodesToScore"] = draw.one((0, 1, 5, 30, 60, 100))
    if "backoff" in draw.features:
        found["podInitialBackoffSeconds"] = draw.one((1, 2, 3))
        found["podMaxBackoffSeconds"] = draw.one((3, 7, 20))
    return found


def _profile(draw: Draw, name: str) -> Json:
    profile: Json = {"schedulerName": name}
    if draw.has("sampling", 0.3):
        profile["percentageOfNodesToScore"] = draw.one((0, 20, 70, 100))
    args: list[Json] = []
    if draw.has("configured", 0.6):
        args.append({"name": "NodeResourcesFit", "args": _fit_args(draw)})
    if draw.has("configured", 0.3):
        resources = [{"name": r, "weight": 1} for r in draw.some(("cpu", "memory", "acme.io/fpga"))]
        if resources:
            balanced = {"name": "NodeResourcesBalancedAllocation"}
            args.append({**balanced, "args": {"resources": resources}})
    if draw.has("configured", 0.4):
        args.append({"name": "InterPodAffinity", "args": _inter_pod_args(draw)})
    if draw.has("configured", 0.4) or "batching" in draw.features:
        args.append({"name": "PodTopologySpread", "args": _spread_args(draw)})
    if draw.has("configured", 0.3):
        args.append({"name": "NodeAffinity", "args": {"addedAffinity": _added_affinity(draw)}})
    if draw.has("candidates", 0.8):
        limits = {"minCandidateNodesPercentage": draw.one((0, 10, 50))}
        limits["minCandidateNodesAbsolute"] = draw.one((1, 2, 100))
        args.append({"name": "DefaultPreemption", "args": limits})
    if args:
        profile["pluginConfig"] = args
    if draw.has("configured", 0.5):
        profile["plugins"] = _plugins(draw)
    return profile


def _plugins(draw: Draw) -> Json:
    """Return other weights, or plugins switched off at one point or at all."""
    found: Json = {}
    if draw.chance(0.2):
        gone = draw.some(draw.shuffled(("ImageLocality", "InterPodAffinity", "NodePorts")), 1, 2)
        found["multiPoint"] = {"disabled": [{"name": name} for name in gone]}
    if draw.chance(0.7):
        weighted = draw.some(draw.shuffled(SCORE_PLUGINS), 1, 3)
        found["score"] = {
            "disabled": [{"name": name} for name in weighted],
            "enabled": [{"name": name, "weight": draw.number(1, 9)} for name in weighted],
        }
    if draw.chance(0.3):
        off = draw.some(draw.shuffled(FILTER_PLUGINS), 1, 2)
        found["filter"] = {"disabled": [{"name": name} for name in off]}
    if draw.chance(0.1):
        unprepared = draw.some(draw.shuffled(SCORE_PLUGINS), 1, 2)
        found["preScore"] = {"disabled": [{"name": name} for name in unprepared]}
    if draw.chance(0.1):
        found["postFilter"] = {"disabled": [{"name": "*"}]}
    if draw.chance(0.08):
        found["score"] = {"disabled": [{"name": "*"}]}
        found["preScore"] = {"disabled": [{"name": "*"}]}
    return found


def _fit_args(draw: Draw) -> Json:
    kind = draw.one(("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"))
    resources = ("cpu", "memory", "ephemeral-storage", "example.com/gpu")
    strategy: Json = {
        "type": kind,
        "resources": [{"name": r, "weight": draw.number(1, 5)} for r in draw.some(resources, 1)],
    }
    if kind == "RequestedToCapacityRatio":
        points = draw.some((0, 10, 35, 50, 80, 100), 1)
        shape = [{"utilization": at, "score": draw.number(0, 10)} for at in points]
        strategy["requestedToCapacityRatio"] = {"shape": shape}
    args: Json = {"scoringStrategy": strategy}
    if draw.chance(0.2):
        args["ignoredResources"] = ["example.com/gpu"]
    if draw.chance(0.2):
        args["ignoredResourceGroups"] = ["acme.io"]
    return args


def _inter_pod_args(draw: Draw) -> Json:
    return {
        "hardPodAffinityWeight": draw.number(0, 100),
        "ignorePreferredTermsOfExistingPods": draw.chance(0.5),
    }


def _spread_args(draw: Draw) -> Json:
    if "batching" in draw.features:
        return {"defaultingType": "List"}
    if draw.chance(0.3):
        return {"defaultingType": "System"}
    constraints = [
        {
            "maxSkew": draw.number(1, 3),
            "topologyKey": key,
            "whenUnsatisfiable": draw.one(("ScheduleAnyway", "DoNotSchedule")),
        }
        for key in draw.some((ZONE, HOSTNAME, "rack"))
    ]
    return {"defaultingType": "List", "defaultConstraints": constraints}


def _added_affinity(draw: Draw) -> Json:
    requirement = {"key": "disk", "operator": "In", "values": draw.some(("ssd", "hdd", "nvme"), 1)}
    term = {"matchExpressions": [requirement]}
    found: Json = {}
    if draw.chance(0.4):
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [term]}
    if not found or draw.chance(0.7):
        preferred = {"weight": draw.number(1, 100), "preference": term}
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [preferred]
    return found
