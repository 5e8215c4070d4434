import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    """Words that people take out of the record have a table; summaries of them are hidden until written anew."""

    dependencies = [
        ("conversations", "0004_memory_off_is_not_recalled"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Withheld",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("object_type", models.CharField(max_length=60)),
                ("object_id", models.CharField(max_length=36)),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                (
                    "cause_type",
                    models.CharField(
                        choices=[
                            ("memory", "Memory"),
                            ("fact", "Fact"),
                            ("proposal", "Proposal"),
                            ("message", "Message"),
                        ],
                        max_length=10,
                    ),
                ),
                ("cause_id", models.CharField(max_length=36)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("erase_at", models.DateTimeField()),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="conversations.message"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "-created_at"], name="withheld_by_user"),
                    models.Index(fields=["user", "cause_type", "cause_id"], name="withheld_by_cause"),
                    models.Index(fields=["erase_at"], condition=~Q(text=""), name="withheld_to_be_erased"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["object_type", "object_id", "start", "end", "cause_type", "cause_id"],
                        name="withheld_once",
                    ),
                    models.CheckConstraint(condition=Q(end__gt=F("start")), name="withheld_not_empty"),
                    models.CheckConstraint(
                        condition=Q(cause_type__in=["memory", "fact", "proposal", "message"]), name="withheld_cause"
                    ),
                ],
            },
        ),
        migrations.AddField(model_name="conversationchunk", name="hidden_since", field=models.DateTimeField(null=True)),
    ]
