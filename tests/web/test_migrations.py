"""What migrations do to rows that an earlier version stored."""

from __future__ import annotations

import json
import uuid
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection, models

from kviz.experiments.models import Experiment
from kviz.runs.models import Cycle, PodOutcome, Run
from tests.web.cast import Person


def test_the_old_value_becomes_unknown_and_back(ada: Person) -> None:
    run = ada.finished()
    migration = import_module("kviz.runs.migrations.0006_unknown")
    Cycle.objects.filter(run=run, number=1).update(result="not_told")
    PodOutcome.objects.filter(run=run, pod="shop/giant").update(queue="not_told")
    before = list(Cycle.objects.filter(run=run).values_list("number", "result"))
    editor = connection.schema_editor()
    migration.to_unknown(apps, editor)
    assert Cycle.objects.get(run=run, number=1).result == Cycle.Result.UNKNOWN
    assert PodOutcome.objects.get(run=run, pod="shop/giant").queue == "unknown"
    migration.to_not_told(apps, editor)
    assert list(Cycle.objects.filter(run=run).values_list("number", "result")) == before


def test_runs_there_were_follow_the_release_that_was_modelled(ada: Person) -> None:
    simulated = ada.finished()
    observed = Run.objects.create(workspace=ada.workspace, kind=Run.Kind.OBSERVED)
    Run.objects.update(release="")
    migration = import_module("kviz.runs.migrations.0007_release_and_rules")
    migration.name_the_release(apps, connection.schema_editor())
    assert Run.objects.get(pk=simulated.pk).release == "1.36"
    assert Run.objects.get(pk=observed.pk).release == ""


SECRET = "hunter2"
POD = {"containers": [{"name": "c", "env": [{"name": "P", "value": SECRET}]}]}
SCENARIO = f"steps:\n- at: 1s\n  create:\n  - kind: Pod\n    spec: {json.dumps(POD)}\n"
CONFIGURATION = f"""\
extenders:
- urlPrefix: http://me:{SECRET}@there
  tlsConfig: {{keyData: {SECRET}}}
"""
PATCH = {"patch": {"kind": "Pod", "namespace": "shop", "name": "web-0", "merge": {"spec": POD}}}


def test_secrets_of_earlier_runs_and_experiments_are_written_over(ada: Person) -> None:
    old, plain = ada.finished(), ada.finished(scenario="steps: []")
    typed = {
        "scheduler_config": CONFIGURATION,
        "scenario": SCENARIO,
        "changes": [{"cycle": 0, "change": PATCH, "sentence": "", "said": None}],
    }
    assert old.snapshot is not None
    Run.objects.filter(pk=old.pk).update(**typed)
    experiment = Experiment.objects.create(
        workspace=ada.workspace,
        snapshot=old.snapshot,
        kind="capacity",
        inputs=typed,
        asked={"templates": [{"pod": "", "manifest": f"kind: Pod\nspec: {json.dumps(POD)}\n"}]},
    )
    for migration in ("runs.migrations.0018", "experiments.migrations.0007"):
        module = import_module(f"kviz.{migration}_kept_without_secrets")
        module.write_over(apps, connection.schema_editor())

    old.refresh_from_db()
    experiment.refresh_from_db()
    for inputs in ({name: getattr(old, name) for name in typed}, experiment.inputs):
        assert SECRET not in str(inputs)
        assert "http://there" in inputs["scheduler_config"]
        assert inputs["changes"][0]["change"]["patch"]["name"] == "web-0"
    assert SECRET not in str(experiment.asked)
    assert "kind: Pod" in experiment.asked["templates"][0]["manifest"]
    plain.refresh_from_db()
    assert plain.scenario == "steps: []"


@pytest.mark.parametrize(
    ("model", "field"),
    [(Run, "known_part"), (Experiment, "by_itself")],
    ids=["run", "experiment"],
)
def test_a_version_that_knows_a_column_not_yet_makes_rows(
    ada: Person, model: type[models.Model], field: str
) -> None:
    run = ada.finished()
    asked = {"workspace": ada.workspace, "snapshot": run.snapshot, "kind": "luck"}
    row = run if model is Run else Experiment.objects.create(**asked)
    key = model._meta.pk.get_db_prep_value(uuid.uuid4(), connection)
    fields = [each for each in model._meta.concrete_fields if each.name != field]
    known = [each.column for each in fields]
    others = ", ".join(f'"{each}"' for each in known if each != "id")
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO {table} ("id", {others}) SELECT %s, {others} FROM {table}', [key]
        )

    made = model._default_manager.get(pk=key)
    assert getattr(made, field) == getattr(row, field)
