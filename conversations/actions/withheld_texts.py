"""Plan and apply the redaction of messages and of the texts that repeat them. ``withholding`` calls it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from types import MappingProxyType
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from journal.actions import LedgerWrite
from journal.models import Export
from journal.queue import enqueue
from language.reading.sentences import split_sentences
from language.tokens import count_tokens
from retrieval.text import list_words

from .. import policy
from ..models import ConversationChunk, Message, Withheld
from ..passages import MARK, Original, Span, asks, find_all
from ..querysets import ChunkQuerySet
from ..withheld_words import WithheldWords
from .withheld_rows import (
    Cause,
    Redaction,
    RewritePlan,
    Snapshot,
    of_messages,
    redactable_columns,
    snapshot_of_unstored,
    take_snapshot,
)

REWRITE_TASK = "assistant.rewrite_chunks"
_MOST_THAT_STAY = 200
_OTHERS = [role for role in Message.Role if role != Message.Role.USER]
_NEVER = datetime(9999, 1, 1, tzinfo=UTC)


def message_of(row: Withheld) -> UUID:
    """Return the row's message id. The row's message must still exist."""
    assert row.message_id is not None
    return row.message_id


def redaction_of(row: Withheld) -> Redaction:
    """Return a row's span and cause."""
    return Redaction(row.object_type, row.object_id, row.start, row.end, row.cause_type, row.cause_id)


@dataclass
class RedactedTexts:
    """Messages with their titles and quotations: current text, original text and redactions of each.

    ``unstored`` are messages that the transaction will store before it rewrites these texts.
    """

    user_id: UUID
    tracks_changes: bool = False
    unstored: Mapping[UUID, Message] = field(default_factory=dict)
    messages: dict[UUID, Message] = field(default_factory=dict)
    rows: dict[UUID, Withheld] = field(default_factory=dict)
    now: datetime = field(default_factory=timezone.now)
    shown: dict[tuple[str, str], str] = field(default_factory=dict)
    originals: dict[tuple[str, str], Original] = field(default_factory=dict)
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    quoted: dict[UUID, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    snapshot: Snapshot = field(default_factory=set)
    snapshot_ids: set[UUID] = field(default_factory=set)
    sought: list[tuple[WithheldWords, Mapping[UUID, Message], set[UUID]]] = field(default_factory=list)

    @classmethod
    def load(
        cls,
        user_id: UUID,
        ids: Collection[UUID],
        *,
        tracks_changes: bool = False,
        unstored: Mapping[UUID, Message] = MappingProxyType({}),
    ) -> RedactedTexts:
        """Load the texts of these messages. ``tracks_changes`` takes a snapshot for ``is_unchanged``."""
        texts = cls(user_id, tracks_changes, unstored)
        texts.read(ids)
        return texts

    def read(self, ids: Collection[UUID]) -> None:
        """Load messages, their conversations' titles, the rows that quote them, and the redactions of all these."""
        unstored = {pk: self.unstored[pk] for pk in ids if pk in self.unstored}
        if self.tracks_changes:  # Before the reads, so that a write in between makes the snapshot differ.
            self.snapshot |= take_snapshot(self.user_id, ids) | {snapshot_of_unstored(row) for row in unstored.values()}
            self.snapshot_ids |= set(ids)
        found = Message.objects.filter(user_id=self.user_id, pk__in=ids).select_related("conversation__legacy")
        messages = {row.pk: row for row in found.defer("embedding", "search", "search_text")} | unstored
        shown = {("message", str(pk)): row.content for pk, row in messages.items()}
        shown |= {("title", str(row.conversation_id)): row.conversation.title for row in messages.values()}
        for label, (model, column) in redactable_columns().items():
            if column == "quote":
                rows = model._default_manager.filter(message__in=messages)
                for pk, message_id, quote in rows.values_list("pk", "message_id", "quote"):
                    shown[label, str(pk)] = quote
                    self.quoted[message_id].append((label, str(pk)))
        passages: dict[tuple[str, str], list[tuple[Span, str]]] = defaultdict(list)
        for row in Withheld.objects.filter(of_messages(messages)):
            self.rows[row.pk] = row
            self.digests[row.object_type, row.object_id] = row.digest
            passages[row.object_type, row.object_id].append((Span(row.start, row.end), row.text))
        self.messages |= messages
        self.shown |= shown
        self.originals |= {key: Original(text, passages[key]) for key, text in shown.items()}

    @property
    def redactions(self) -> defaultdict[UUID, set[Redaction]]:
        """The current redactions by message."""
        found: defaultdict[UUID, set[Redaction]] = defaultdict(set)
        for row in self.rows.values():
            found[message_of(row)].add(redaction_of(row))
        return found

    @property
    def names(self) -> set[str]:
        """The names of the legacies that the conversations are about."""
        return {row.conversation.legacy.name for row in self.messages.values() if row.conversation.legacy}

    def spans(self, message_id: UUID, quotes: Iterable[str], *, verbatim: bool = False) -> list[Span]:
        """Return the spans of a message's sentences that hold the quotations, without erased parts.

        ``verbatim``: of the quotations alone.
        """
        original = self.originals["message", str(message_id)]
        return [
            part
            for quote in quotes
            for span in original.holding(quote, verbatim=verbatim)
            for part in original.known(span)
        ]

    def words(self, spans: Mapping[UUID, Sequence[Span]], *, verbatim: bool = False) -> list[str]:
        """Return the sentences of messages that overlap the spans; ``verbatim``: the words of the spans."""
        originals = {pk: self.originals["message", str(pk)] for pk in spans}
        if verbatim:
            return [original.words(span) for pk, original in originals.items() for span in spans[pk]]
        sentences = {pk: list(original.sentences()) for pk, original in originals.items()}
        return [
            original.words(sentence)
            for pk, original in originals.items()
            for sentence in sentences[pk]
            if any(sentence.overlaps(span) for span in spans[pk])
        ]

    def first_in_each(self, ids: Iterable[UUID]) -> dict[UUID, Message]:
        """Return the earliest of the messages by conversation id."""
        first: dict[UUID, Message] = {}
        for pk in ids:
            message = self.messages[pk]
            known = first.setdefault(message.conversation_id, message)
            first[message.conversation_id] = min(known, message, key=lambda each: each.index)
        return first

    def matching_sentences(
        self, ids: Iterable[UUID], says: Callable[[frozenset[str], str], bool], said: WithheldWords
    ) -> dict[UUID, list[Span]]:
        """Return the spans of sentences that satisfy ``says`` (stems, text), by message, without erased parts."""
        texts = {pk: self.originals["message", str(pk)] for pk in ids}
        found: dict[UUID, list[Span]] = defaultdict(list)
        for pk, span, words in said.in_sentences(texts):
            if says(words, texts[pk].words(span)):
                found[pk] += texts[pk].known(span)
        return found

    def echoes(self, said: WithheldWords, first: Mapping[UUID, Message]) -> dict[UUID, list[Span]]:
        """Return the spans in which others than the person repeated it after each conversation's ``first`` message."""
        ids = self.reply_candidates(said, first)
        self.sought.append((said, first, ids))
        self.read(ids)
        return self.matching_sentences(ids, said.is_echoed_by, said)

    def what_stays(
        self, said: WithheldWords, conversations: Collection[UUID], spans: Mapping[UUID, Sequence[Span]]
    ) -> list[str]:
        """Return what the person says there, of the latest messages that share a word with it, besides the spans.

        Questions are left out: they say nothing.
        """
        rows = Message.objects.filter(user_id=self.user_id, conversation__in=conversations, role="user")
        found = said.in_part(rows).order_by("-index").values_list("pk", "content")[:_MOST_THAT_STAY]
        out = defaultdict(list, {pk: list(each) for pk, each in spans.items()})
        for row in self.rows.values():
            if row.object_type == "message":
                out[message_of(row)].append(redaction_of(row).span)
        left = (self.originals["message", str(pk)].without(out[pk]) if pk in spans else said for pk, said in found)
        sentences = (each.text.strip() for text in left for part in text.split(MARK) for each in split_sentences(part))
        return [each for each in sentences if not asks(each)]

    def reply_candidates(self, said: WithheldWords, first: Mapping[UUID, Message]) -> set[UUID]:
        """Return the ids of later messages, except the person's, that share a word with it or are redacted already."""
        later = [Q(conversation_id=each, index__gt=message.index) for each, message in first.items()]
        others = Message.objects.filter(user_id=self.user_id, role__in=_OTHERS)
        replies = others.filter(reduce(or_, later, Q(pk__in=[])))
        ids = set(said.in_part(replies).values_list("pk", flat=True))
        # Redacted words are in no search index, so these messages are checked in any case.
        withheld = Withheld.objects.filter(conversation__in=first, message__role__in=_OTHERS).passages()
        for pk, where, index in withheld.values_list("message_id", "conversation_id", "message__index"):
            ids |= {pk} if index > first[where].index else set()
        return ids

    def is_unchanged(self) -> bool:
        """Whether everything read before the lock is unchanged. Called under the lock."""
        same = all(self.reply_candidates(said, first) == ids for said, first, ids in self.sought)
        return same and take_snapshot(self.user_id, self.snapshot_ids) == self.snapshot

    def titles(self, said: WithheldWords, first: Mapping[UUID, Message]) -> dict[UUID, str]:
        """Return the conversations whose titles repeat it: the conversation's id by its ``first`` message."""
        texts = [self.originals["title", str(each)].text for each in first]
        stems = said.stems(texts)
        return {
            message.pk: str(conversation_id)
            for (conversation_id, message), words in zip(first.items(), stems, strict=True)
            if said.is_echoed_by(words, self.originals["title", str(conversation_id)].text)
        }

    def redactions_for(
        self, message_id: UUID, spans: Sequence[Span], cause: Cause, before: Iterable[Redaction]
    ) -> set[Redaction]:
        """Return the redactions of a message and its quotations for withholding the spans.

        ``before`` are the current redactions. If the marks would make the message too long, all of it is withheld.
        """
        key = ("message", str(message_id))
        original, out = self.originals[key], [each.span for each in before if each.key == key]
        if len(original.without([*spans, *out])) > settings.MESSAGE_MAX_CHARACTERS:
            spans = original.known(original.whole)
        redactions = {Redaction(*key, span.start, span.end, cause.type, cause.id) for span in spans}
        left = original.pieces([*spans, *out])
        for quote in self.quoted[message_id]:
            whole, words = self.originals[quote].whole, self.originals[quote].words(self.originals[quote].whole)
            # A quotation that still occurs in the rest is kept; one found nowhere may quote the redacted words.
            if words and not any(find_all(words, piece) for piece in left):
                redactions.add(Redaction(*quote, 0, whole.end, cause.type, cause.id))
        return redactions

    def is_declined(self, message_id: UUID, redactions: Iterable[Redaction]) -> bool:
        """Whether all of a message's words are redacted with the message itself as the cause."""
        own = ("message", str(message_id))
        spans = [each.span for each in redactions if each.key == own == (each.cause_type, each.cause_id)]
        return bool(spans) and not list_words(" ".join(self.originals[own].pieces(spans)))

    def apply(self, write: LedgerWrite, wanted: Mapping[UUID, set[Redaction]]) -> None:
        """Make ``wanted`` the redactions of its messages: withhold what is missing and restore the rest."""
        self.rewrite(write, self.plan_rewrite(wanted))

    def plan_rewrite(self, wanted: Mapping[UUID, set[Redaction]]) -> RewritePlan:
        """Plan the writes that make ``wanted`` the redactions of its messages."""
        before = self.redactions
        # A row that quoted a message may have been deleted since.
        there = {pk: {each for each in redactions if each.key in self.originals} for pk, redactions in wanted.items()}
        wanted = {pk: redactions for pk, redactions in there.items() if redactions != before[pk]}
        after = {**before, **wanted}
        out: dict[tuple[str, str], set[Span]] = defaultdict(set)
        for redactions in after.values():
            for each in redactions:
                out[each.key].add(each.span)
        touched = {each.key for pk in wanted for each in wanted[pk] ^ before[pk]}
        texts = {key: self.originals[key].without(out[key]) for key in touched if key in self.originals}
        changed = {key: text for key, text in texts.items() if text != self.shown[key]}
        made = RewritePlan(
            changes={pk: (before[pk], redactions) for pk, redactions in wanted.items()},
            gone=[row.pk for row in self.rows.values() if redaction_of(row) not in after[message_of(row)]],
            new=[self.row(pk, each) for pk in wanted for each in wanted[pk] - before[pk]],
        )
        for (object_type, object_id), text in changed.items():
            if object_type == "message":
                self.add_message(made, UUID(object_id), text, out[object_type, object_id])
            else:
                made.others[object_type][object_id] = text
        return made

    def row(self, message_id: UUID, redaction: Redaction) -> Withheld:
        """Build the ``Withheld`` row of a redaction."""
        original = self.originals[redaction.key]
        return Withheld(
            user_id=self.user_id,
            conversation_id=self.messages[message_id].conversation_id,
            message_id=message_id,
            text=original.words(redaction.span),
            digest=self.digests.get(redaction.key) or policy.digests(self.user_id, original.text)[0],
            created_at=self.now,
            erase_at=self.now + timedelta(days=settings.ARCHIVE_DAYS),
            **redaction._asdict(),
        )

    def add_message(self, made: RewritePlan, pk: UUID, text: str, out: set[Span]) -> None:
        """Add a message's new text, search text and token count to the plan."""
        row = self.messages[pk]
        words = list_words(" ".join(self.originals["message", str(pk)].pieces(out)))
        search_text = " ".join([*list_words(policy.heading(row.speaker, row.at)), *words]) if words else ""
        # A message withheld as a whole is never embedded again.
        due = self.now if words else _NEVER
        length = len(search_text.split())
        made.messages.append((pk, text, count_tokens(text), search_text, length, due))
        made.terms += length - row.search_length
        made.conversations.add(row.conversation_id)

    def rewrite(self, write: LedgerWrite, made: RewritePlan) -> None:
        """Store the plan, log the changes and hide the summaries of the messages, in a fixed number of statements."""
        if not made.changes:
            return
        Withheld.objects.filter(pk__in=made.gone).delete()
        made.insert_new()
        made.store()
        if made.messages:
            write.count(self.user_id, turn_terms=made.terms)
            for conversation_id in made.conversations:
                enqueue("conversations.index_messages", conversation_id)
        for pk, (before, after) in made.changes.items():
            self.log(write, pk, before, after)
        if made.new:  # A full export made earlier still holds the words.
            Export.objects.of_user(self.user_id).whole(self.now).delete()
        self.hide_chunks(made.changes)

    def log(self, write: LedgerWrite, message_id: UUID, before: set[Redaction], after: set[Redaction]) -> None:
        """Record the change, which notifies agents that keep copies, and the undo step."""
        event = "GIVE_BACK" if after < before else "WITHHOLD"
        where = self.messages[message_id].conversation_id
        index = self.messages[message_id].index
        write.change(self.user_id, event, "message", message_id, conversation_id=where, index=index)
        if any(each.object_type == "title" for each in before ^ after):
            write.change(self.user_id, event, "conversation", where, conversation_id=where)
        earlier = {"withheld": [list(each) for each in sorted(before)]}
        write.keep_undo_step(self.user_id, "message", message_id, earlier)

    def hide_chunks(self, ids: Collection[UUID]) -> None:
        """Hide the summaries of these messages until they are rewritten."""
        chunks_hide(chunks_over(ids, {self.messages[pk].conversation_id for pk in ids}))


def summaries_hide(ids: Collection[UUID]) -> None:
    """Hide the summaries of these messages until a job has rewritten them. See ``chunks_hide``."""
    if ids:
        where = Message.objects.filter(pk__in=ids).values_list("conversation_id", flat=True)
        chunks_hide(chunks_over(ids, set(where)))


def chunks_over(ids: Collection[UUID], where: Collection[UUID]) -> ChunkQuerySet:
    """Return the summaries of these messages, which are in these conversations."""
    among = Message.objects.filter(
        pk__in=ids,
        conversation=OuterRef("conversation"),
        index__gte=OuterRef("message_range_start"),
        index__lt=OuterRef("message_range_end"),
    )
    return ConversationChunk.objects.filter(Exists(among), conversation__in=where)


def chunks_hide(chunks: ChunkQuerySet) -> None:
    """Hide summaries until a job has rewritten them. Runs in a transaction that holds the person's ledger."""
    where = set(chunks.values_list("conversation_id", flat=True))
    if where:
        chunks.update(hidden_since=timezone.now())
        for conversation_id in where:
            enqueue(REWRITE_TASK, conversation_id)
