from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Recall looks up in one index what it leaves out; what was said with memory switched off is among it."""

    atomic = False

    dependencies = [("conversations", "0003_pin_digests")]

    operations = [
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                fields=["user"],
                condition=Q(declined=True) | Q(held_until__isnull=False) | Q(memory_off=True),
                include=["id", "declined", "held_until", "memory_off"],
                name="message_not_recalled",
            ),
        ),
        RemoveIndexConcurrently(model_name="message", name="message_set_apart"),
    ]
