"""The tables of releases: what each says, and that nothing else asks which release is followed."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import asdict

import kviz
import scheduler_core
from scheduler_core.config import ConfigError, feature_gates
from scheduler_core.releases import (
    LATEST,
    RELEASES,
    UNNAMED,
    UnknownRelease,
    release_named,
    stored_name,
    stored_release,
)
from scheduler_core.releases.switches import SWITCHES, Switches

ENGINE = Path(scheduler_core.__file__).parent
APPLICATION = Path(kviz.__file__).parent
NAMES_A_RELEASE = re.compile(
    r"\b(V1_\d+|LATEST|RELEASES)\b|\brelease(\.name|\.minor)?\s*(==|!=|<|>)"
)
COMPARES_WITH_ONE = re.compile(r"""(==|!=|[<>]=?|\bin)\s*[(\[{]?\s*["']v?1\.\d\d\b""")
READS_A_DEFAULT = re.compile(
    r"\bUNNAMED\b|\bFeatureGates\(\)|\bfeature_gates\(\{\}\)|\bdefault_configuration\(\)"
)
OF_BEFORE_PATCHES = {
    "clusters/followed/models.py",
    "clusters/followed/services.py",
    "conformance/cases.py",
    "questions/why/answer.py",
    "runs/portable/saved.py",
    "runs/titles.py",
}
"""What reads rows, files and recordings that name no release; and an answer that is given none."""
MAY_ASK = {"config/features.py"}
"""Which other release has a gate that this one lacks, is said when the gate is refused."""


def test_every_switch_has_its_number_and_its_sentence() -> None:
    assert list(SWITCHES) == list(asdict(Switches()))
    for switch in SWITCHES.values():
        assert re.fullmatch(r"#\d{6}", switch.upstream)
        assert switch.sentence.endswith(".")


def test_the_engine_asks_switches_and_gates_and_never_which_release_it_is() -> None:
    asking = {
        str(file.relative_to(ENGINE))
        for file in ENGINE.rglob("*.py")
        if file.parent.name != "releases" and NAMES_A_RELEASE.search(file.read_text())
    }
    assert asking == MAY_ASK


def test_nothing_is_compared_with_one_release() -> None:
    """Not outside the engine either: pages, scripts and answers follow what the tables say."""
    root = APPLICATION.parent
    asking = {
        str(file.relative_to(root))
        for folder in ("kviz", "templates", "frontend/src")
        for file in (root / folder).rglob("*")
        if file.suffix in (".py", ".html", ".ts", ".svelte") and ".test." not in file.name
        if COMPARES_WITH_ONE.search(file.read_text())
    }
    assert not asking


def test_every_switch_has_a_test_of_both_its_sides() -> None:
    here = Path(__file__).parent
    tests = "".join(file.read_text() for file in here.glob("test_*switches.py"))
    assert set(re.findall(r'with_switch\(\s*"(\w+)", on\)', tests)) == set(SWITCHES)


def test_what_is_said_of_a_run_is_said_of_its_release() -> None:
    """The application takes the release of a run, and falls back on none in silence."""
    reading = {
        str(file.relative_to(APPLICATION))
        for file in APPLICATION.rglob("*.py")
        if READS_A_DEFAULT.search(file.read_text())
    }
    assert reading == OF_BEFORE_PATCHES


def test_a_later_patch_keeps_what_an_earlier_one_has_mended() -> None:
    tables = [asdict(release.switches) for release in RELEASES.values()]
    for earlier, later in pairwise(tables):
        assert all(later[name] for name, on in earlier.items() if on)


def test_what_is_stored_without_a_patch_is_what_was_modelled_then() -> None:
    assert [stored_release(name) for name in ("", "1.36", "1.36.2", "1.36.3", "1.99")] == [
        UNNAMED,
        UNNAMED,
        UNNAMED,
        RELEASES["1.36.3"],
        None,
    ]


def test_a_stored_release_is_read_with_its_patch() -> None:
    assert [stored_name(name) for name in ("", "1.36", "1.37.2", "1.99")] == [
        "",
        "1.36.2",
        "1.37.2",
        "1.99",
    ]


def test_a_minor_release_that_is_asked_for_is_its_newest_patch() -> None:
    asked = ("1.36", "v1.37", "1.36.2", "v1.37.2")
    assert [release_named(name) for name in asked] == ["1.36.3", "1.37.2", "1.36.2", "1.37.2"]


@pytest.mark.parametrize("asked", ["1.35", "", "vv1.37", "1.37.9", "auto"])
def test_what_is_no_release_is_refused_with_all_that_may_be_asked_for(asked: str) -> None:
    with pytest.raises(UnknownRelease) as caught:
        release_named(asked)
    assert str(caught.value) == (
        f"kviz knows no release {asked!r}; it knows 1.36 (1.36.3), 1.37 (1.37.2) and 1.36.2, "
        "1.36.3, 1.37.2"
    )


@pytest.mark.parametrize(
    ("release", "gate", "said"),
    [
        ("1.36.3", "SchedulerPreQueueingHints", "It is new in v1.37"),
        ("1.37.2", "SidecarContainers", "It is gone: v1.36 was the last to have it"),
        ("1.37.2", "GangScheduling", "It is gone: v1.36 was the last to have it"),
        ("1.37.2", "PodPriority", "It is always on now"),
        ("1.36.3", "GRPCContainerProbeTLS", "It is new in v1.37"),
        ("1.37.2", "VolumeLimitScalings", "did you mean VolumeLimitScaling?"),
        ("1.37.2", "GracefulNodeShutdwn", "did you mean GracefulNodeShutdown?"),
    ],
)
def test_a_gate_of_another_release_is_told_from_a_misspelt_one(
    release: str, gate: str, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        feature_gates({gate: True}, RELEASES[release])
    (problem,) = caught.value.problems
    assert problem.message.startswith(f"unrecognized feature gate: {gate} (the scheduler of v")
    assert said in problem.message


def test_gates_of_1_37_lean_on_each_other_otherwise() -> None:
    without = feature_gates({"DRADeviceTaints": False, "DRADeviceTaintRules": False}, LATEST)
    assert not without.enabled("DRADeviceTaints")
    for refused in ({"DRADeviceTaints": False}, {"PodLevelResources": False}):
        with pytest.raises(ConfigError, match="depends on features that are disabled"):
            feature_gates(refused, LATEST)
    with pytest.raises(ConfigError, match="feature is locked to true"):
        feature_gates({"DRAExtendedResource": False}, LATEST)
