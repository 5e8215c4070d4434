-- Marks what memories of one person say as something that must not be learned again; one mark for the same words.
INSERT INTO memories_tombstone (user_id, legacy_id, fingerprint, object_id, embedding, embedding_model, created_at)
SELECT DISTINCT ON (fingerprint) user_id, NULL::uuid, fingerprint, id, embedding, embedding_model, %(now)s
FROM memories_memory
WHERE user_id = %(user)s::uuid AND id = ANY (%(ids)s::text[])
ORDER BY fingerprint, id
ON CONFLICT (user_id, legacy_id, fingerprint) DO UPDATE
SET object_id = excluded.object_id, embedding = excluded.embedding, embedding_model = excluded.embedding_model
