from pathlib import Path

import pytest
from django.test import Client

from kviz.runs import presets
from kviz.runs.presets import (
    EXAMPLE_SCENARIO,
    PRESETS,
    SAMPLE_SCENARIOS,
    Preset,
    preset_text,
    sample_text,
)
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


@pytest.mark.parametrize("sample", SAMPLE_SCENARIOS, ids=lambda sample: sample.slug)
def test_every_sample_is_a_valid_scenario(sample: Preset) -> None:
    assert load_scenario(sample.text).steps
    assert sample_text(sample.slug) == sample.text


def test_every_scenario_file_is_offered() -> None:
    files = (Path(presets.__file__).parent / "scenarios").glob("*.yaml")
    assert {file.stem for file in files} == {sample.slug for sample in SAMPLE_SCENARIOS}


def test_the_form_starts_from_both_a_preset_and_a_sample(db: None, client: Client) -> None:
    form = client.get("/runs/new", {"preset": "bin-packing", "sample": "node-failure"})
    assert form.context["values"]["scheduler_config"] == preset_text("bin-packing")
    assert form.context["values"]["scenario"] == sample_text("node-failure")
    assert '<option value="node-failure"' in form.content.decode()
