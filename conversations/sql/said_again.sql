-- The latest of the messages that may say one of some texts, in one pass over the caller's. Of rows stemmed for the same
-- language the stems are the same; others need a word that begins with one. Then two of one text, or nearness.
SELECT n.near, n.at, n.id, n.conversation_id, n.index, n.content
FROM (
    SELECT
        m.*,
        m.embedding_model = {model} AND (m.embedding <=> {vector}::halfvec) <= {apart}::float8
        AND length(m.content) <= {short}::int AS near
    FROM ({rows}) AS m (id, at, conversation_id, index, content, search_config, search, embedding_model, embedding)
    WHERE CASE WHEN m.search_config = {config}::regconfig THEN m.search @@ {stems}::tsquery
          ELSE m.search @@ {beginnings}::tsquery END
      AND m.id <> ALL ({but_messages}::uuid[]) AND m.conversation_id IS DISTINCT FROM {but_talk}::uuid
) AS n
WHERE n.search_config <> {config}::regconfig OR n.search @@ {pairs}::tsquery OR n.near
ORDER BY n.near DESC NULLS LAST, n.at DESC
LIMIT {most}::int
