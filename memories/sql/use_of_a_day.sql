-- Counts a use of each memory that had none since a moment. Rows come in the order of their ids, so that two readers
-- can't deadlock.
INSERT INTO memories_memoryuse AS known (memory_id, uses, last_used_at)
SELECT id, 1, %(at)s FROM memories_memory WHERE id = ANY (%(ids)s) ORDER BY id
ON CONFLICT (memory_id) DO UPDATE
SET uses = known.uses + 1, last_used_at = greatest(known.last_used_at, excluded.last_used_at)
WHERE known.last_used_at < %(since)s
