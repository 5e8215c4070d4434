"""What the person said to be untrue: the record keeps the words, but no summary states them, and nothing is learned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef

from conversations.models import Conversation, Message
from conversations.passages import MARK, Original, Span
from conversations.withheld_words import WithheldWords
from facts.models import FactEvidence
from memories.actions.many import WITHHOLDS
from memories.models import MemoryEvidence, Relation
from statements.actions import are_rejected


def quotes_of_untrue(message_ids: Collection[UUID]) -> Mapping[UUID, Sequence[str]]:
    """Return the quotations of messages that rejected memories and facts were learned from, by message.

    Not of merged memories and episodes, since their evidence says more than they do.
    """
    found: dict[UUID, list[str]] = defaultdict(list)
    made = Relation.objects.filter(from_memory=OuterRef("version__memory"), type=Relation.Type.DERIVED_FROM)
    of_memories = MemoryEvidence.objects.filter(
        ~Exists(made), version__memory__state="rejected", version__memory__kind__in=WITHHOLDS, message__in=message_ids
    )
    of_facts = FactEvidence.objects.filter(fact__state="rejected", message__in=message_ids)
    for message_id, quote in of_memories.values_list("message_id", "quote").union(
        of_facts.values_list("message_id", "quote")
    ):
        if quote != MARK:  # What is not kept is gone already; it would be found in the sentence after it.
            found[message_id].append(quote)
    return found


def cut_untrue(conversation: Conversation, messages: Collection[Message]) -> None:
    """Cut the sentences with these quotations out of messages that are not saved, and the assistant's echoes."""
    quotes = quotes_of_untrue([message.pk for message in messages])
    if not quotes:
        return
    texts = {message.pk: Original(message.content) for message in messages}
    spans = {pk: [span for quote in found for span in texts[pk].holding(quote)] for pk, found in quotes.items()}
    names = [conversation.legacy.name] if conversation.legacy else []
    said = WithheldWords([texts[pk].words(span) for pk, each in spans.items() for span in each], ["user", *names])
    replies = {message.pk: texts[message.pk] for message in messages if message.role == Message.Role.ASSISTANT}
    for pk, span, words in said.in_sentences(replies):
        if said.is_echoed_by(words, replies[pk].words(span)):
            spans.setdefault(pk, []).append(span)
    for message in messages:
        if message.pk in spans:
            message.content = _without(texts[message.pk], spans[message.pk])


def without_rejected(user_id: UUID, summary: str) -> str:
    """Return a summary without the sentences that say what its person rejected or withheld, whoever said it again."""
    text = Original(summary)
    spans = list(text.sentences())
    rejected = are_rejected(user_id, [text.words(span) for span in spans])
    out = [span for span, is_rejected in zip(spans, rejected, strict=True) if is_rejected]
    return _without(text, out) if out else summary


def _without(text: Original, spans: Sequence[Span]) -> str:
    return " ".join(piece.strip() for piece in text.pieces(spans) if piece.strip())
