-- The latest statements with a word of some texts, and the nearest to one of them, best first. Of the nearest only the
-- ids are sorted, from an index with the vectors; the "+ 0" keeps an approximate one out of the plan.
(
    SELECT FALSE AS near, {names}
    FROM ({rows}) AS r ({columns})
    WHERE r.search @@ {beginnings}::tsquery AND r.id IS DISTINCT FROM {but}::{id_type}
    ORDER BY r.updated_at DESC
    LIMIT {most_named}::int
)
UNION ALL
SELECT TRUE, d.*
FROM (
    SELECT s.id
    FROM (
        SELECT v.id, 1 - ((v.embedding <=> {vector}::halfvec) + 0) AS similarity
        FROM ({vectors}) AS v (id, embedding_model, embedding)
        WHERE v.embedding_model = {model} AND v.id IS DISTINCT FROM {but}::{id_type}
    ) AS s
    WHERE s.similarity >= {at_least}::float8
    ORDER BY s.similarity DESC, s.id
    LIMIT {most_near}::int
) AS n
JOIN LATERAL (SELECT {names} FROM ({rows}) AS r ({columns}) WHERE r.id = n.id OFFSET 0) AS d ON TRUE
