-- Archives the oldest unpinned memories of the block, no more than it takes to free the tokens asked for.
WITH unpinned AS (
    SELECT id, sum(tokens) OVER (ORDER BY created_at, id COLLATE "C" ROWS UNBOUNDED PRECEDING) - tokens AS freed_before
    FROM memories_memory
    WHERE user_id = %(user)s::uuid AND state = 'active' AND in_block AND NOT pinned AND id <> ALL (%(keep)s::text[])
), evicted AS (
    UPDATE memories_memory AS memory
    SET state = 'archived', deleted_why = 'evicted', deleted_at = %(now)s, 
        purge_at = CASE WHEN memory.importance >= %(important)s THEN %(purge_later)s ELSE %(purge_at)s END, updated_at = %(now)s,
        active_rev = NULL, state_reason = ''
    FROM unpinned
    WHERE memory.id = unpinned.id AND unpinned.freed_before < %(excess)s
    RETURNING memory.id, memory.version, memory.tokens, memory.search_length, memory.created_at
)
SELECT id, version, tokens, search_length FROM evicted ORDER BY created_at, id COLLATE "C"
