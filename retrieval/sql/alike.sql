-- Words of the caller's rows that share letters with names that none of them holds, the most alike first. Lengths are
-- compared first: it is quick, and leaves few to take to trigrams. The CASE keeps that order, which the planner turns.
WITH words AS MATERIALIZED (
    SELECT d.lexeme, length(d.lexeme) AS letters
    FROM (
        SELECT DISTINCT unnest(tsvector_to_array(r.search)) AS lexeme
        FROM ({texts}) AS r (id, search)
        WHERE r.id NOT IN (SELECT unnest({without}::{id_type}[]))
    ) AS d
)
SELECT n.name, l.lexeme
FROM unnest({names}::text[]) AS n (name)
CROSS JOIN LATERAL (
    SELECT w.lexeme
    FROM words AS w
    WHERE CASE
        WHEN abs(w.letters - length(n.name)) <= {letters_wrong}::int
        THEN similarity(w.lexeme, n.name) >= {at_least}::float8
    END
    ORDER BY similarity(w.lexeme, n.name) DESC, w.lexeme
    LIMIT {most}::int
) AS l
