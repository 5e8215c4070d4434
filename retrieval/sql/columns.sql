-- What some of the caller's rows say, fetched one by one: with one condition on all ids a planner that knows nothing of
-- the tables yet, as after a bulk load, reads all of the owner's.
SELECT d.*
FROM unnest({ids}::{id_type}[]) AS w (id)
JOIN LATERAL (SELECT * FROM ({rows}) AS r ({detail_names}) WHERE r.id = w.id OFFSET 0) AS d ON TRUE
