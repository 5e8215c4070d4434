"""Changes to conversations. The record itself in ``record``; vectors, chunks and staff's reading in ``derived``."""

from .derived import chunk_open, chunk_write, message_open, messages_index
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
)

__all__ = [
    "NewMessage",
    "Pin",
    "check_messages",
    "chunk_open",
    "chunk_write",
    "conversation_close",
    "conversation_create",
    "conversation_pin",
    "conversation_remove",
    "conversation_told",
    "message_open",
    "messages_append",
    "messages_index",
    "messages_mark",
]
