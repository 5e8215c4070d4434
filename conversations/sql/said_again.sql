-- The latest of the messages that may say one of some texts, in one pass over the caller's. Of rows stemmed for the same
-- language the stems are the same, so that two of one text, or nearness, can be asked for; the stems come first only
-- where nearness is, which any of them allows. Others need a word that begins with one.
SELECT n.near, n.at, n.id, n.conversation_id, n.index, n.content
FROM (
    SELECT
        m.*,
        m.embedding_model = {model} AND (m.embedding <=> {vector}::halfvec) <= {apart}::float8
        AND length(m.content) <= {short}::int AS near
    FROM ({rows}) AS m (id, at, conversation_id, index, content, search_config, search, embedding_model, embedding)
    WHERE CASE
        WHEN m.search_config <> {config}::regconfig THEN m.search @@ {beginnings}::tsquery
        WHEN {vector}::halfvec IS NULL THEN m.search @@ {pairs}::tsquery
        ELSE m.search @@ {stems}::tsquery
    END
      AND m.id <> ALL ({but_messages}::uuid[]) AND m.conversation_id IS DISTINCT FROM {but_talk}::uuid
) AS n
WHERE {vector}::halfvec IS NULL OR n.search_config <> {config}::regconfig OR n.search @@ {pairs}::tsquery OR n.near
ORDER BY n.near DESC NULLS LAST, n.at DESC
LIMIT {most}::int
