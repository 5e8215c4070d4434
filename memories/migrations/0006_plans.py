"""Plans to say memories in fewer. Composite keys, which models can't declare, keep each within one person."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


COMPOSITE_KEYS = """
ALTER TABLE memories_memoryplanitem ADD CONSTRAINT memory_plan_item_of_plan_and_user
    FOREIGN KEY (user_id, plan_id) REFERENCES memories_memoryplan (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_memoryplanitem ADD CONSTRAINT memory_plan_item_merged_of_user
    FOREIGN KEY (user_id, merged_id) REFERENCES memories_memory (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_memoryplansource ADD CONSTRAINT memory_plan_source_of_item_and_user
    FOREIGN KEY (user_id, item_id) REFERENCES memories_memoryplanitem (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_memoryplansource ADD CONSTRAINT memory_plan_source_memory_of_user
    FOREIGN KEY (user_id, memory_id) REFERENCES memories_memory (user_id, id) DEFERRABLE INITIALLY DEFERRED;
"""
NO_COMPOSITE_KEYS = """
ALTER TABLE memories_memoryplansource DROP CONSTRAINT memory_plan_source_memory_of_user;
ALTER TABLE memories_memoryplansource DROP CONSTRAINT memory_plan_source_of_item_and_user;
ALTER TABLE memories_memoryplanitem DROP CONSTRAINT memory_plan_item_merged_of_user;
ALTER TABLE memories_memoryplanitem DROP CONSTRAINT memory_plan_item_of_plan_and_user;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_preferences_version"),
        ("memories", "0005_reopening"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="MemoryPlan",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("strategy", models.CharField(max_length=40)),
                (
                    "categories",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=50), null=True, size=None
                    ),
                ),
                ("pinned", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("making", "Making"),
                            ("preview", "Preview"),
                            ("applied", "Applied"),
                            ("reverted", "Reverted"),
                            ("discarded", "Discarded"),
                            ("lapsed", "Lapsed"),
                        ],
                        default="making",
                        max_length=10,
                    ),
                ),
                (
                    "looked_at",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=8), default=list, size=None
                    ),
                ),
                ("left_over", models.PositiveIntegerField(default=0)),
                ("written_by", models.CharField(blank=True, max_length=80)),
                ("applied_rev", models.BigIntegerField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "agent",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.agent"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memory_plans",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MemoryPlanItem",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("semantic", "Semantic"),
                            ("episodic", "Episodic"),
                            ("insight", "Insight"),
                            ("procedural", "Procedural"),
                        ],
                        max_length=10,
                    ),
                ),
                ("category", models.CharField(max_length=50)),
                ("subject", models.CharField(blank=True, max_length=200)),
                (
                    "topics",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=50), blank=True, default=list, size=None
                    ),
                ),
                ("content", models.CharField(blank=True, max_length=500)),
                ("importance", models.PositiveSmallIntegerField()),
                ("tokens_before", models.PositiveIntegerField()),
                ("tokens_after", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("applied", "Applied"),
                            ("skipped", "Skipped"),
                            ("reverted", "Reverted"),
                            ("kept", "Kept"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("changed", "Changed"),
                            ("gone", "Gone"),
                            ("similar_exists", "Similar Exists"),
                            ("rejected_before", "Rejected Before"),
                            ("merged_changed", "Merged Changed"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "merged",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="memories.memory"
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="memories.memoryplan",
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
        ),
        migrations.CreateModel(
            name="MemoryPlanSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("version", models.PositiveIntegerField()),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sources",
                        to="memories.memoryplanitem",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="memories.memory"
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
        ),
        migrations.AddIndex(
            model_name="memoryplan",
            index=models.Index(fields=["user", "-created_at"], name="memory_plan_by_user"),
        ),
        migrations.AddIndex(
            model_name="memoryplan",
            index=models.Index(
                condition=models.Q(("state__in", ["making", "preview"])),
                fields=["expires_at"],
                name="memory_plan_by_expiry",
            ),
        ),
        migrations.AddIndex(
            model_name="memoryplan",
            index=models.Index(
                condition=models.Q(("decided_at__isnull", False)), fields=["decided_at"], name="memory_plan_by_decision"
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryplan",
            constraint=models.UniqueConstraint(fields=("user", "id"), name="memory_plan_of_user"),
        ),
        migrations.AddConstraint(
            model_name="memoryplan",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["making", "preview"])),
                fields=("user", "agent"),
                name="memory_plan_open_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryplan",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at__isnull", True), ("state__in", ["making", "preview"])),
                    models.Q(
                        ("decided_at__isnull", False), ("state__in", ["applied", "reverted", "discarded", "lapsed"])
                    ),
                    _connector="OR",
                ),
                name="memory_plan_decided_means_dated",
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryplan",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("applied_rev__isnull", False), ("state__in", ["applied", "reverted"])),
                    models.Q(
                        models.Q(("state__in", ["applied", "reverted"]), _negated=True), ("applied_rev__isnull", True)
                    ),
                    _connector="OR",
                ),
                name="memory_plan_applied_means_since",
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryplanitem",
            constraint=models.UniqueConstraint(fields=("plan", "position"), name="memory_plan_item_once"),
        ),
        migrations.AddConstraint(
            model_name="memoryplanitem",
            constraint=models.UniqueConstraint(fields=("user", "id"), name="memory_plan_item_of_user"),
        ),
        migrations.AddConstraint(
            model_name="memoryplanitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "waiting"), models.Q(("content", ""), _negated=True)),
                    models.Q(
                        models.Q(("state", "waiting"), _negated=True), ("content", ""), ("subject", ""), ("topics", [])
                    ),
                    _connector="OR",
                ),
                name="memory_plan_item_ended_holds_no_text",
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryplanitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("state__in", ["applied", "reverted", "kept"]), ("merged__isnull", True), _connector="OR"
                ),
                name="memory_plan_item_merged_means_applied",
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryplanitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["skipped", "kept"]), models.Q(("reason", ""), _negated=True)),
                    models.Q(models.Q(("state__in", ["skipped", "kept"]), _negated=True), ("reason", "")),
                    _connector="OR",
                ),
                name="memory_plan_item_left_means_why",
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryplanitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("tokens_after__lt", models.F("tokens_before"))), name="memory_plan_item_costs_less"
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryplansource",
            constraint=models.UniqueConstraint(fields=("item", "position"), name="memory_plan_source_once"),
        ),
        migrations.AddConstraint(
            model_name="memoryplansource",
            constraint=models.UniqueConstraint(fields=("item", "memory"), name="memory_plan_source_memory_once"),
        ),
        migrations.RunSQL(COMPOSITE_KEYS, NO_COMPOSITE_KEYS),
    ]
