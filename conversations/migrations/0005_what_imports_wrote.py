from django.db import migrations, models

# Of what is there already, what was stored before its import ended came with it; a worker that was told to stop wrote
# the conversation that it was at to its end.
NOTE_WHAT_CAME = """
UPDATE conversations_conversation c
SET brought_messages = (
    SELECT count(*) FROM conversations_message m
    WHERE m.conversation_id = c.id AND (i.ended_at IS NULL OR m.created_at <= i.ended_at + interval '1 minute')
)
FROM conversations_conversationimport i
WHERE i.id = c.brought_by_id
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0004_imports")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="brought_messages",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.RunSQL(NOTE_WHAT_CAME, migrations.RunSQL.noop),
    ]
