"""Replies by several models: which they were."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    allowed = {"ban-drop-constraint": "its successor, which holds for every row that it held for, is added with it"}
    dependencies = [("assistant", "0002_what_replies_were_shown")]

    operations = [
        migrations.AddField(
            "reply", "council", ArrayField(models.CharField(max_length=80), default=list, db_default=[])
        ),
        migrations.AlterField(
            "reply",
            "mode",
            models.CharField(choices=[("agent", "Agent"), ("chat", "Chat"), ("council", "Council")], max_length=10),
        ),
        AddConstraintNotValid(
            "reply",
            models.CheckConstraint(
                condition=models.Q(mode__in=["agent", "chat", "council"]), name="reply_mode_is_known"
            ),
        ),
        migrations.RemoveConstraint("reply", "reply_mode_known"),
    ]
