"""What another release makes of gates and of a configuration."""

from __future__ import annotations

import pytest

from scheduler_core.analysis.rehearsal import Carried, carried
from scheduler_core.changes import Rules
from scheduler_core.releases import RELEASES


def upgraded(**gates: bool) -> Carried:
    return carried(Rules(gates=gates, release=RELEASES["1.36.3"]), RELEASES["1.37.2"])


@pytest.mark.parametrize(
    ("gate", "on", "why"),
    [
        ("GangScheduling", False, "It is gone: v1.36 was the last to have it"),
        ("DRAExtendedResource", False, "feature is locked to true"),
        ("DRADeviceTaints", False, "DRADeviceTaintRules is enabled, but depends on features"),
    ],
)
def test_what_a_release_refuses(gate: str, on: bool, why: str) -> None:
    found = upgraded(**{gate: on, "VolumeLimitScaling": False})
    assert found.refused.keys() == {gate}
    assert why in found.refused[gate]
    assert (found.starts, found.rules.gates) == (True, {"VolumeLimitScaling": False})


def test_a_gate_that_two_new_ones_need_is_refused_once() -> None:
    found = upgraded(PodLevelResources=False, InPlacePodLevelResourcesVerticalScaling=False)
    assert found.refused.keys() == {"PodLevelResources"}
    assert found.rules.gates == {"InPlacePodLevelResourcesVerticalScaling": False}


def test_what_has_no_effect_and_what_has_another_value() -> None:
    found = upgraded(DRAExtendedResource=True, StorageCapacityScoring=False)
    assert found.refused == {}
    assert found.ignored.keys() == {"DRAExtendedResource"}
    changed = {each.name: (each.a, each.b) for each in found.changed}
    assert changed == dict.fromkeys(
        ("DRADeviceTaintRules", "VolumeLimitScaling"), ("false", "true")
    )
