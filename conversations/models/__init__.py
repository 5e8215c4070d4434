"""Tables of conversations and of agents' checkpoints."""

from .checkpoints import Checkpoint, CheckpointWrite
from .record import (
    Conversation,
    ConversationChunk,
    ConversationImport,
    ImportPart,
    Message,
    Withheld,
)

__all__ = [
    "Checkpoint",
    "CheckpointWrite",
    "Conversation",
    "ConversationChunk",
    "ConversationImport",
    "ImportPart",
    "Message",
    "Withheld",
]
