-- Kind and id of what is made of some memories, these included: merges, insights, plans, proposals.
WITH RECURSIVE made AS (
    SELECT unnest({memories}::text[]) AS id
    UNION
    SELECT r.from_memory_id::text FROM made JOIN memories_relation AS r ON r.to_memory_id = made.id AND r.type = {made}
)
SELECT 'memories', made.id FROM made
UNION ALL
SELECT 'proposals', p.id::text FROM made JOIN memories_proposal AS p ON p.memory_id = made.id
UNION ALL
SELECT 'plan_items', s.item_id::text FROM made JOIN memories_memoryplansource AS s ON s.memory_id = made.id
UNION ALL
SELECT 'plan_items', i.id::text FROM made JOIN memories_memoryplanitem AS i ON i.merged_id = made.id
