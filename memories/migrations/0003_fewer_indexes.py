"""Indexes that nothing reads, or that another one begins with, go; those of keys that may be empty hold what has them."""

from typing import Any

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


def dropped(table: str, name: str, column: str) -> migrations.RunSQL:
    """An index that Django makes by itself for a column, dropped without blocking anybody."""
    kind = " varchar_pattern_ops" if name.endswith("_like") else ""
    return migrations.RunSQL(
        f'DROP INDEX CONCURRENTLY IF EXISTS "{name}"',
        f'CREATE INDEX CONCURRENTLY IF NOT EXISTS "{name}" ON {table} ("{column}"{kind})',
    )


def key(to: str, related_name: str, **options: Any) -> Any:
    return models.ForeignKey(db_index=False, related_name=related_name, to=to, **options)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0002_guards")]

    operations = [
        AddIndexConcurrently(
            "memory", models.Index(fields=["agent"], condition=Q(agent__isnull=False), name="memory_by_agent")
        ),
        AddIndexConcurrently(
            "memoryversion",
            models.Index(
                fields=["source_conversation"],
                condition=Q(source_conversation__isnull=False),
                name="memory_version_by_conversation",
            ),
        ),
        # Nobody looks for the beginning of an id.
        dropped("memories_memory", "memories_memory_id_c7fe6bc9_like", "id"),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                dropped("memories_memory", "memories_memory_agent_id_ccb1bc48", "agent_id"),
                dropped(
                    "memories_memoryversion",
                    "memories_memoryversion_source_conversation_id_fcbf0ae9",
                    "source_conversation_id",
                ),
                dropped("memories_memoryevidence", "memories_memoryevidence_version_id_d5a8d461", "version_id"),
            ],
            state_operations=[
                migrations.AlterField(
                    "memory",
                    "agent",
                    key("accounts.agent", "memories", null=True, on_delete=django.db.models.deletion.SET_NULL),
                ),
                migrations.AlterField(
                    "memoryversion",
                    "source_conversation",
                    key("conversations.conversation", "+", null=True, on_delete=django.db.models.deletion.SET_NULL),
                ),
                migrations.AlterField(
                    "memoryevidence",
                    "version",
                    key("memories.memoryversion", "evidence", on_delete=django.db.models.deletion.CASCADE),
                ),
            ],
        ),
    ]
