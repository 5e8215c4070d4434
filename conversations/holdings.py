"""Declares this room's tables for export and erasure; see ``journal.holdings``."""

from django.conf import settings
from django.db.models import Q

from journal.holdings import ERASED_TEXT, SEARCHED, VECTOR, Holding
from retrieval.text import prepare

from .models import (
    Checkpoint,
    CheckpointWrite,
    Conversation,
    ConversationChunk,
    ConversationImport,
    ImportPart,
    Message,
    Withheld,
)
from .policy import heading
from .querysets import OPEN_IMPORTS


def _import_ended(upload: ConversationImport, language: str) -> None:
    """Mark an unfinished import as cancelled: an export does not contain its file."""
    if upload.state in {*OPEN_IMPORTS, ConversationImport.State.STORING}:
        upload.state = ConversationImport.State.CANCELLED


def _message_found(message: Message, language: str) -> None:
    prepare(message.content, language, heading=heading(message.speaker, message.at)).put_on(message)


def _chunk_found(chunk: ConversationChunk, language: str) -> None:
    prepare(chunk.content).put_on(chunk)


def _withheld_found(row: Withheld, language: str) -> None:
    row.end = min(row.end, row.start + settings.MESSAGE_MAX_CHARACTERS)  # A file proves nothing.


HOLDINGS = (
    Holding(
        model=ConversationImport,
        kind="imports",
        owner="user_id",
        words={"title": "", "file_name": "", "files": [], "survey": {}, "outcome": {}, "notes": [], "error": ""},
        terms=("form", "state"),
        made={"digest": ""},
        remake=_import_ended,
    ),
    # Not exported: a piece of a file that the person has.
    Holding(model=ImportPart, owner="upload__user_id", words={"data": b""}),
    Holding(
        model=Conversation,
        kind="conversations",
        owner="user_id",
        words={"title": "", "external_id": ""},
        terms=("channel",),
        made={"block_digest": "", "facts_digest": ""},
        revs=("block_rev", "seen_rev", "told_rev"),
    ),
    Holding(
        model=Message,
        kind="messages",
        owner="user_id",
        words={"content": ERASED_TEXT, "speaker": "", **VECTOR},
        terms=("role", "voice"),
        made=SEARCHED,
        remake=_message_found,
    ),
    Holding(
        model=ConversationChunk,
        exported=Q(hidden_since__isnull=True),
        kind="chunks",
        owner="user_id",
        words={"content": ERASED_TEXT, **VECTOR},
        terms=("written_by",),
        made=SEARCHED,
        remake=_chunk_found,
    ),
    Holding(
        model=Checkpoint,
        kind="checkpoints",
        owner="user_id",
        words={
            "data": b"",
            "metadata": {},
            "channels": [],
            "thread": "",
            "namespace": "",
            "checkpoint_id": "",
            "parent_id": "",
        },
        terms=("type",),
        json=("data", "version"),
    ),
    Holding(
        model=CheckpointWrite,
        kind="checkpoint_writes",
        owner="user_id",
        words={
            "data": b"",
            "thread": "",
            "namespace": "",
            "checkpoint_id": "",
            "task_id": "",
            "task_path": "",
            "channel": "",
        },
        terms=("type",),
    ),
    # Without the words, which the person does not want kept: where they stood, and by what an import recognises them.
    Holding(
        model=Withheld,
        kind="withheld",
        exported=Q(object_type="message"),
        owner="user_id",
        words={"digest": ""},
        terms=("object_type", "object_id", "cause_type", "cause_id"),
        made={"text": ""},
        refers=("object_id", "cause_id"),
        remake=_withheld_found,
    ),
)
