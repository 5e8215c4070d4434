"""``manage.py audit``: check the invariants of the stored rows."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

SHOWN = 5

_VERSIONS = """
    SELECT s.id, s.version, count(v.id) FROM {table} s LEFT JOIN {versions} v ON v.{key} = s.id
    GROUP BY s.id
    HAVING count(v.id) <> s.version OR min(v.number) <> 1 OR max(v.number) <> s.version
        OR count(*) FILTER (WHERE v.recorded_to IS NULL) <> 1
        OR max(v.number) FILTER (WHERE v.recorded_to IS NULL) <> s.version
"""

INVARIANTS = {
    "the revisions of a ledger have a hole": """
        SELECT l.id, l.rev, count(c.id) FROM journal_ledger l LEFT JOIN journal_change c ON c.ledger_id = l.id
        GROUP BY l.id HAVING l.rev <> count(c.id) OR l.rev <> coalesce(max(c.rev), 0)
    """,
    "the versions of a memory have a hole": _VERSIONS.format(
        table="memories_memory", versions="memories_memoryversion", key="memory_id"
    ),
    "the versions of a fact have a hole": _VERSIONS.format(
        table="facts_legacyfact", versions="facts_factversion", key="fact_id"
    ),
    "a person's ledger does not count what was said": """
        SELECT l.id, l.turns, m.n, l.chunks, k.n FROM journal_ledger l
        CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(search_length), 0) AS terms
                            FROM conversations_message WHERE user_id = l.id) m
        CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(search_length), 0) AS terms
                            FROM conversations_conversationchunk WHERE user_id = l.id) k
        WHERE l.kind = 'user'
            AND (l.turns, l.turn_terms, l.chunks, l.chunk_terms) IS DISTINCT FROM (m.n, m.terms, k.n, k.terms)
    """,
    "a person's ledger does not count what is remembered": """
        SELECT l.id, l.memories, n.n, l.block_tokens, n.tokens + p.tokens FROM journal_ledger l
        CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(search_length), 0) AS terms,
                                   coalesce(sum(tokens) FILTER (WHERE in_block), 0) AS tokens
                            FROM memories_memory WHERE user_id = l.id AND state = 'active') n
        CROSS JOIN LATERAL (SELECT coalesce(sum(tokens), 0) AS tokens
                            FROM memories_place WHERE user_id = l.id AND deleted_at IS NULL) p
        WHERE l.kind = 'user'
            AND (l.memories, l.memory_terms, l.block_tokens) IS DISTINCT FROM (n.n, n.terms, n.tokens + p.tokens)
    """,
    "a legacy's ledger does not count its facts": """
        SELECT l.id, l.facts, f.n FROM journal_ledger l
        CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(search_length), 0) AS terms
                            FROM facts_legacyfact WHERE legacy_id = l.id AND state = 'active') f
        WHERE l.kind = 'legacy' AND (l.facts, l.fact_terms) IS DISTINCT FROM (f.n, f.terms)
    """,
    "a conversation's messages have a hole": """
        SELECT c.id, c.message_count, count(m.id) FROM conversations_conversation c
        LEFT JOIN conversations_message m ON m.conversation_id = c.id
        GROUP BY c.id
        HAVING c.message_count <> count(m.id) OR count(DISTINCT m.index) <> count(m.id)
            OR (count(m.id) > 0 AND (min(m.index) <> 0 OR max(m.index) <> count(m.id) - 1))
    """,
    "summaries do not cover what was summarised once": """
        SELECT c.id, c.summarized_upto FROM conversations_conversation c
        LEFT JOIN conversations_conversationchunk k ON k.conversation_id = c.id
        GROUP BY c.id
        HAVING coalesce(sum(k.message_range_end - k.message_range_start), 0) <> c.summarized_upto
            OR coalesce(min(k.message_range_start), 0) <> 0
            OR coalesce(max(k.message_range_end), 0) <> c.summarized_upto
    """,
    "a memory's vector is not that of its current version": """
        SELECT m.id FROM memories_memory m JOIN memories_memoryversion v ON v.memory_id = m.id AND v.number = m.version
        WHERE m.content = v.content AND m.embedding_model = v.embedding_model
            AND m.embedding::text IS DISTINCT FROM v.embedding::text
    """,
    "a vector stands without a text": """
        SELECT id FROM memories_memory WHERE content = '' AND embedding IS NOT NULL
        UNION ALL SELECT memory_id FROM memories_memoryversion WHERE content = '[erased]' AND embedding IS NOT NULL
    """,
    "a suppression holds more than hashes and a vector": """
        SELECT column_name FROM information_schema.columns
        WHERE table_name = 'memories_tombstone' AND data_type IN ('text', 'character varying', 'json', 'jsonb')
            AND column_name NOT IN ('fingerprint', 'object_id', 'embedding_model', 'traces')
        UNION ALL SELECT id::text FROM memories_tombstone WHERE fingerprint !~ '^[0-9a-f]{64}$'
            OR traces <> '' AND traces !~ '^(([nvarNfko=!][0-9a-f]{8}|[-@])( |$))+$'
    """,
    "a merge of a plan was done twice": """
        SELECT merged_id, count(*) FROM memories_memoryplanitem WHERE merged_id IS NOT NULL
        GROUP BY merged_id HAVING count(*) > 1
    """,
}


class Command(BaseCommand):
    """Check the invariants, read-only."""

    help = (
        "Check that revisions and versions have no holes, that ledgers equal a recount, that summaries cover what they "
        "sum up once, that no vector is orphaned and that suppressions hold no text. Ends with an error where one "
        "does not hold. Prints ids, never a text. On a large database it takes a while: run it on a replica."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run all checks on one state of the database. Raises CommandError (exit code 1)."""
        broken = []
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SET LOCAL statement_timeout = 0")
            for name, sql in INVARIANTS.items():
                cursor.execute(sql)
                if rows := cursor.fetchall():
                    broken.append(name)
                    self.stdout.write(f"{name}: {len(rows)}")
                    for row in rows[:SHOWN]:
                        self.stdout.write("  " + " ".join(map(str, row)))
        if broken:
            raise CommandError(f"{len(broken)} of {len(INVARIANTS)} checks failed.")
        self.stdout.write(f"{len(INVARIANTS)} checks hold.")
