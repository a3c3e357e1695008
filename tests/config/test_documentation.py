"""The examples of docs/configuration.md do what the page says."""

import re
from pathlib import Path

from scheduler_core.config import ExtensionPoint, load_configuration, resolve_profiles
from scheduler_core.config.features import NOT_MODELLED, SWITCHABLE, switchable
from scheduler_core.registry import points_of
from scheduler_core.releases import LATEST, UNNAMED
from scheduler_core.releases.table import Release
from scheduler_core.teaching import TEACHING_PLUGINS
from scheduler_core.teaching.gang import MIN_AVAILABLE_LABEL, NAME_LABEL
from tests.config.in_tree import IN_TREE

OWN = {name: points_of(plugin_type) for name, plugin_type in TEACHING_PLUGINS.items()}
PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()


def test_the_examples() -> None:
    packing, spreading, waiting = (
        resolve_profiles(load_configuration(text), IN_TREE | OWN)
        for text in re.findall(r"```yaml\n(apiVersion.*?)```", PAGE, re.DOTALL)
    )
    packer = packing["packer"].points[ExtensionPoint.SCORE]
    assert packer[0] == ("NodeResourcesFit", 5)
    assert "NodeResourcesBalancedAllocation" not in dict(packer)
    usual = packing["default-scheduler"].points[ExtensionPoint.SCORE]
    assert dict(usual)["NodeResourcesFit"] == 1
    profile = spreading["default-scheduler"]
    assert profile.percentage_of_nodes_to_score == 100
    assert profile.points[ExtensionPoint.POST_FILTER] == (("DynamicResources", 0),)
    assert waiting["default-scheduler"].points[ExtensionPoint.PERMIT] == (("TeachingGang", 0),)


def test_the_labels_of_a_gang_are_those_the_plugin_reads() -> None:
    assert f'    {NAME_LABEL}: train\n    {MIN_AVAILABLE_LABEL}: "3"\n' in PAGE


def setting(name: str, release: Release) -> str:
    """Return how the table says what a release has a gate at."""
    spec = release.gates.get(name)
    if spec is None:
        return "-"
    if name not in switchable(release) and not spec.locked:
        return "stays off"
    return ("locked " if spec.locked else "") + ("on" if spec.default else "off")


def test_every_gate_is_listed_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\w ]+|-) \| ([\w ]+|-) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [
        (name, setting(name, UNNAMED), setting(name, LATEST), about)
        for name, about in SWITCHABLE.items()
    ]
    for name, why in NOT_MODELLED.items():
        assert f"| `{name}` | {why} |" in PAGE
