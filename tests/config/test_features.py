"""Feature gates: v1.36 defaults and what may be switched."""

import pytest

from scheduler_core.config import ConfigError, FeatureGates, feature_gates
from scheduler_core.config.features import GATES

OFF = {
    "InPlacePodVerticalScalingExclusiveCPUs",
    "DRADeviceTaintRules",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAWorkloadResourceClaims",
    "GangScheduling",
    "GenericWorkload",
    "SchedulerAsyncAPICalls",
    "StorageCapacityScoring",
    "TaintTolerationComparisonOperators",
    "TopologyAwareWorkloadScheduling",
    "VolumeLimitScaling",
    "WorkloadAwarePreemption",
}


def test_defaults() -> None:
    gates = FeatureGates()
    assert {name for name in GATES if not gates.enabled(name)} == OFF
    assert feature_gates({}) == gates


def test_overrides() -> None:
    gates = feature_gates({"SchedulerPopFromBackoffQ": False, "VolumeLimitScaling": True})
    assert not gates.enabled("SchedulerPopFromBackoffQ")
    assert gates.enabled("VolumeLimitScaling")
    assert gates.enabled("SchedulerAsyncPreemption")
    assert gates == feature_gates({"VolumeLimitScaling": True, "SchedulerPopFromBackoffQ": False})


def test_asking_for_an_unknown_gate_is_an_error() -> None:
    with pytest.raises(KeyError):
        FeatureGates().enabled("SchedulerQueueHints")


@pytest.mark.parametrize(
    ("overrides", "messages"),
    [
        ({"Nope": True}, ["unrecognized feature gate: Nope"]),
        (
            {"SchedulerQueueingHints": False, "Nope": True},
            [
                "unrecognized feature gate: Nope",
                "cannot set feature gate SchedulerQueueingHints to false, "
                "feature is locked to true",
            ],
        ),
        (
            {"GangScheduling": True},
            [
                "GangScheduling is enabled, but depends on features that are disabled: "
                "GenericWorkload"
            ],
        ),
        (
            {"NodeDeclaredFeatures": False, "PodLevelResources": False},
            [
                "InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that "
                "are disabled: PodLevelResources, NodeDeclaredFeatures"
            ],
        ),
    ],
)
def test_refused_overrides(overrides: dict[str, bool], messages: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        feature_gates(overrides)
    assert [problem.message for problem in caught.value.problems] == messages


def test_a_locked_gate_may_be_set_to_what_it_is() -> None:
    assert feature_gates({"SidecarContainers": True}).enabled("SidecarContainers")
