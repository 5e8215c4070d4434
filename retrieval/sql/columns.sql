-- What some of the caller's rows say.
SELECT r.*
FROM ({rows}) AS r ({detail_names})
WHERE r.id = ANY ({ids})
