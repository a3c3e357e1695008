from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="IdleWorker",
            fields=[
                ("name", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("looked_at", models.DateTimeField()),
            ],
        ),
    ]
