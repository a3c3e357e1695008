"""Other names in Python; columns keep theirs, so that an older version runs beside this."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("runs", "0025_cluster_says"),)

    operations = (
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField("run", "veiled_after", "hidden_after"),
                migrations.RenameField("run", "veiled_part", "known_part"),
                migrations.AlterField(
                    "run",
                    "hidden_after",
                    models.PositiveIntegerField(blank=True, db_column="veiled_after", null=True),
                ),
                migrations.AlterField(
                    "run",
                    "known_part",
                    models.CharField(
                        blank=True,
                        db_column="veiled_part",
                        db_default="",
                        default="",
                        max_length=500,
                    ),
                ),
            ],
        ),
    )
