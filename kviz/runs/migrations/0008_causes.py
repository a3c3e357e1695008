"""Pending pods keep their owner, and the sentence with values that says why they are pending."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0007_release_and_rules")]

    operations = [
        migrations.AddField(
            model_name="podoutcome",
            name="owner",
            field=models.CharField(blank=True, db_default="", default="", max_length=512),
        ),
        migrations.AddField(
            model_name="podoutcome", name="lead", field=models.JSONField(null=True)
        ),
    ]
