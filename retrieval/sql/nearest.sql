-- Exact nearest neighbours among the caller's rows. The "+ 0" keeps an approximate index out of the plan.
SELECT n.id, n.similarity, n.similarity, NULL::float8
FROM (
    SELECT v.id, 1 - ((v.embedding <=> {vector}::halfvec) + 0) AS similarity
    FROM ({vectors}) AS v (id, embedding)
) AS n
WHERE n.similarity >= {at_least}::float8
ORDER BY n.similarity DESC, n.id
LIMIT {top_k}::int
