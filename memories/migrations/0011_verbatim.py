from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Length
from django.db.models.lookups import Range

LENGTH = models.CheckConstraint(
    condition=Q(
        Range(Length("content"), (5, 500)),
        Q(("kind", "procedural"), Range(Length("content"), (5, 4_000))),
        Q(("verbatim", True), Range(Length("content"), (1, 4_000))),
        _connector="OR",
    ),
    name="memory_content_length",
)


class Migration(migrations.Migration):
    """What is kept byte for byte may have any length up to 4,000 characters. Taking it back needs none that is longer."""

    allowed = {"ban-drop-constraint": "its successor, which holds for every row that it held for, is added with it"}
    dependencies = [("memories", "0010_compared_pairs")]

    operations = [
        migrations.AddField("memory", "verbatim", models.BooleanField(db_default=False, default=False)),
        migrations.RemoveConstraint("memory", "memory_content_length"),
        AddConstraintNotValid("memory", LENGTH),
    ]
