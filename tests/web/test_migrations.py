"""What migrations do to rows that an earlier version stored."""

from __future__ import annotations

from importlib import import_module

from django.apps import apps
from django.db import connection

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
