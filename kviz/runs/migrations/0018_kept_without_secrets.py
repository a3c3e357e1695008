from django.db import migrations

from kviz.without_secrets import plain_without_secrets, without_secrets


def write_over(apps, schema_editor):
    """Write over the secrets in what was typed for runs before kviz did so itself."""
    Run = apps.get_model("runs", "Run")
    runs = Run.objects.only("scheduler_config", "scenario", "changes")
    for run in runs.iterator(chunk_size=200):
        kept = {
            "scheduler_config": without_secrets(run.scheduler_config),
            "scenario": without_secrets(run.scenario),
            "changes": [
                {**each, "change": plain_without_secrets(each["change"])} for each in run.changes
            ],
        }
        if any(getattr(run, name) != value for name, value in kept.items()):
            Run.objects.filter(pk=run.pk).update(**kept)


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0017_share_links'),
    ]

    operations = [
        migrations.RunPython(write_over, migrations.RunPython.noop),
    ]
