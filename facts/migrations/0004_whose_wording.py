"""Say of each wording whose it is, so that bringing one back does not make it the author's own."""

from django.db import migrations, models

# What an author has reworded says no more who wrote it first; for what was extracted, the summary that came with it does.
FIRST = """
UPDATE facts_factversion v
SET written_by = CASE WHEN f.written_by <> '' OR v.actor_kind <> 'job' THEN f.written_by ELSE coalesce((
    SELECT c.written_by FROM conversations_conversationchunk c
    WHERE c.conversation_id = f.source_conversation_id
        AND f.source_index >= c.message_range_start AND f.source_index < c.message_range_end), '') END
FROM facts_legacyfact f
WHERE f.id = v.fact_id AND v.number = 1
"""
SAME_WORDS = """
UPDATE facts_factversion v
SET written_by = one.written_by
FROM facts_factversion one
WHERE one.fact_id = v.fact_id AND one.number = 1 AND v.number > 1 AND v.content = one.content AND one.written_by <> ''
"""


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0004_imports"),
        ("facts", "0003_quarantine_and_guards"),
    ]

    operations = [
        migrations.AddField(
            model_name="factversion",
            name="written_by",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
        migrations.RunSQL(FIRST, migrations.RunSQL.noop),
        migrations.RunSQL(SAME_WORDS, migrations.RunSQL.noop),
    ]
