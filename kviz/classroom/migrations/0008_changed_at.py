# ruff: noqa: RUF012

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("classroom", "0007_proposal"),
    ]

    operations = [
        migrations.AddField(
            model_name="room",
            name="changed_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
    ]
