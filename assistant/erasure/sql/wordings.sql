-- Kind, id and text of all wordings of what is erased, and of the earlier ones of the person's other memories and facts.
SELECT 'gone', v.id, v.content
FROM memories_memoryversion AS v
WHERE v.user_id = {user} AND v.memory_id = ANY({memories}::text[])
UNION ALL
SELECT 'gone', v.id, v.content
FROM memories_memoryversion AS v
WHERE v.user_id = {user} AND v.id = ANY({versions}::bigint[])
UNION ALL
SELECT 'gone', v.id, v.content
FROM facts_factversion AS v
JOIN facts_legacyfact AS f ON f.id = v.fact_id
WHERE f.user_id = {user} AND f.id = ANY({facts}::uuid[])
UNION ALL
SELECT 'alike', v.id, v.content
FROM memories_memoryversion AS v
WHERE v.user_id = {user} AND v.recorded_to IS NOT NULL AND NOT EXISTS (
    SELECT FROM unnest({memories}::text[]) AS gone (id) WHERE gone.id = v.memory_id)
UNION ALL
SELECT 'fact_versions', v.id, v.content
FROM facts_factversion AS v
JOIN facts_legacyfact AS f ON f.id = v.fact_id
WHERE f.user_id = {user} AND v.recorded_to IS NOT NULL AND NOT EXISTS (
    SELECT FROM unnest({facts}::uuid[]) AS gone (id) WHERE gone.id = f.id)
