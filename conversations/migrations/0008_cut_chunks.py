from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """The sweep finds the summaries that were cut."""

    atomic = False

    dependencies = [("conversations", "0007_told_by_whom")]

    operations = [
        AddIndexConcurrently(
            model_name="conversationchunk",
            index=models.Index(fields=["conversation"], condition=Q(is_cut=True), name="chunk_that_is_cut"),
        ),
    ]
