from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.fields.json import KeyTextTransform


class Migration(migrations.Migration):
    """An erasure finds the memberships of a person in the logs of all legacies, also of those that they left."""

    atomic = False
    dependencies = [("journal", "0014_erasure_hidden")]

    operations = [
        AddIndexConcurrently(
            "change",
            models.Index(
                KeyTextTransform("user", "meta"),
                condition=models.Q(("object_type", "member")),
                name="change_by_member",
            ),
        ),
    ]
