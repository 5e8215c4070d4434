"""What this room's tables hold of a person. ``journal.holdings`` says what is meant."""

from journal.holdings import ERASED_TEXT, SEARCHED, VECTOR, Holding

from .models import Conversation, ConversationChunk, ConversationImport, ImportPart, Message

HOLDINGS = (
    Holding(
        model=ConversationImport,
        kind="imports",
        owner="user_id",
        words={"title": "", "file_name": "", "files": [], "survey": {}, "outcome": {}, "notes": [], "error": ""},
        terms=("form", "state"),
        made={"digest": ""},
    ),
    # What was uploaded, while it is being read: a file that the person has.
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
        terms=("role",),
        made=SEARCHED,
    ),
    Holding(
        model=ConversationChunk,
        kind="chunks",
        owner="user_id",
        words={"content": ERASED_TEXT, **VECTOR},
        terms=("written_by",),
        made=SEARCHED,
    ),
)
