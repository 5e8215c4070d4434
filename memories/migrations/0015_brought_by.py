from django.db import migrations, models

# What an import of mem0's brought is found through the few such imports, so no table is read as a whole.
_MARKED = """
UPDATE memories_memory m SET brought_by = i.id, metadata = m.metadata - 'keepsake_import'
FROM conversations_conversationimport i
WHERE i.form = 'mem0' AND m.user_id = i.user_id AND m.metadata ->> 'keepsake_import' = i.id::text
"""
_MARK = """
UPDATE memories_memory SET metadata = metadata || jsonb_build_object('keepsake_import', brought_by::text)
WHERE brought_by IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0014_webhooks"), ("conversations", "0001_initial")]

    operations = [
        migrations.AddField("memory", "brought_by", models.UUIDField(editable=False, null=True)),
        migrations.AddField("webhook", "rotated_at", models.DateTimeField(null=True)),
        migrations.AddField("webhook", "secret_number", models.PositiveIntegerField(db_default=0, default=0)),
        migrations.RunSQL(_MARKED, _MARK),
    ]
