from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import kviz.common.said_field


def find(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Mark the runs whose sentences are English: engine 0.1 knew no ids of them.

    One that is not over begins anew when a worker has it again.
    """
    runs = apps.get_model("runs", "Run").objects.filter(engine_version__startswith="0.1.")
    simulated = runs.filter(kind="simulated")
    simulated.filter(status="finished").update(older="waiting")
    simulated.filter(status__in=["failed", "cancelled"]).update(older="kept")
    runs.filter(kind="observed").update(older="kept")


class Migration(migrations.Migration):
    dependencies = [("runs", "0021_releases_with_patches")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="older",
            field=models.CharField(
                blank=True,
                choices=[
                    ("waiting", "Waiting"),
                    ("computed_again", "Computed again"),
                    ("decides_otherwise", "Decides otherwise"),
                    ("kept", "Kept"),
                ],
                db_default="",
                default="",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="again_of",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=models.SET_NULL,
                related_name="again",
                to="runs.run",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="kept_because",
            field=kviz.common.said_field.SaidTextField(blank=True, db_default="", default=""),
        ),
        migrations.RunPython(find, migrations.RunPython.noop),
    ]
