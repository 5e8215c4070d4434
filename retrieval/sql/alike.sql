-- Words of the caller's rows that share letters with names that none of them holds, the most alike first.
SELECT n.name, l.lexeme
FROM unnest({names}::text[]) AS n (name)
CROSS JOIN LATERAL (
    SELECT v.lexeme
    FROM (
        SELECT DISTINCT unnest(tsvector_to_array(r.search)) AS lexeme
        FROM ({texts}) AS r (search)
    ) AS v
    WHERE similarity(v.lexeme, n.name) >= {at_least}::float8
    ORDER BY similarity(v.lexeme, n.name) DESC, v.lexeme
    LIMIT {most}::int
) AS l
