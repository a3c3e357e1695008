import pytest

from kviz.runs.presets import EXAMPLE_SCENARIO, PRESETS, Preset, preset_text
from scheduler_core.config import load_configuration
from scheduler_core.sim import load_scenario


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.slug)
def test_every_preset_is_a_valid_configuration(preset: Preset) -> None:
    if preset.text:
        load_configuration(preset.text)
    assert preset_text(preset.slug) == preset.text


def test_an_unknown_preset_is_the_default_profile() -> None:
    assert preset_text("nonsense") == ""


def test_the_example_of_a_scenario_is_valid() -> None:
    assert len(load_scenario(EXAMPLE_SCENARIO).steps) == 3
