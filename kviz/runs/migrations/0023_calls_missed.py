from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0022_runs_of_an_older_kviz")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="calls_missed",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
