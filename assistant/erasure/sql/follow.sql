-- Kind and id of what goes with messages, conversations, facts and proposals: all that has no other evidence.
WITH said AS MATERIALIZED (
    SELECT m.id FROM conversations_message AS m WHERE m.conversation_id = ANY({conversations}::uuid[])
    UNION
    SELECT unnest({messages}::uuid[])
),
resting AS MATERIALIZED (
    SELECT
        e.version_id, v.memory_id, v.number = m.version AS is_current, m.kind,
        NOT EXISTS (
            SELECT FROM memories_memoryevidence AS o
            WHERE o.version_id = e.version_id AND o.message_id NOT IN (SELECT said.id FROM said)
        ) AS is_alone
    FROM said
    JOIN memories_memoryevidence AS e ON e.message_id = said.id
    JOIN memories_memoryversion AS v ON v.id = e.version_id
    JOIN memories_memory AS m ON m.id = v.memory_id
),
-- What was learned from whole conversations, without a source message.
unsaid AS MATERIALIZED (
    SELECT v.id, v.memory_id, v.number = m.version AS is_current
    FROM memories_memoryversion AS v
    JOIN memories_memory AS m ON m.id = v.memory_id
    WHERE v.source_conversation_id = ANY({conversations}::uuid[])
      AND NOT EXISTS (SELECT FROM memories_memoryevidence AS o WHERE o.version_id = v.id)
),
facts AS MATERIALIZED (
    SELECT unnest({facts}::uuid[]) AS id
    UNION
    SELECT e.fact_id
    FROM said
    JOIN facts_factevidence AS e ON e.message_id = said.id
    WHERE NOT EXISTS (
        SELECT FROM facts_factevidence AS o
        WHERE o.fact_id = e.fact_id AND o.message_id NOT IN (SELECT said.id FROM said)
    )
    UNION
    SELECT f.id
    FROM facts_legacyfact AS f
    WHERE f.source_conversation_id = ANY({conversations}::uuid[])
      AND NOT EXISTS (SELECT FROM facts_factevidence AS o WHERE o.fact_id = f.id)
),
proposed AS MATERIALIZED (
    SELECT unnest({proposals}::uuid[]) AS id
    UNION
    SELECT e.proposal_id FROM said JOIN memories_proposalevidence AS e ON e.message_id = said.id
)
SELECT 'messages', said.id::text FROM said
UNION ALL
SELECT 'versions', r.version_id::text FROM resting AS r WHERE r.is_alone
UNION ALL
-- The text of these is based on many messages and can't be split.
SELECT 'memories', r.memory_id FROM resting AS r WHERE r.kind = ANY({whole}::text[]) OR (r.is_alone AND r.is_current)
UNION ALL
SELECT 'versions', u.id::text FROM unsaid AS u
UNION ALL
SELECT 'memories', u.memory_id FROM unsaid AS u WHERE u.is_current
UNION ALL
SELECT 'facts', f.id::text FROM facts AS f
UNION ALL
SELECT 'proposals', p.id::text FROM proposed AS p
UNION ALL
SELECT 'proposals', p.id::text
FROM memories_proposal AS p
WHERE p.source_conversation_id = ANY({conversations}::uuid[])
UNION ALL
-- The text of a create is in its memory.
SELECT 'memories', m.id
FROM proposed
JOIN memories_proposal AS p ON p.id = proposed.id AND p.kind = 'create'
JOIN memories_memory AS m ON m.id = p.memory_id AND m.state = 'proposed'
UNION ALL
SELECT 'places', e.place_id::text
FROM said
JOIN memories_placemention AS e ON e.message_id = said.id
WHERE NOT EXISTS (
    SELECT FROM memories_placemention AS o
    WHERE o.place_id = e.place_id AND o.message_id NOT IN (SELECT said.id FROM said)
)
UNION ALL
SELECT 'legacies', f.legacy_id::text
FROM facts_legacyfact AS f
WHERE f.id IN (
    SELECT facts.id FROM facts
    UNION ALL
    SELECT e.fact_id FROM said JOIN facts_factevidence AS e ON e.message_id = said.id
)
