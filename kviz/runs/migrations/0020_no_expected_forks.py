from django.db import migrations


class Migration(migrations.Migration):
    """Variants are simulated from their beginning (ADR 0056): nothing is prepared for them."""

    dependencies = [("runs", "0019_sentences_by_id")]

    operations = [migrations.DeleteModel(name="ExpectedFork")]
