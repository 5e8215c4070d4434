-- Positions of the statements that a tombstone of this person and legacy stands against.
-- The CASE keeps vectors of different models, which may differ in dimension, from being compared at all.
SELECT DISTINCT said.position
FROM unnest(%(positions)s::int[], %(fingerprints)s::text[], %(vectors)s::text[]) AS said (position, fingerprint, vector)
JOIN memories_tombstone AS stone
  ON stone.user_id = %(user)s::uuid AND stone.legacy_id IS NOT DISTINCT FROM %(legacy)s::uuid
WHERE stone.fingerprint = said.fingerprint
   OR CASE
        WHEN stone.embedding_model = %(model)s
        THEN 1 - (stone.embedding <=> said.vector::halfvec) >= %(at_least)s
        ELSE false
      END
