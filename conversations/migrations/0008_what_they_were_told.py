from django.db import migrations, models

# Nobody was told anything so far: what a conversation's block does not hold is news from its first turn on.
START_HERE = """
UPDATE conversations_conversation AS c
SET seen_rev = COALESCE(c.block_rev, l.rev)
FROM journal_ledger AS l
WHERE l.id = c.user_id AND c.seen_rev = 0
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0007_messages_read_by_themselves"), ("journal", "0003_memory_counts")]

    operations = [
        migrations.AddField("conversation", "told_rev", models.BigIntegerField(default=0, db_default=0)),
        migrations.RunSQL(START_HERE, migrations.RunSQL.noop),
    ]
