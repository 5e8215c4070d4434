-- Archives the oldest unpinned memories of the block, no more than it takes to free the tokens asked for.
WITH unpinned AS (
    SELECT id, sum(tokens) OVER (ORDER BY created_at, id COLLATE "C" ROWS UNBOUNDED PRECEDING) - tokens AS freed_before
    FROM memories_memory
    WHERE user_id = {user}::uuid AND state = 'active' AND in_block AND NOT pinned AND id <> ALL ({keep}::text[])
), evicted AS (
    UPDATE memories_memory AS memory
    SET state = 'archived', deleted_why = 'evicted', deleted_at = {now}::timestamptz,
        purge_at = CASE WHEN memory.importance >= {important}::int THEN {purge_later}::timestamptz ELSE {purge_at}::timestamptz END, updated_at = {now}::timestamptz,
        active_rev = NULL, state_reason = ''
    FROM unpinned
    WHERE memory.id = unpinned.id AND unpinned.freed_before < {excess}::bigint
    RETURNING memory.id, memory.version, memory.tokens, memory.search_length, memory.created_at
)
SELECT id, version, tokens, search_length FROM evicted ORDER BY created_at, id COLLATE "C"
