"""The plugin reference knows every in-tree plugin, and says what the engine says."""

import inspect

import pytest
from django.utils.functional import Promise

from kviz.common.plugin_guide import GUIDES, PluginGuide, guide_of, reason_guide
from scheduler_core.sim import simulate
from scheduler_core.trace.events import RunStarted
from scheduler_core.trace.records import ProfileRecord


def test_names_are_unique_and_found() -> None:
    assert len({guide.name for guide in GUIDES}) == len(GUIDES)
    assert all(guide_of(guide.name) is guide for guide in GUIDES)
    assert guide_of("NoSuchPlugin") is None


@pytest.fixture(scope="module")
def profile() -> tuple[RunStarted, ProfileRecord]:
    """The default profile as a run announces it."""
    started = next(iter(simulate([])))
    assert isinstance(started, RunStarted)
    return started, started.profiles[0]


def test_the_pages_are_in_the_order_of_the_default_profile(
    profile: tuple[RunStarted, ProfileRecord],
) -> None:
    assert tuple(guide.name for guide in GUIDES) == profile[0].plugins


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_points_and_weight_are_those_a_run_uses(
    profile: tuple[RunStarted, ProfileRecord], guide: PluginGuide
) -> None:
    number = profile[0].plugins.index(guide.name)
    attached = [record for record in profile[1].points if number in record.plugins]
    told = {point.name for point in guide.points} - {"NormalizeScore"}
    assert told == {record.point for record in attached}
    weights = [
        record.weights[record.plugins.index(number)] for record in attached if record.weights
    ]
    assert guide.weight == sum(weights)


@pytest.mark.parametrize(
    ("said", "plugin"),
    [
        ("Insufficient cpu", "NodeResourcesFit"),
        ("Insufficient nvidia.com/gpu", "NodeResourcesFit"),
        ("node(s) had untolerated taint(s)", "TaintToleration"),
        ('persistentvolumeclaim "data" not found', "VolumeBinding"),
        ("waiting for scheduling gates: [example.com/quota]", "SchedulingGates"),
        ("node(s) didn't match pod anti-affinity rules", "InterPodAffinity"),
    ],
)
def test_a_reason_leads_to_its_plugin(said: str, plugin: str) -> None:
    found = reason_guide(said)
    assert found is not None
    assert found[0].name == plugin


def test_an_unknown_reason_leads_nowhere() -> None:
    assert reason_guide("the moon is full") is None


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_texts_are_translatable_and_facts_are_not(guide: PluginGuide) -> None:
    assert isinstance(guide.purpose, Promise)
    assert all(isinstance(point.text, Promise) for point in guide.points)
    assert not any(isinstance(reason.text, Promise) for reason in guide.reasons)
    assert inspect.cleandoc(str(guide.purpose)).endswith(".")
