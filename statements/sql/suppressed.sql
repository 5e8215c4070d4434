-- Positions of the statements that a suppression of this person and legacy stands against.
-- The CASE keeps vectors of different models, which may differ in dimension, from being compared at all.
SELECT DISTINCT said.position
FROM unnest(%(positions)s::int[], %(fingerprints)s::text[], %(vectors)s::text[], %(models)s::text[])
  AS said (position, fingerprint, vector, model)
JOIN memories_tombstone AS suppression
  ON suppression.user_id = %(user)s::uuid AND suppression.legacy_id IS NOT DISTINCT FROM %(legacy)s::uuid
WHERE suppression.fingerprint = said.fingerprint
   OR CASE
        WHEN suppression.embedding_model = said.model
        THEN 1 - (suppression.embedding <=> said.vector::halfvec) >= %(at_least)s
        ELSE false
      END
