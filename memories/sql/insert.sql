-- Stores new memories with their first versions, what supports those, and what the memories are related to.
WITH given AS MATERIALIZED (
    SELECT *
    FROM ROWS FROM (
        jsonb_to_recordset({rows}::jsonb) AS ({definitions}, rev bigint),
        unnest({vectors}::halfvec[])
    ) AS given ({names}, rev, embedding)
), made AS (
    INSERT INTO memories_memory ({names}, embedding) SELECT {names}, embedding FROM given RETURNING id
), versions AS (
    INSERT INTO memories_memoryversion (
        user_id, memory_id, number, kind, category, field, subject, topics, metadata, content, valid_from, valid_to, said_at,
        embedding, embedding_model, search_config, search_text, search_length, recorded_from, recorded_from_rev, reason, written_by,
        actor_kind, actor_id, source_conversation_id
    )
    SELECT user_id, given.id, version, kind, category, field, subject, topics, metadata, content, valid_from, valid_to, said_at,
           embedding, embedding_model, search_config, search_text, search_length, created_at, rev, '', written_by,
           {actor_kind}::text, {actor_id}::text, source_conversation_id
    -- From what was stored, so that an id that is taken is found before its versions are.
    FROM given
    JOIN made ON made.id = given.id
    ORDER BY rev
    RETURNING id, memory_id
), evidence AS (
    INSERT INTO memories_memoryevidence (version_id, message_id, quote)
    SELECT versions.id, said.message_id, said.quote
    FROM unnest({said_of}::text[], {messages}::uuid[], {quotes}::text[]) WITH ORDINALITY
         AS said (memory_id, message_id, quote, position)
    JOIN versions ON versions.memory_id = said.memory_id
    ORDER BY said.position
)
INSERT INTO memories_relation (id, user_id, from_memory_id, to_memory_id, type, strength, created_at)
SELECT gen_random_uuid(), given.user_id, given.id, related.other, related.type, related.strength, given.created_at
FROM unnest({related_from}::text[], {related_to}::text[], {types}::text[], {strengths}::float8[])
     AS related (one, other, type, strength)
JOIN given ON given.id = related.one
