import pytest

from kviz.runs.presets import PRESETS, Preset, preset_text
from scheduler_core.config import load_configuration


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.slug)
def test_every_preset_is_a_valid_configuration(preset: Preset) -> None:
    if preset.text:
        load_configuration(preset.text)
    assert preset_text(preset.slug) == preset.text


def test_an_unknown_preset_is_the_default_profile() -> None:
    assert preset_text("nonsense") == ""
