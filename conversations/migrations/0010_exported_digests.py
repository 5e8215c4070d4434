"""Withheld passages that came with an export keep the id by which their digests are keyed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0009_checkpoints")]

    operations = [
        migrations.AddField(
            model_name="withheld",
            name="keyed_by",
            field=models.UUIDField(editable=False, null=True),
        ),
    ]
