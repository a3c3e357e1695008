"""0 meant both: evicted before the first cycle, and not evicted. Stored runs keep the latter."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def forget_zero(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    outcomes = apps.get_model("runs", "PodOutcome").objects
    outcomes.filter(evicted_in_cycle=0).update(evicted_in_cycle=None)


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_observed")]

    operations = [
        migrations.AlterField(
            model_name="podoutcome",
            name="evicted_in_cycle",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.RunPython(forget_zero, migrations.RunPython.noop),
    ]
