"""What has to be true of the stored rows whatever was killed, lost or done twice: SQL that finds what is not."""

INVARIANTS = {
    "a conversation's count is not its messages, or an index is missing or twice": """
        SELECT c.id, c.message_count, count(m.id), min(m.index), max(m.index)
        FROM conversations_conversation c LEFT JOIN conversations_message m ON m.conversation_id = c.id
        GROUP BY c.id
        HAVING c.message_count <> count(m.id) OR count(DISTINCT m.index) <> count(m.id)
            OR (count(m.id) > 0 AND (min(m.index) <> 0 OR max(m.index) <> count(m.id) - 1))
    """,
    "chunks do not cover the summarised messages once each": """
        SELECT c.id, c.summarized_upto, array_agg((k.message_range_start, k.message_range_end)::text)
        FROM conversations_conversation c LEFT JOIN conversations_conversationchunk k ON k.conversation_id = c.id
        GROUP BY c.id
        HAVING coalesce(sum(k.message_range_end - k.message_range_start), 0) <> c.summarized_upto
            OR coalesce(min(k.message_range_start), 0) <> 0
            OR coalesce(max(k.message_range_end), 0) <> c.summarized_upto
    """,
    "a chunk is half written": """
        SELECT id FROM conversations_conversationchunk
        WHERE content = '' OR embedding IS NULL OR embedding_model = '' OR search_text = '' OR written_by = ''
    """,
    "a fact is there twice": """
        SELECT user_id, legacy_id, fingerprint, count(*) FROM facts_legacyfact
        GROUP BY user_id, legacy_id, fingerprint HAVING count(*) > 1
    """,
    "an extracted fact has no version, no vector, or no evidence from its own summarised messages": """
        SELECT f.id FROM facts_legacyfact f JOIN conversations_conversation c ON c.id = f.source_conversation_id
        WHERE f.embedding IS NULL OR f.source_index >= c.summarized_upto
            OR NOT EXISTS (SELECT FROM facts_factversion v WHERE v.fact_id = f.id AND v.number = 1)
            OR NOT EXISTS (SELECT FROM facts_factevidence e JOIN conversations_message m ON m.id = e.message_id
                           WHERE e.fact_id = f.id AND m.conversation_id = c.id AND m.index = f.source_index)
    """,
    "a person's ledger does not count what they have": """
        SELECT l.id, l.turns, l.turn_terms, l.chunks, l.chunk_terms, m, k FROM journal_ledger l
        CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(search_length), 0) AS terms
                            FROM conversations_message WHERE user_id = l.id) m
        CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(search_length), 0) AS terms
                            FROM conversations_conversationchunk WHERE user_id = l.id) k
        WHERE (l.turns, l.turn_terms, l.chunks, l.chunk_terms) IS DISTINCT FROM (m.n, m.terms, k.n, k.terms)
    """,
    "a legacy's ledger does not count its facts": """
        SELECT l.id, l.facts, l.fact_terms, f FROM journal_ledger l
        CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(search_length), 0) AS terms
                            FROM facts_legacyfact WHERE legacy_id = l.id AND state = 'active') f
        WHERE (l.facts, l.fact_terms) IS DISTINCT FROM (f.n, f.terms)
    """,
    "a memory is there twice": """
        SELECT user_id, kind, fingerprint, subject, count(*) FROM memories_memory
        WHERE state IN ('active', 'proposed') GROUP BY user_id, kind, fingerprint, subject HAVING count(*) > 1
    """,
    "a memory that was found has no current version, or no evidence from the conversation it was found in": """
        SELECT m.id FROM memories_memory m WHERE m.written_by <> '' AND m.source_conversation_id IS NOT NULL
            AND NOT EXISTS (SELECT FROM memories_memoryversion v
                            JOIN memories_memoryevidence e ON e.version_id = v.id
                            JOIN conversations_message said ON said.id = e.message_id
                            WHERE v.memory_id = m.id AND v.number = m.version AND said.role = 'user'
                              AND said.conversation_id = m.source_conversation_id)
    """,
    "a person's ledger does not count their memories": """
        SELECT l.id, l.memories, l.memory_terms, n FROM journal_ledger l
        CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(search_length), 0) AS terms
                            FROM memories_memory WHERE user_id = l.id AND state = 'active') n
        WHERE (l.memories, l.memory_terms) IS DISTINCT FROM (n.n, n.terms)
    """,
    "a ledger's changes have a hole": """
        SELECT l.id, l.rev, count(c.id) FROM journal_ledger l LEFT JOIN journal_change c ON c.ledger_id = l.id
        GROUP BY l.id HAVING l.rev <> count(c.id) OR l.rev <> coalesce(max(c.rev), 0)
    """,
}

UNFINISHED = {
    "messages wait for their vector": "SELECT id FROM conversations_message WHERE embedding IS NULL",
    "more messages wait to be summarised than may": """
        SELECT id, message_count, summarized_upto FROM conversations_conversation
        WHERE message_count - summarized_upto > 30 OR (finished_at IS NOT NULL AND message_count <> summarized_upto)
    """,
    "a job is held by nobody": "SELECT id, subject_id FROM journal_jobrun WHERE state = 'running'",
}


def faults(execute):
    """The invariants that are broken, each with the rows that break it. ``execute(sql)`` returns rows."""
    return {name: rows for name, sql in INVARIANTS.items() if (rows := execute(sql))}


def unfinished(execute):
    """What background work is still to be done, with the rows that wait for it."""
    return {name: rows for name, sql in UNFINISHED.items() if (rows := execute(sql))}
