"""What clients keep beside a memory. A constant default, so that no row of a large table is written anew."""

from importlib import import_module

from django.db import migrations, models

BEFORE = import_module("memories.migrations.0008_said_at").GUARDED
GUARDED = BEFORE
for row in ("NEW", "OLD"):
    GUARDED = GUARDED.replace(f"{row}.valid_from, ", f"{row}.valid_from, {row}.metadata, ")


class Migration(migrations.Migration):
    dependencies = [("memories", "0008_said_at")]

    operations = [
        migrations.AddField("memory", "metadata", models.JSONField(blank=True, db_default={}, default=dict)),
        migrations.AddField("memoryversion", "metadata", models.JSONField(blank=True, db_default={}, default=dict)),
        migrations.RunSQL(GUARDED, BEFORE),
    ]
