from django.db import migrations

from kviz.without_secrets import plain_without_secrets, without_secrets

TEXTS = ("scheduler_config", "scenario", "manifest")


def kept(value, name=""):
    """The same value without secrets, those in texts among them."""
    if isinstance(value, dict):
        return plain_without_secrets({each: kept(of, each) for each, of in value.items()})
    if isinstance(value, list):
        return [kept(item) for item in value]
    return without_secrets(value) if name in TEXTS and isinstance(value, str) else value


def write_over(apps, schema_editor):
    """Write over the secrets in what was typed for experiments before kviz did so itself."""
    Experiment = apps.get_model("experiments", "Experiment")
    for experiment in Experiment.objects.only("inputs", "asked").iterator(chunk_size=200):
        inputs, asked = kept(experiment.inputs), kept(experiment.asked)
        if (inputs, asked) != (experiment.inputs, experiment.asked):
            Experiment.objects.filter(pk=experiment.pk).update(inputs=inputs, asked=asked)


class Migration(migrations.Migration):

    dependencies = [
        ('experiments', '0006_by_itself'),
    ]

    operations = [
        migrations.RunPython(write_over, migrations.RunPython.noop),
    ]
