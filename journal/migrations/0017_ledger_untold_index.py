from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """The sweep finds the legacies of which something was not told."""

    atomic = False
    dependencies = [("journal", "0016_ledger_untold")]

    operations = [
        AddIndexConcurrently(
            "ledger",
            models.Index(fields=["id"], condition=models.Q(("untold_from__isnull", False)), name="ledger_untold"),
        ),
    ]
