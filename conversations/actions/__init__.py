"""Changes to conversations.

``record``: conversations and messages. ``derived``: vectors, chunks, reading by staff. ``withholding``: redacting
passages and restoring them. ``arriving``: refused words posted again; ``judging``: the same in other words.
``refusals``: refusals in what the person says. ``checkpoints``: agents' states.
"""

from .arriving import register_refused_search
from .checkpoints import (
    Blob,
    GraphState,
    GraphWrite,
    checkpoint_save,
    graph_copy,
    graph_save,
    graph_write,
    graphs_delete_runs,
    graphs_prune,
    thread_delete,
)
from .derived import chunk_open, chunk_rewrite, chunk_write, message_open, messages_index
from .judging import register_retold_search
from .record import (
    NewMessage,
    Pin,
    check_messages,
    conversation_close,
    conversation_create,
    conversation_pin,
    conversation_remove,
    conversation_set_told_rev,
    messages_append,
    messages_extract_now,
    messages_mark,
)
from .refusals import (
    LIVE_WINDOW,
    HeardRefusal,
    on_refusal,
    plan_refusals,
    refusal_of_asked,
    refusals_apply,
    refusals_of,
)
from .withheld_rows import Cause, words_erase
from .withheld_texts import chunks_hide, summaries_hide
from .withholding import (
    PassagePlace,
    before_withheld_erased,
    forget_erased_redactions,
    on_declined,
    on_withheld,
    original_quotes,
    passages_withhold,
    plan_withholding,
    register_kept_texts,
    withheld_erase,
    withheld_restore,
    words_decline,
    words_restore,
    words_withhold,
)

__all__ = [
    "LIVE_WINDOW",
    "Blob",
    "Cause",
    "GraphState",
    "GraphWrite",
    "HeardRefusal",
    "NewMessage",
    "PassagePlace",
    "Pin",
    "before_withheld_erased",
    "check_messages",
    "checkpoint_save",
    "chunk_open",
    "chunk_rewrite",
    "chunk_write",
    "chunks_hide",
    "conversation_close",
    "conversation_create",
    "conversation_pin",
    "conversation_remove",
    "conversation_set_told_rev",
    "forget_erased_redactions",
    "graph_copy",
    "graph_save",
    "graph_write",
    "graphs_delete_runs",
    "graphs_prune",
    "message_open",
    "messages_append",
    "messages_extract_now",
    "messages_index",
    "messages_mark",
    "on_declined",
    "on_refusal",
    "on_withheld",
    "original_quotes",
    "passages_withhold",
    "plan_refusals",
    "plan_withholding",
    "refusal_of_asked",
    "refusals_apply",
    "refusals_of",
    "register_kept_texts",
    "register_refused_search",
    "register_retold_search",
    "summaries_hide",
    "thread_delete",
    "withheld_erase",
    "withheld_restore",
    "words_decline",
    "words_erase",
    "words_restore",
    "words_withhold",
]
