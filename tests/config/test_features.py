"""Feature gates: v1.36 defaults and what may be switched."""

import itertools
import re
from pathlib import Path

import pytest

import scheduler_core
from scheduler_core.config import ConfigError, FeatureGates, feature_gates
from scheduler_core.config.features import NOT_MODELLED, switchable
from scheduler_core.releases import LATEST, RELEASES, UNNAMED
from scheduler_core.releases.table import GateSpec, OtherGate, Release
from tests.tables import rows

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
    assert {name for name in UNNAMED.gates if not gates.enabled(name)} == OFF
    assert feature_gates({}) == gates


def test_overrides() -> None:
    gates = feature_gates({"SchedulerPopFromBackoffQ": False, "VolumeLimitScaling": True})
    assert not gates.enabled("SchedulerPopFromBackoffQ")
    assert gates.enabled("VolumeLimitScaling")
    assert gates.enabled("SchedulerAsyncPreemption")
    assert gates == feature_gates({"VolumeLimitScaling": True, "SchedulerPopFromBackoffQ": False})


def test_a_gate_goes_off_with_what_depends_on_it_in_any_component() -> None:
    gates = feature_gates(
        {
            "NodeDeclaredFeatures": False,
            "ExtendWebSocketsToKubelet": False,
            "InPlacePodLevelResourcesVerticalScaling": False,
            "InPlacePodVerticalScalingInitContainers": False,
            "RestartAllContainersOnContainerExits": False,
        }
    )
    assert not gates.enabled("NodeDeclaredFeatures")
    assert len(gates.changed) == 5


def test_asking_for_an_unknown_gate_is_an_error() -> None:
    with pytest.raises(KeyError):
        FeatureGates().enabled("SchedulerQueueHints")


@pytest.mark.parametrize(("overrides", "messages"), rows(__file__, "refused_overrides"))
def test_refused_overrides(overrides: dict[str, bool], messages: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        feature_gates(overrides)
    assert [problem.message for problem in caught.value.problems] == messages


def test_a_locked_gate_may_be_set_to_what_it_is() -> None:
    assert feature_gates({"SidecarContainers": True}).enabled("SidecarContainers")


def test_gates_of_other_components_are_taken_and_change_nothing() -> None:
    given = {"WatchList": False, "CPUManagerPolicyBetaOptions": True}
    gates = feature_gates({**given, "OpportunisticBatching": False})
    assert gates.unread == sorted(given)
    assert gates.changed == {"OpportunisticBatching": False}
    needless = {"GracefulNodeShutdown": False, "GracefulNodeShutdownBasedOnPodPriority": False}
    assert not feature_gates({**needless, "WindowsGracefulNodeShutdown": False}).changed
    assert not UNNAMED.gates.keys() & UNNAMED.elsewhere.keys()


def test_a_gate_that_is_not_modelled_may_be_set_to_what_it_is() -> None:
    assert feature_gates({"GenericWorkload": False}).changed == {}


def test_changed_gates_are_those_not_at_their_default() -> None:
    gates = feature_gates({"VolumeLimitScaling": True, "SchedulerAsyncPreemption": True})
    assert gates.changed == {"VolumeLimitScaling": True}


@pytest.mark.parametrize("release", RELEASES.values(), ids=str)
def test_every_gate_is_locked_switchable_or_known_not_to_be_modelled(release: Release) -> None:
    for name, spec in release.gates.items():
        refused = name in NOT_MODELLED and not spec.default
        assert spec.locked + (name in switchable(release)) + refused == 1, name
    gates: dict[str, GateSpec | OtherGate] = {**release.elsewhere, **release.gates}
    for name, each in gates.items():
        for needed in each.requires:
            assert needed in {*release.gates, *release.elsewhere}, name


@pytest.mark.parametrize("release", RELEASES.values(), ids=str)
def test_what_bars_a_gate_from_being_switched_off_can_be_switched_itself(release: Release) -> None:
    """So the run form, which lists what may be switched, never leads into a dead end."""
    gates: dict[str, GateSpec | OtherGate] = {**release.elsewhere, **release.gates}
    for name, spec in gates.items():
        if spec.default and any(needed in switchable(release) for needed in spec.requires):
            assert name in switchable(release)


def test_every_gate_that_the_engine_reads_has_a_row_from_some_release_on() -> None:
    engine = Path(scheduler_core.__file__).parent
    read = {
        name
        for file in engine.rglob("*.py")
        for name in re.findall(r'\benabled\(\s*"(\w+)"', file.read_text())
    }
    assert len(read) > 15
    for older, newer in itertools.pairwise(RELEASES.values()):
        assert read & set(older.gates) <= set(newer.gates)
        assert not any(
            FeatureGates(release=older).enabled(name) for name in read - set(older.gates)
        )
    assert read <= set(LATEST.gates)


@pytest.mark.parametrize("name", switchable(UNNAMED))
def test_every_switchable_gate_can_be_switched(name: str) -> None:
    """Switched on with what it needs, or off with what needs it."""
    gates = UNNAMED.gates
    wanted = {name: not gates[name].default}
    for other, spec in gates.items():
        if not wanted[name] and name in spec.requires and spec.default:
            wanted[other] = False
    assert feature_gates(wanted).enabled(name) is not gates[name].default
