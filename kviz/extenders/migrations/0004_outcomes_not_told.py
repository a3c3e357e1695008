"""Sessions begun before say, too, that their outcomes are not told."""

from django.db import migrations


def mark(apps, schema_editor):
    sessions = apps.get_model("extenders", "ExtenderSession").objects
    runs = sessions.values_list("run_id", flat=True)
    apps.get_model("runs", "Run").objects.filter(pk__in=list(runs)).update(outcomes_told=False)


class Migration(migrations.Migration):
    dependencies = [
        ("extenders", "0003_sessions_are_runs"),
        ("runs", "0015_outcomes_told"),
    ]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
