-- Relates memories of one person to the nearest present ones of their kind, each pair once, whichever way round; and
-- says of each that has one how near its nearest is and what it was related to here. The person's vectors are read
-- once for all of them, and the comparison is exact: nothing has an index on what was read. What can be compared has one
-- number, a shelf, which is tested for every pair in half the time that kind and model take.
WITH present AS MATERIALIZED (
    SELECT id, dense_rank() OVER (ORDER BY kind, embedding_model) AS shelf, embedding
    FROM memories_memory
    WHERE user_id = %(user)s::uuid AND state IN ('active', 'proposed', 'quarantined') AND embedding IS NOT NULL
), near AS (
    SELECT given.id, named.position, nearest.id AS other, nearest.similarity
    FROM unnest(%(ids)s::text[]) WITH ORDINALITY AS named (id, position)
    JOIN present AS given ON given.id = named.id
    CROSS JOIN LATERAL (
        SELECT compared.id, compared.similarity
        FROM (
            -- The "OFFSET 0" keeps what compares vectors from being done once more for each that is near enough.
            SELECT present.id, 1 - (present.embedding <=> given.embedding) AS similarity
            FROM present
            WHERE present.shelf = given.shelf
            OFFSET 0
        ) AS compared
        WHERE compared.similarity >= %(at_least)s AND compared.id <> given.id
        ORDER BY compared.similarity DESC, compared.id
        LIMIT %(links)s
    ) AS nearest
), pairs AS (
    -- Of two that are near to each other the later one is the end that the relation starts from.
    SELECT DISTINCT ON (least(id, other), greatest(id, other)) id, other, similarity
    FROM near
    WHERE NOT EXISTS (SELECT FROM memories_relation WHERE from_memory_id = near.id AND to_memory_id = near.other)
      AND NOT EXISTS (SELECT FROM memories_relation WHERE from_memory_id = near.other AND to_memory_id = near.id)
    ORDER BY least(id, other), greatest(id, other), position DESC
), made AS (
    INSERT INTO memories_relation (id, user_id, from_memory_id, to_memory_id, type, strength, created_at)
    SELECT gen_random_uuid(), %(user)s::uuid, id, other, 'related_to', similarity, %(now)s FROM pairs
    ON CONFLICT (from_memory_id, to_memory_id, type) DO NOTHING
    RETURNING from_memory_id, to_memory_id
)
SELECT near.id, max(near.similarity),
       coalesce(
           array_agg(near.other ORDER BY near.similarity DESC, near.other) FILTER (WHERE made.to_memory_id IS NOT NULL),
           '{}'
       )
FROM near
LEFT JOIN made ON made.from_memory_id = near.id AND made.to_memory_id = near.other
GROUP BY near.id, near.position
ORDER BY near.position
