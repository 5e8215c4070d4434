"""What was said, and the states that agents keep of their work."""

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
