"""Read and rewrite the rows from which words are withheld or to which they are restored.

``withheld_texts`` plans what to store, before the person's ledger is locked where possible; this module stores it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import F, Model, Q

from ..models import Conversation, Message, Withheld
from ..passages import Span
from ..querysets import WithheldQuerySet


@dataclass(frozen=True, slots=True)
class Cause:
    """Why words are withheld: a rejected memory, fact or proposal, or a declined message.

    ``relayed``: an agent reported the person's refusal, so it puts away nothing that they decided about.
    """

    type: str
    id: str
    relayed: bool = field(default=False, compare=False, kw_only=True)


class Redaction(NamedTuple):
    """A span that is redacted in a text, and its cause."""

    object_type: str
    object_id: str
    start: int
    end: int
    cause_type: str
    cause_id: str

    @property
    def key(self) -> tuple[str, str]:
        """The text's type and id."""
        return self.object_type, self.object_id

    @property
    def span(self) -> Span:
        """The redacted characters."""
        return Span(self.start, self.end)


@cache
def redactable_columns() -> dict[str, tuple[type[Model], str]]:
    """Return the model and column of each redactable text type: messages, titles, every model that quotes messages."""
    related = (each for each in Message._meta.get_fields(include_hidden=True) if each.one_to_many)
    models = [each.related_model for each in related if isinstance(each.related_model, type)]
    quoting = [model for model in models if any(column.name == "quote" for column in model._meta.concrete_fields)]
    quotes = {model._meta.label_lower: (model, "quote") for model in quoting}
    return {"message": (Message, "content"), "title": (Conversation, "title"), **quotes}


Snapshot = set[tuple[Any, ...]]


def take_snapshot(user_id: UUID, ids: Collection[UUID]) -> Snapshot:
    """Return a snapshot of everything a plan reads of these messages; equal snapshots mean that nothing changed."""
    said = Message.objects.filter(user_id=user_id, pk__in=ids)
    of_each = ("pk", "index", "content", "search_length", "conversation__title", "conversation__legacy__name")
    rows: Snapshot = set(said.values_list(*of_each))
    for model, column in redactable_columns().values():
        if column == "quote":
            rows |= set(model._default_manager.filter(message__in=ids).values_list("pk", "message_id", "quote"))
    return rows | set(Withheld.objects.filter(of_messages(ids)).values_list())


def snapshot_of_unstored(row: Message) -> tuple[Any, ...]:
    """Return what ``take_snapshot`` will hold of a message once it is stored, if nothing else changes meanwhile."""
    talk = row.conversation
    return (row.pk, row.index, row.content, row.search_length, talk.title, talk.legacy.name if talk.legacy else None)


def of_messages(ids: Collection[UUID]) -> Q:
    """Return the condition for ``Withheld`` rows of these messages and of their conversations' titles."""
    where = Message.objects.filter(pk__in=ids).values_list("conversation_id", flat=True).distinct()
    return Q(message__in=ids) | Q(object_type="title", object_id__in=[str(each) for each in where])


def words_erase(rows: WithheldQuerySet) -> int:
    """Erase withheld words for good: no import keeps them again. Returns how many rows held any."""
    held = rows.restorable().count()
    rows.update(text="", erase_at=F("created_at"))
    return held


def is_erased(row: Withheld) -> bool:
    """Whether ``words_erase`` took the words, and not only the end of their days."""
    return not row.text and row.erase_at <= row.created_at


def one_per_erased(rows: Iterable[Withheld]) -> Iterator[Withheld]:
    """Yield rows, of those within an erased passage only its own: nothing of it can be restored."""
    erased: dict[str, list[Span]] = defaultdict(list)
    for row in sorted(rows, key=lambda each: (not is_erased(each), each.start - each.end)):
        if any(span.start <= row.start and row.end <= span.end for span in erased[row.digest]):
            continue
        if is_erased(row):
            erased[row.digest].append(Span(row.start, row.end))
        yield row


@dataclass
class RewritePlan:
    """The planned writes.

    ``changes``: by message, the redactions before and after. ``gone`` and ``new``: ``Withheld`` rows to delete and to
    insert. ``messages`` and ``others``: new texts. ``terms``: change in the number of search terms.
    """

    changes: dict[UUID, tuple[set[Redaction], set[Redaction]]]
    gone: list[UUID]
    new: list[Withheld]
    messages: list[tuple[UUID, str, int, str, int, datetime]] = field(default_factory=list)
    others: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    conversations: set[UUID] = field(default_factory=set)
    terms: int = 0

    def insert_new(self) -> None:
        """Insert the new ``Withheld`` rows; existing ones are left unchanged."""
        if self.new:
            values = {name: [getattr(row, name) for row in self.new] for name in _COLUMNS}
            with connection.cursor() as cursor:
                cursor.execute(_INSERT, values)

    def store(self) -> None:
        """Store the new texts. Messages with any text left are embedded again in the background."""
        if self.messages:
            values = dict(zip(_REWRITTEN, map(list, zip(*self.messages, strict=True)), strict=True))
            with connection.cursor() as cursor:
                cursor.execute(_REWRITE, values)
        for object_type, texts in self.others.items():
            model, column = redactable_columns()[object_type]
            rows = list(model._default_manager.filter(pk__in=texts).only("pk", column))
            for row in rows:
                setattr(row, column, texts[str(row.pk)])
            model._default_manager.bulk_update(rows, [column])


# Not by the ORM: a CASE or a list of values for each row takes ten times as long, and the person's ledger is locked.
_COLUMNS = {
    "id": "uuid",
    "user_id": "uuid",
    "conversation_id": "uuid",
    "message_id": "uuid",
    "object_type": "text",
    "object_id": "text",
    "start": "int",
    "end": "int",
    "text": "text",
    "digest": "text",
    "cause_type": "text",
    "cause_id": "text",
    "created_at": "timestamptz",
    "erase_at": "timestamptz",
}
_NAMES = ", ".join(f'"{name}"' for name in _COLUMNS)
_INSERT = f"""
INSERT INTO conversations_withheld ({_NAMES})
SELECT * FROM unnest({", ".join(f"%({name})s::{of}[]" for name, of in _COLUMNS.items())})
ON CONFLICT DO NOTHING
"""  # noqa: S608 - put together of our own names
_REWRITTEN = ("pk", "content", "tokens", "search_text", "search_length", "due")
_REWRITE = """
UPDATE conversations_message AS message
SET content = new.content, tokens = new.tokens, search_text = new.search_text, search_length = new.search_length,
    embedding = NULL, embedding_model = '', index_not_before = new.due, index_attempts = 0
FROM unnest(
    %(pk)s::uuid[], %(content)s::text[], %(tokens)s::int[], %(search_text)s::text[], %(search_length)s::int[],
    %(due)s::timestamptz[]
) AS new (id, content, tokens, search_text, search_length, due)
WHERE message.id = new.id
"""
