"""Runs keep the release they follow, gates, the rule for ties and the order of pending pods.

Those there are followed v1.36 with its defaults; what is observed follows a release of its own.
"""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def name_the_release(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("runs", "Run").objects.filter(kind="simulated").update(release="1.36")


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_unknown")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="release",
            field=models.CharField(blank=True, default="", max_length=16),
        ),
        migrations.AddField(
            model_name="run", name="feature_gates", field=models.JSONField(default=dict)
        ),
        migrations.AddField(
            model_name="run",
            name="tie_break",
            field=models.CharField(default="heap", max_length=8),
        ),
        migrations.AddField(
            model_name="run",
            name="queue_order",
            field=models.CharField(default="listed", max_length=8),
        ),
        migrations.RunPython(name_the_release, migrations.RunPython.noop),
    ]
