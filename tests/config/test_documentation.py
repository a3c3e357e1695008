"""The examples of docs/configuration.md do what the page says."""

import re
from pathlib import Path

from scheduler_core.config import ExtensionPoint, load_configuration, resolve_profiles
from tests.config.in_tree import IN_TREE

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()


def test_the_examples() -> None:
    packing, spreading = (
        resolve_profiles(load_configuration(text), IN_TREE)
        for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    )
    packer = packing["packer"].points[ExtensionPoint.SCORE]
    assert packer[0] == ("NodeResourcesFit", 5)
    assert "NodeResourcesBalancedAllocation" not in dict(packer)
    usual = packing["default-scheduler"].points[ExtensionPoint.SCORE]
    assert dict(usual)["NodeResourcesFit"] == 1
    profile = spreading["default-scheduler"]
    assert profile.percentage_of_nodes_to_score == 100
    assert profile.points[ExtensionPoint.POST_FILTER] == (("DynamicResources", 0),)
