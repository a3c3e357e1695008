import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


def keep_links(apps, schema_editor):
    """Let the tokens there are open their runs as before."""
    Run = apps.get_model("runs", "Run")
    ShareLink = apps.get_model("runs", "ShareLink")
    shared = Run.objects.exclude(share_token="").values_list("pk", "share_token")
    now = timezone.now()
    ShareLink.objects.bulk_create(
        [ShareLink(run_id=run, token=token, created_at=now) for run, token in shared]
    )


def give_back(apps, schema_editor):
    """Give a run the token of a link that still opens it."""
    ShareLink = apps.get_model("runs", "ShareLink")
    Run = apps.get_model("runs", "Run")
    for link in ShareLink.objects.filter(revoked_at=None, expires_at=None):
        Run.objects.filter(pk=link.run_id).update(share_token=link.token)


class Migration(migrations.Migration):
    """The column stays: an older version that still serves beside this one reads it."""

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('runs', '0016_veiled_part'),
    ]

    operations = [
        migrations.CreateModel(
            name='ShareLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('opened_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('made_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='runs.run')),
            ],
            options={
                'ordering': ('-created_at', '-id'),
            },
        ),
        migrations.RunPython(keep_links, give_back),
        migrations.AlterField(
            model_name='run',
            name='share_token',
            field=models.CharField(blank=True, db_default='', db_index=True, default='', max_length=64),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField(model_name='run', name='share_token')],
        ),
    ]
