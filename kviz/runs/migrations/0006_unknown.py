"""`not_told` is `unknown` now, in the results of cycles and the queues of pods."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def to_unknown(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _replace(apps, "not_told", "unknown")


def to_not_told(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _replace(apps, "unknown", "not_told")


def _replace(apps: Apps, old: str, new: str) -> None:
    apps.get_model("runs", "Cycle").objects.filter(result=old).update(result=new)
    apps.get_model("runs", "PodOutcome").objects.filter(queue=old).update(queue=new)


class Migration(migrations.Migration):
    dependencies = [("runs", "0005_evicted_before_the_first_cycle")]

    operations = [
        migrations.AlterField(
            model_name="cycle",
            name="result",
            field=models.CharField(
                choices=[
                    ("scheduled", "Scheduled"),
                    ("unschedulable", "Unschedulable"),
                    ("error", "Error"),
                    ("bind_error", "Bind Error"),
                    ("skipped", "Skipped"),
                    ("waiting", "Waiting"),
                    ("unknown", "Unknown"),
                ],
                max_length=16,
            ),
        ),
        migrations.RunPython(to_unknown, to_not_told),
    ]
