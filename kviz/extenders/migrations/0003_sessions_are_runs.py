"""What a session tells becomes a run of its own. Sessions of before have none, and are dropped."""

import django.db.models.deletion
from django.db import migrations, models


def drop_sessions(apps, schema_editor):
    apps.get_model("extenders", "ExtenderSession").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("extenders", "0002_whole_nodes"),
        ("runs", "0004_observed"),
    ]

    operations = [
        migrations.RunPython(drop_sessions, migrations.RunPython.noop),
        migrations.DeleteModel(name="ExtenderRequest"),
        migrations.RemoveField(model_name="extendersession", name="workspace"),
        migrations.RemoveField(model_name="extendersession", name="name"),
        migrations.AddField(
            model_name="extendersession",
            name="run",
            field=models.OneToOneField(
                default=None,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="extender_session",
                to="runs.run",
            ),
            preserve_default=False,
        ),
    ]
