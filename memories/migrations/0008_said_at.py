"""When something was said, beside when it was recorded. What is remembered already keeps the latter."""

from importlib import import_module

from django.db import migrations, models

_ERASED = import_module("memories.migrations.0007_erased_versions")
FUNCTION = _ERASED.FUNCTION.replace(_ERASED.BEFORE_UPDATES, _ERASED.ERASING + _ERASED.BEFORE_UPDATES)
GUARDED = FUNCTION
for row in ("NEW", "OLD"):
    GUARDED = GUARDED.replace(f"{row}.valid_from, ", f"{row}.valid_from, {row}.said_at, ")


class Migration(migrations.Migration):
    dependencies = [("memories", "0007_erased_versions")]

    operations = [
        migrations.AddField("memory", "said_at", models.DateTimeField(null=True)),
        migrations.AddField("memoryversion", "said_at", models.DateTimeField(null=True)),
        migrations.RunSQL(GUARDED, FUNCTION),
    ]
