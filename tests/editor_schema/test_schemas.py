"""What the editor offers is what the engine reads."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from msgspec.structs import fields

from kviz.editor_schema import __main__ as command
from kviz.editor_schema.configuration import configuration_schema
from kviz.editor_schema.objects import object_schema
from kviz.editor_schema.scenario import ANY_KIND, STEP, scenario_schema
from kviz.editor_schema.schema import MAX_DOC_CHARS, Schema, shortened
from scheduler_core.api import KINDS
from scheduler_core.changes.reading import STEP_ACTIONS
from scheduler_core.config import default_configuration
from scheduler_core.config.features import switchable
from scheduler_core.registry import in_tree_registry
from scheduler_core.releases import RELEASES
from scheduler_core.sim.scenario import ScenarioOptions
from scheduler_core.wording import Text

OBJECTS = object_schema()
CONFIGURATION = configuration_schema()
SCENARIO = scenario_schema()


CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder into which the schemas were written."""
    monkeypatch.setattr(sys, "argv", ["editor_schema", str(tmp_path)])
    command.main()
    return tmp_path


@pytest.mark.parametrize("schema", [OBJECTS, CONFIGURATION, SCENARIO])
def test_every_type_that_is_named_is_there(schema: Schema) -> None:
    named = set(schema.roots.values()) | {
        field.of for fields in schema.types.values() for field in fields.values() if field.of
    }
    assert named - {ANY_KIND} <= set(schema.types)


def test_all_kinds_that_kviz_reads_are_offered() -> None:
    assert set(OBJECTS.roots) == set(KINDS)
    claim = OBJECTS.types[OBJECTS.roots["ResourceClaim"]]
    assert claim["apiVersion"].values == ("resource.k8s.io/v1",)
    assert "spec" in claim


def test_fields_have_types_descriptions_and_values() -> None:
    pod = OBJECTS.types[OBJECTS.roots["Pod"]]
    spec = OBJECTS.types[pod["spec"].of]
    assert spec["containers"].is_list
    assert spec["nodeSelector"].is_map
    assert spec["nodeSelector"].type == "string"
    assert spec["hostNetwork"].type == "boolean"
    assert spec["priority"].type == "integer"
    toleration = OBJECTS.types[spec["tolerations"].of]
    assert toleration["effect"].values == ("NoSchedule", "PreferNoSchedule", "NoExecute")
    assert "taint" in toleration["key"].doc
    spread = OBJECTS.types[spec["topologySpreadConstraints"].of]
    assert spread["whenUnsatisfiable"].values == ("DoNotSchedule", "ScheduleAnyway")
    assert "managedFields" not in OBJECTS.types[pod["metadata"].of]


def test_descriptions_are_whole_sentences() -> None:
    long = "One sentence. " + "And another one that goes on. " * 30
    assert shortened(long).endswith("goes on.")
    assert len(shortened(long)) <= MAX_DOC_CHARS + 1
    assert shortened("Short") == "Short"


def test_a_configuration_offers_plugins_and_their_arguments() -> None:
    plugin = CONFIGURATION.types["Plugin"]
    assert set(plugin["name"].values) == {*in_tree_registry(), "*"}
    config = CONFIGURATION.types["PluginConfigV1"]
    fit = CONFIGURATION.types[config["args@NodeResourcesFit"].of]
    assert "scoringStrategy" in fit
    whole = CONFIGURATION.types["ConfigurationV1"]
    assert whole["parallelism"].default == str(default_configuration().parallelism)


def test_a_scenario_offers_every_action_and_option() -> None:
    assert set(STEP_ACTIONS) <= set(STEP)
    options = {field.encode_name for field in fields(ScenarioOptions)}
    assert set(SCENARIO.types["Options"]) == options


def test_the_schemas_are_written_as_the_page_reads_them(written: Path) -> None:
    for name in ("objects", "configuration.en", "scenario.en"):
        document = json.loads((written / f"{name}.json").read_text())
        assert set(document) == {"roots", "types"}
    assert document["types"]["Step"]["create"]["of"] == ANY_KIND
    assert document["types"]["Step"]["cordon"] == {
        "type": "string",
        "doc": "Marks a node unschedulable.",
    }


@pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])
def test_words_of_kviz_are_in_the_readers_language(written: Path, language: str) -> None:
    for name, own in (("configuration", CONFIGURATION), ("scenario", SCENARIO)):
        types = json.loads((written / f"{name}.{language}.json").read_text())["types"]
        said = [
            types[of][field]["doc"]
            for of, fields in own.types.items()
            for field, found in fields.items()
            if isinstance(found.doc, Text)
        ]
        assert len(said) > 20
        assert [doc for doc in said if not CHINESE.search(doc)] == []


def test_only_upstream_describes_in_english() -> None:
    ours = set(SCENARIO.types) - set(OBJECTS.types) | set(CONFIGURATION.types)
    docs = [
        field.doc
        for of in ours
        for field in (SCENARIO.types.get(of) or CONFIGURATION.types[of]).values()
    ]
    assert [doc for doc in docs if doc and not isinstance(doc, Text)] == []


def test_a_gate_is_offered_for_the_releases_in_which_a_run_may_switch_it() -> None:
    gates = SCENARIO.types["Gates"]
    assert gates["DRAExtendedResource"].releases == ("1.36.2", "1.36.3")  # locked since
    assert gates["DRAFractionalCapacityRange"].releases == ("1.37.2",)
    assert gates["SchedulerPopFromBackoffQ"].releases == ()
    for name, gate in gates.items():
        found = [each for each, release in RELEASES.items() if name in switchable(release)]
        assert list(gate.releases or RELEASES) == found
