from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0015_brought_by")]

    operations = [
        AddIndexConcurrently(
            "memory",
            models.Index(
                fields=["user", "created_at"],
                condition=Q(state="active") & (Q(reviewed_at__isnull=True) | Q(needs_check=True)),
                name="memory_to_review",
            ),
        ),
    ]
