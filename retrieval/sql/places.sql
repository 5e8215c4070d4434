-- What those of the caller's rows say that stand at some places of talks, fetched one by one.
SELECT m.*
FROM unnest({talks}::uuid[], {places}::int[]) AS p (talk, place)
JOIN LATERAL (
    SELECT * FROM ({rows}) AS r ({detail_names}) WHERE r.c0 = p.talk AND r.c1 = p.place OFFSET 0
) AS m ON TRUE
