-- Relates a memory to the similar ones given, in place of those that it had: returns these as (from, to, strength).
WITH gone AS (
    DELETE FROM memories_relation
    WHERE type = 'related_to' AND (from_memory_id = {memory}::text OR to_memory_id = {memory}::text)
    RETURNING from_memory_id, to_memory_id, strength
), made AS (
    INSERT INTO memories_relation (id, user_id, from_memory_id, to_memory_id, type, strength, created_at)
    SELECT gen_random_uuid(), {user}::uuid, {memory}::text, near.id, 'related_to', near.strength, {now}::timestamptz
    FROM unnest({related}::text[], {strengths}::float8[]) AS near (id, strength)
    -- After the deletion, since the same two may be related again.
    CROSS JOIN (SELECT count(*) AS number FROM gone) AS before
    WHERE before.number >= 0
)
SELECT from_memory_id, to_memory_id, strength FROM gone
