from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Searches find the summaries that may be read in one index; jobs find those that wait to be written anew."""

    atomic = False

    dependencies = [("conversations", "0005_withheld")]

    operations = [
        AddIndexConcurrently(
            model_name="conversationchunk",
            index=models.Index(
                fields=["user", "legacy", "embedding_model"],
                include=["id", "conversation", "search_config", "embedding"],
                condition=Q(private=False, hidden_since__isnull=True),
                name="chunk_readable_vectors",
            ),
        ),
        AddIndexConcurrently(
            model_name="conversationchunk",
            index=models.Index(
                fields=["hidden_since"], condition=Q(hidden_since__isnull=False), name="chunk_to_be_written_anew"
            ),
        ),
        RemoveIndexConcurrently(model_name="conversationchunk", name="chunk_vectors"),
    ]
