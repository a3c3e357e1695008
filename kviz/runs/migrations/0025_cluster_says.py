"""A pod of a run keeps what its cluster said of it, beside what the run says."""

from django.db import migrations

from kviz.common.said_field import SaidField


class Migration(migrations.Migration):
    dependencies = (("runs", "0024_release_told"),)

    operations = (migrations.AddField("podoutcome", "cluster_says", SaidField(null=True)),)
