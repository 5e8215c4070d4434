-- The relations of some memories, the strongest first. Two halves, each by its own index, instead of one condition.
SELECT from_memory_id, to_memory_id, type, strength FROM (
    SELECT r.* FROM memories_relation r WHERE r.from_memory_id = ANY (%(ids)s)
    UNION
    SELECT r.* FROM memories_relation r WHERE r.to_memory_id = ANY (%(ids)s)
) AS r
WHERE user_id = %(user)s AND type <> 'supersedes'
ORDER BY strength DESC, from_memory_id, to_memory_id, type
