-- The mean of one owner's vectors, from a sample by the hashes of their ids, and how many it was taken from.
SELECT avg(v.embedding)::halfvec, count(v.embedding)
FROM ({vectors}) AS v (id, embedding)
WHERE {every}::int = 1 OR mod(hashtext(v.id::text), {every}::int) = 0
