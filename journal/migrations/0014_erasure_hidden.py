from django.db import migrations, models


class Migration(migrations.Migration):
    """What waits for its erasure is hidden from agents, and shown again by undoing these revisions."""

    dependencies = [("journal", "0013_erased_category")]

    operations = [
        migrations.AddField("erasure", "hidden", models.JSONField(db_default=[], default=list)),
    ]
