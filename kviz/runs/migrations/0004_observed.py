import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0003_run_paused"),
        ("snapshots", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="kind",
            field=models.CharField(
                choices=[("simulated", "Simulated"), ("observed", "Observed")],
                default="simulated",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="name",
            field=models.CharField(blank=True, default="", max_length=200),
        ),
        migrations.AlterField(
            model_name="run",
            name="snapshot",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="runs",
                to="snapshots.snapshot",
            ),
        ),
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
                    ("not_told", "Not Told"),
                ],
                max_length=16,
            ),
        ),
    ]
