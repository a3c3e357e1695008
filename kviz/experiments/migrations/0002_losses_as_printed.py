"""Ask again what survives: a result has all names now, and a stored one has some of them only."""

from django.db import migrations


def ask_again(apps, schema_editor):
    experiments = apps.get_model("experiments", "Experiment").objects.filter(kind="survive")
    apps.get_model("experiments", "Result").objects.filter(experiment__in=experiments).delete()
    experiments.update(n_done=0, answer=None)
    experiments.filter(status__in=("running", "finished")).update(
        status="queued", claimed_by="", claims=0, heartbeat_at=None, finished_at=None
    )


class Migration(migrations.Migration):
    dependencies = [("experiments", "0001_initial")]
    operations = [migrations.RunPython(ask_again, migrations.RunPython.noop)]
