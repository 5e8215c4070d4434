"""Messages with all that repeats them, as words are taken out of them or put back. ``withholding`` says when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, reduce
from operator import or_
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Exists, Model, OuterRef, Q
from django.utils import timezone

from journal.actions import LedgerWrite
from journal.models import Export
from journal.queue import enqueue
from language.tokens import count_tokens
from retrieval.text import list_words

from .. import policy
from ..echoes import Said
from ..models import Conversation, ConversationChunk, Message, Withheld
from ..passages import Original, Span, find_all
from ..querysets import ChunkQuerySet

REWRITE_TASK = "assistant.rewrite_chunks"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why words are withheld: a memory, a fact or a proposal that is not to be kept, or a message that was declined."""

    type: str
    id: str


class Taken(NamedTuple):
    """Words that are out of a text, and why."""

    object_type: str
    object_id: str
    start: int
    end: int
    cause_type: str
    cause_id: str

    @property
    def key(self) -> tuple[str, str]:
        """Which text they are of."""
        return self.object_type, self.object_id

    @property
    def span(self) -> Span:
        """Where they stand in it."""
        return Span(self.start, self.end)


@cache
def _columns() -> dict[str, tuple[type[Model], str]]:
    """The texts that words are taken out of: the record, and every model that quotes a message."""
    related = (each for each in Message._meta.get_fields(include_hidden=True) if each.one_to_many)
    models = [each.related_model for each in related if isinstance(each.related_model, type)]
    quoting = [model for model in models if any(column.name == "quote" for column in model._meta.concrete_fields)]
    quotes = {model._meta.label_lower: (model, "quote") for model in quoting}
    return {"message": (Message, "content"), "title": (Conversation, "title"), **quotes}


def message_of(row: Withheld) -> UUID:
    """The message that words were said in, where it is there still."""
    assert row.message_id is not None
    return row.message_id


def taken_of(row: Withheld) -> Taken:
    """What a row says is taken out."""
    return Taken(row.object_type, row.object_id, row.start, row.end, row.cause_type, row.cause_id)


@dataclass
class Texts:
    """Messages with all that repeats them: what each text said, and what is taken out of it, by message."""

    user_id: UUID
    messages: dict[UUID, Message] = field(default_factory=dict)
    rows: dict[UUID, Withheld] = field(default_factory=dict)
    now: datetime = field(default_factory=timezone.now)
    shown: dict[tuple[str, str], str] = field(default_factory=dict)
    originals: dict[tuple[str, str], Original] = field(default_factory=dict)
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    quoted: dict[UUID, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def around(cls, user_id: UUID, ids: Collection[UUID]) -> Texts:
        """Read them."""
        texts = cls(user_id)
        texts.read(ids)
        return texts

    def read(self, ids: Collection[UUID]) -> None:
        """Read messages, with their conversations' titles and what quotes them, and what is withheld of all that."""
        found = Message.objects.filter(user_id=self.user_id, pk__in=ids).select_related("conversation__legacy")
        messages = {row.pk: row for row in found.defer("embedding", "search", "search_text")}
        shown = {("message", str(pk)): row.content for pk, row in messages.items()}
        shown |= {("title", str(row.conversation_id)): row.conversation.title for row in messages.values()}
        for label, (model, column) in _columns().items():
            if column == "quote":
                rows = model._default_manager.filter(message__in=messages)
                for pk, message_id, quote in rows.values_list("pk", "message_id", "quote"):
                    shown[label, str(pk)] = quote
                    self.quoted[message_id].append((label, str(pk)))
        passages: dict[tuple[str, str], list[tuple[Span, str]]] = defaultdict(list)
        titles = {str(row.conversation_id) for row in messages.values()}
        of_these = Q(message__in=messages) | Q(object_type="title", object_id__in=titles)
        for row in Withheld.objects.filter(of_these):
            self.rows[row.pk] = row
            self.digests[row.object_type, row.object_id] = row.digest
            passages[row.object_type, row.object_id].append((Span(row.start, row.end), row.text))
        self.messages |= messages
        self.shown |= shown
        self.originals |= {key: Original(text, passages[key]) for key, text in shown.items()}

    @property
    def taken(self) -> defaultdict[UUID, set[Taken]]:
        """What is taken out now, by message."""
        found: defaultdict[UUID, set[Taken]] = defaultdict(set)
        for row in self.rows.values():
            found[message_of(row)].add(taken_of(row))
        return found

    @property
    def names(self) -> set[str]:
        """The names of whom the conversations are about."""
        return {row.conversation.legacy.name for row in self.messages.values() if row.conversation.legacy}

    def spans(self, message_id: UUID, quotes: Iterable[str]) -> list[Span]:
        """The sentences of a message that hold quotations; not what of them was erased."""
        original = self.originals["message", str(message_id)]
        return [part for quote in quotes for span in original.holding(quote) for part in original.known(span)]

    def words(self, spans: Mapping[UUID, Sequence[Span]]) -> list[str]:
        """What stands in spans of messages, sentence by sentence."""
        originals = {pk: self.originals["message", str(pk)] for pk in spans}
        sentences = {pk: list(original.sentences()) for pk, original in originals.items()}
        return [
            original.words(sentence)
            for pk, original in originals.items()
            for sentence in sentences[pk]
            if any(sentence.overlaps(span) for span in spans[pk])
        ]

    def first_in_each(self, ids: Iterable[UUID]) -> dict[UUID, Message]:
        """The earliest of the messages in each conversation."""
        first: dict[UUID, Message] = {}
        for pk in ids:
            message = self.messages[pk]
            known = first.setdefault(message.conversation_id, message)
            first[message.conversation_id] = min(known, message, key=lambda each: each.index)
        return first

    def saying(self, ids: Iterable[UUID], says: Callable[[frozenset[str]], bool], said: Said) -> dict[UUID, list[Span]]:
        """The sentences of messages of which that holds, by message, without what of them was erased."""
        texts = {pk: self.originals["message", str(pk)] for pk in ids}
        found: dict[UUID, list[Span]] = defaultdict(list)
        for pk, span, words in said.in_sentences(texts):
            if says(words):
                found[pk] += texts[pk].known(span)
        return found

    def echoes(self, said: Said, first: Mapping[UUID, Message]) -> dict[UUID, list[Span]]:
        """What the assistant said of it later in each conversation, by message."""
        later = [Q(conversation_id=each, index__gt=message.index) for each, message in first.items()]
        answers = Message.objects.filter(reduce(or_, later, Q(pk__in=[])), user_id=self.user_id, role="assistant")
        ids = set(said.in_part(answers).values_list("pk", flat=True))
        # What is withheld already is searched by nothing, and is withheld for this too.
        withheld = Withheld.objects.filter(conversation__in=first, message__role="assistant").passages()
        for pk, where, index in withheld.values_list("message_id", "conversation_id", "message__index"):
            ids |= {pk} if index > first[where].index else set()
        self.read(ids)
        return self.saying(ids, said.is_echoed_by, said)

    def titles(self, said: Said, first: Mapping[UUID, Message]) -> dict[UUID, str]:
        """The titles that say it: the conversation's id, by its first message that does."""
        texts = [self.originals["title", str(each)].text for each in first]
        stems = said.stems(texts)
        return {
            message.pk: str(conversation_id)
            for (conversation_id, message), words in zip(first.items(), stems, strict=True)
            if said.is_echoed_by(words)
        }

    def taken_from(self, message_id: UUID, spans: Sequence[Span], cause: Cause, before: Iterable[Taken]) -> set[Taken]:
        """What withholding spans of a message takes out of it, and out of what quotes it.

        ``before`` is what is taken out already. What would be too long with its marks is withheld whole.
        """
        key = ("message", str(message_id))
        original, out = self.originals[key], [each.span for each in before if each.key == key]
        if len(original.without([*spans, *out])) > settings.MESSAGE_MAX_CHARACTERS:
            spans = original.known(original.whole)
        taken = {Taken(*key, span.start, span.end, cause.type, cause.id) for span in spans}
        left = original.pieces([*spans, *out])
        for quote in self.quoted[message_id]:
            whole, words = self.originals[quote].whole, self.originals[quote].words(self.originals[quote].whole)
            # Whoever quotes what is left may go on; a quotation that is nowhere may be of anything.
            if words and not any(find_all(words, piece) for piece in left):
                taken.add(Taken(*quote, 0, whole.end, cause.type, cause.id))
        return taken

    def is_declined(self, message_id: UUID, taken: Iterable[Taken]) -> bool:
        """Whether all of a message is taken out because of itself."""
        own = ("message", str(message_id))
        spans = [each.span for each in taken if each.key == own == (each.cause_type, each.cause_id)]
        return bool(spans) and not list_words(" ".join(self.originals[own].pieces(spans)))

    def put(self, write: LedgerWrite, wanted: Mapping[UUID, set[Taken]]) -> None:
        """Let just this be taken out of messages: store it, rewrite the texts, log it, hide what sums them up."""
        before = self.taken
        # What quoted a message may be gone since.
        there = {pk: {each for each in taken if each.key in self.originals} for pk, taken in wanted.items()}
        wanted = {pk: taken for pk, taken in there.items() if taken != before[pk]}
        if not wanted:
            return
        after = {**before, **wanted}
        gone = [row.pk for row in self.rows.values() if taken_of(row) not in after[message_of(row)]]
        new = [self.row(pk, each) for pk in wanted for each in wanted[pk] - before[pk]]
        Withheld.objects.filter(pk__in=gone).delete()
        Withheld.objects.bulk_create(new, ignore_conflicts=True)
        out: dict[tuple[str, str], set[Span]] = defaultdict(set)
        for taken in after.values():
            for each in taken:
                out[each.key].add(each.span)
        touched = {each.key for pk in wanted for each in wanted[pk] ^ before[pk]}
        texts = {key: self.originals[key].without(out[key]) for key in touched if key in self.originals}
        self.store({key: text for key, text in texts.items() if text != self.shown[key]}, out, write)
        for pk in wanted:
            self.log(write, pk, before[pk], wanted[pk])
        if new:  # A file that was made before holds the words.
            Export.objects.of_user(self.user_id).whole(self.now).delete()
        self.hide_chunks(wanted)

    def row(self, message_id: UUID, taken: Taken) -> Withheld:
        """Words as they are kept."""
        original = self.originals[taken.key]
        return Withheld(
            user_id=self.user_id,
            conversation_id=self.messages[message_id].conversation_id,
            message_id=message_id,
            text=original.words(taken.span),
            digest=self.digests.get(taken.key) or policy.digests(self.user_id, original.text)[0],
            created_at=self.now,
            erase_at=self.now + timedelta(days=settings.ARCHIVE_DAYS),
            **taken._asdict(),
        )

    def store(
        self, texts: Mapping[tuple[str, str], str], out: Mapping[tuple[str, str], set[Span]], write: LedgerWrite
    ) -> None:
        """Rewrite texts. What follows from a message's, its search text and its tokens, does so at once."""
        of_type: dict[str, dict[str, str]] = defaultdict(dict)
        for (object_type, object_id), text in texts.items():
            of_type[object_type][object_id] = text
        for object_type, found in of_type.items():
            if object_type == "message":
                self.store_messages(found, out, write)
                continue
            model, column = _columns()[object_type]
            rows = list(model._default_manager.filter(pk__in=found).only("pk", column))
            for row in rows:
                setattr(row, column, found[str(row.pk)])
            model._default_manager.bulk_update(rows, [column])

    def store_messages(
        self, texts: Mapping[str, str], out: Mapping[tuple[str, str], set[Span]], write: LedgerWrite
    ) -> None:
        """Rewrite messages. They get another vector in the background, if anything is left of them."""
        rows = [self.messages[UUID(pk)] for pk in texts]
        due, terms = [], 0
        for row in rows:
            left = " ".join(self.originals["message", str(row.pk)].pieces(out["message", str(row.pk)]))
            words = list_words(left)
            row.content = texts[str(row.pk)]
            row.tokens = count_tokens(row.content)
            row.search_text = " ".join([*list_words(policy.heading(row.speaker, row.at)), *words]) if words else ""
            terms -= row.search_length
            row.search_length = len(row.search_text.split())
            terms += row.search_length
            # Nothing is left to be found by a vector of a message that is withheld whole.
            due.append(self.now if words else _NEVER)
        columns = {name: [getattr(row, name) for row in rows] for name in ("pk", *_REWRITTEN)}
        with connection.cursor() as cursor:
            cursor.execute(_REWRITE, {**columns, "due": due})
        write.count(self.user_id, turn_terms=terms)
        for conversation_id in {row.conversation_id for row in rows}:
            enqueue("conversations.index_messages", conversation_id)

    def log(self, write: LedgerWrite, message_id: UUID, before: set[Taken], after: set[Taken]) -> None:
        """Tell agents that keep a copy, and keep the way back."""
        event = "GIVE_BACK" if after < before else "WITHHOLD"
        where = self.messages[message_id].conversation_id
        index = self.messages[message_id].index
        write.change(self.user_id, event, "message", message_id, conversation_id=where, index=index)
        stood = {"withheld": [list(each) for each in sorted(before)]}
        write.keep_undo_step(self.user_id, "message", message_id, stood)

    def hide_chunks(self, ids: Collection[UUID]) -> None:
        """Let nobody read what sums the messages up until it is written anew."""
        changed = Message.objects.filter(
            pk__in=ids,
            conversation=OuterRef("conversation"),
            index__gte=OuterRef("message_range_start"),
            index__lt=OuterRef("message_range_end"),
        )
        where = {self.messages[pk].conversation_id for pk in ids}
        chunks_hide(ConversationChunk.objects.filter(Exists(changed), conversation__in=where))


def chunks_hide(chunks: ChunkQuerySet) -> None:
    """Let nobody read summaries until a job has written them anew, inside a transaction that holds the ledger."""
    where = set(chunks.values_list("conversation_id", flat=True))
    if where:
        chunks.update(hidden_since=timezone.now())
        for conversation_id in where:
            enqueue(REWRITE_TASK, conversation_id)


_REWRITTEN = ("content", "tokens", "search_text", "search_length")
# Not by the ORM: a CASE for each row takes ten times as long, and the person's ledger is locked meanwhile.
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
_NEVER = datetime(9999, 1, 1, tzinfo=UTC)
