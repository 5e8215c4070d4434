"""Changes to conversations.

``record``: conversations and messages. ``derived``: vectors, chunks, reading by staff. ``withholding``: redacting
passages and restoring them. ``hearing``: refusals in what the person says. ``checkpoints``: agents' states.
"""

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
from .hearing import LIVE, Heard, follows_refusals, refusals_heard
from .record import (
    NewMessage,
    Pin,
    check_messages,
    conversation_close,
    conversation_create,
    conversation_pin,
    conversation_remove,
    conversation_told,
    messages_append,
    messages_mark,
    messages_read_now,
)
from .withheld_rows import Cause
from .withheld_texts import chunks_hide
from .withholding import (
    Place,
    as_said,
    follows_withholding,
    keeps_of_messages,
    passages_withhold,
    withheld_erase,
    withheld_give_back,
    withholding_ahead,
    words_give_back,
    words_withhold,
)

__all__ = [
    "LIVE",
    "Blob",
    "Cause",
    "GraphState",
    "GraphWrite",
    "Heard",
    "NewMessage",
    "Pin",
    "Place",
    "as_said",
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
    "conversation_told",
    "follows_refusals",
    "follows_withholding",
    "graph_copy",
    "graph_save",
    "graph_write",
    "graphs_delete_runs",
    "graphs_prune",
    "keeps_of_messages",
    "message_open",
    "messages_append",
    "messages_index",
    "messages_mark",
    "messages_read_now",
    "passages_withhold",
    "refusals_heard",
    "thread_delete",
    "withheld_erase",
    "withheld_give_back",
    "withholding_ahead",
    "words_give_back",
    "words_withhold",
]
