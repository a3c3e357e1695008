"""Runs name the patch of their release: those stored as v1.36 follow v1.36.2."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def _rename(apps: Apps, old: str, new: str) -> None:
    apps.get_model("runs", "Run").objects.filter(release=old).update(release=new)


def name_the_patch(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _rename(apps, "1.36", "1.36.2")


def name_the_minor(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _rename(apps, "1.36.2", "1.36")


class Migration(migrations.Migration):
    dependencies = [("runs", "0020_no_expected_forks")]

    operations = [migrations.RunPython(name_the_patch, name_the_minor)]
