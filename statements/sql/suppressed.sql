-- The suppressions that match statements: those of the same words, without a similarity, but with the current text of
-- a statement that the person reworded, if these words are an earlier wording of it; and for each statement the 20
-- most similar ones, with the similarity, the rejected or replaced text or the traces of a purged one, and the vector. The CTEs
-- before it are "said" (position, vector) and "printed" (position, fingerprint). A row of position 0 says that the
-- person has withheld words of messages, one of -1 that they rejected anything: these are compared in Python.
SELECT printed.position, suppression.id AS suppression, NULL::float8 AS similarity, reworded.content AS rejected,
       NULL::text AS traces, NULL::bytea AS stood
FROM printed
JOIN memories_tombstone AS suppression
  ON suppression.user_id = {user}::uuid AND suppression.fingerprint = printed.fingerprint
LEFT JOIN LATERAL (
{reworded}
    LIMIT 1
) AS reworded ON true
WHERE {in_scope}
UNION ALL
SELECT near.position, near.suppression, near.similarity, rejected.content, near.traces, halfvec_send(near.embedding)
FROM (
    SELECT compared.*, row_number() OVER (PARTITION BY compared.position ORDER BY compared.similarity DESC) AS place
    FROM (
        -- The "OFFSET 0" keeps a distance from being computed twice.
        SELECT said.position, suppression.id AS suppression, suppression.object_id, suppression.fingerprint,
               suppression.traces, suppression.embedding, suppression.version, said.vector,
               1 - (suppression.embedding <=> said.vector) AS similarity
        FROM memories_tombstone AS suppression
        CROSS JOIN said
        WHERE suppression.user_id = {user}::uuid AND {in_scope}
          AND suppression.embedding_model = {model}::text AND said.vector IS NOT NULL
        OFFSET 0
    ) AS compared
    WHERE compared.similarity >= {suppressed_at_least}::float8
      -- What comes nearer to the wording that replaced it is said of that.
      AND (compared.version IS NULL OR compared.similarity >= ALL (
{nearer}
      ))
) AS near
LEFT JOIN LATERAL (
{contents}
    LIMIT 1
) AS rejected ON true
WHERE near.place <= 20 AND (near.version IS NULL OR rejected.content <> '')
UNION ALL
SELECT 0, NULL, NULL, NULL, NULL, NULL
WHERE EXISTS (
    SELECT FROM conversations_withheld AS withheld
    WHERE withheld.user_id = {user}::uuid AND withheld.object_type = 'message' AND withheld.text <> ''
)
UNION ALL
SELECT -1, NULL, NULL, NULL, NULL, NULL
WHERE EXISTS (SELECT FROM memories_tombstone AS rejected WHERE rejected.user_id = {user}::uuid)
