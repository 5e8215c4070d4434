-- What a person has already that new statements may be, contradict or stand beside, for any number of them at once:
-- rows of (position of the statement, what the memory is to it, their similarity, the suppression that stands against
-- it, what that was of, its traces and its vector, whether the principal sees the memory, the memory). One more, of position 0, has
-- the person's revision that all of this is of. What stands between "-- for X" and "-- end" is left out if no statement
-- gives X.
WITH said AS MATERIALIZED (
    SELECT *
    FROM unnest(
        {kinds}::text[], {categories}::text[], {subjects}::text[], {fields}::text[], {external_ids}::text[],
        {vectors}::halfvec[]
    ) WITH ORDINALITY AS said (kind, category, subject, field, external_id, vector, position)
), printed AS MATERIALIZED (
    SELECT * FROM unnest({positions}::bigint[], {fingerprints}::text[]) AS printed (position, fingerprint)
), near AS (
    SELECT position, id, similarity,
           row_number() OVER (PARTITION BY position ORDER BY similarity DESC, id) AS place
    FROM (
        -- The "+ 0" keeps an approximate index out of the plan, the "OFFSET 0" a distance from being computed twice.
        SELECT said.position, memory.id, 1 - ((memory.embedding <=> said.vector) + 0) AS similarity
        FROM memories_memory AS memory
        JOIN said ON said.kind = memory.kind
        WHERE memory.user_id = {user}::uuid AND memory.state IN ('active', 'proposed', 'quarantined')
          AND memory.embedding_model = {model}::text AND memory.id <> {but}::text
        OFFSET 0
    ) AS compared
    WHERE similarity >= {at_least}::float8
-- for subjects
), titled AS MATERIALIZED (
    SELECT id, category, search_text
    FROM memories_memory
    WHERE user_id = {user}::uuid AND state = 'active' AND subject <> ''
-- end
), suppressed AS (
{suppressed}
), found (position, role, similarity, id, suppression, rejected, traces, stood) AS (
    SELECT position, 'near', similarity, id, NULL::bigint, NULL::text, NULL::text, NULL::bytea
    FROM near WHERE place <= {top_k}::int
    UNION ALL
    SELECT said.position, 'twin', NULL, memory.id, NULL, NULL, NULL, NULL
    FROM printed
    JOIN said ON said.position = printed.position
    JOIN memories_memory AS memory ON memory.user_id = {user}::uuid AND memory.fingerprint = printed.fingerprint
    WHERE memory.kind = said.kind AND memory.state IN ('active', 'proposed', 'quarantined')
    -- for subjects
    UNION ALL
    SELECT said.position, 'titled', NULL, named.id, NULL, NULL, NULL, NULL
    FROM said
    CROSS JOIN LATERAL (
        SELECT titled.id
        FROM titled
        WHERE titled.category = said.category AND starts_with(titled.search_text, said.subject)
        OFFSET 0
    ) AS named
    WHERE said.subject <> ''
    -- end
    -- for fields
    UNION ALL
    SELECT said.position, 'holder', NULL, memory.id, NULL, NULL, NULL, NULL
    FROM said
    JOIN memories_memory AS memory ON memory.user_id = {user}::uuid AND memory.field = said.field
    WHERE said.field <> '' AND memory.state = 'active' AND memory.field NOT IN ('', 'goal')
    -- end
    -- for external_ids
    UNION ALL
    SELECT said.position, 'taken', NULL, memory.id, NULL, NULL, NULL, NULL
    FROM said
    JOIN memories_memory AS memory ON memory.user_id = {user}::uuid AND memory.external_id = said.external_id
    WHERE said.external_id <> '' AND memory.external_id <> '' AND memory.agent_id IS NOT DISTINCT FROM {agent}::uuid
    -- end
    UNION ALL
    SELECT position, 'suppressed', similarity, NULL, suppression, rejected, traces, stood FROM suppressed
    UNION ALL
    SELECT 0, 'rev', NULL, NULL, rev, NULL, NULL, NULL FROM journal_ledger WHERE id = {user}::uuid
)
SELECT found.position, found.role, found.similarity, found.suppression, found.rejected, found.traces, found.stood,
       (SELECT true FROM ({visible}) AS visible (id) WHERE visible.id = found.id), memory.*
FROM found
LEFT JOIN LATERAL (
    SELECT {columns} FROM memories_memory WHERE memories_memory.id = found.id OFFSET 0
) AS memory ON true
