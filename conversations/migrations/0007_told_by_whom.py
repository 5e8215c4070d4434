"""Digests of withheld words outlive their message, cut summaries are marked, and a message says whose word it is."""

import django.db.models.deletion
from django.db import migrations, models

OUTLIVED = "DELETE FROM conversations_withheld WHERE message_id IS NULL OR conversation_id IS NULL"


def _of(model: str) -> models.ForeignKey:
    return models.ForeignKey(
        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=f"conversations.{model}"
    )


class Migration(migrations.Migration):
    dependencies = [("conversations", "0006_readable_chunks")]
    allowed = {"ban-drop-not-null": "the version that is still running deletes these rows with their message"}

    operations = [
        migrations.AlterField("withheld", "conversation", _of("conversation")),
        migrations.AlterField("withheld", "message", _of("message")),
        migrations.RunSQL("", OUTLIVED),
        migrations.AddField("conversationchunk", "is_cut", models.BooleanField(default=False, db_default=False)),
        migrations.AddField(
            "message",
            "voice",
            models.CharField(
                max_length=7, blank=True, choices=[("own", "Own"), ("relayed", "Relayed")], default="", db_default=""
            ),
        ),
    ]
