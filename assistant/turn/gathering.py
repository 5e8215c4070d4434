"""Reads what may go into a turn: the block, facts, what is recalled, the running conversation."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from accounts import categories
from accounts.principals import Principal
from conversations.actions import Pin
from conversations.models import Conversation, ConversationChunk, Message
from facts.models import LegacyFact
from memories.block import Block, memory_block
from memories.delta import memory_delta
from memories.models import Kind
from memories.searching import Narrowing, present_rows, read_memories

from .. import rendering
from ..recall import QueryVector, find_memories, recall_chunks, recall_facts, recall_turns
from .pieces import Draft, Piece, chunk_piece, fact_piece, memory_piece, turn_piece

NO_MEMORY = Block("", 0, (), (), 0)
WINDOW_PAGE = 100
PER_MESSAGE = 4
"""Tokens that a chat format adds to each message."""


def gather(
    principal: Principal,
    conversation: Conversation,
    content: str,
    instructions: str,
    *,
    pin: Pin | None,
    upto: int,
    budget: int,
) -> Draft:
    """Everything that may go into a turn, for the record up to message ``upto``."""
    block_at, block_rev = (pin.at, pin.rev) if pin else (conversation.block_at, conversation.block_rev)
    remembers = principal.has_memory and not conversation.private
    first = max(0, min(upto - settings.WINDOW_MESSAGES, conversation.summarized_upto))
    window = _window(principal, conversation, first, upto, budget)
    earlier = ConversationChunk.objects.visible_to(principal).filter(conversation=conversation)
    so_far = earlier.filter(message_range_end__lte=upto).with_times().without_vectors()
    latest = so_far.order_by("-message_range_end").first()
    query = QueryVector(content)
    facts: list[Piece] = []
    recalled: list[Piece] = []
    chunks: list[Piece] = []
    turns: list[Piece] = []
    memories: list[Piece] = []
    related: list[Piece] = []
    if remembers and conversation.legacy_id:
        facts, recalled = _facts(principal, conversation.legacy_id, query, block_at)
    if remembers:
        shown_or_later = Q(pk=latest.pk) if latest else Q()
        if upto < conversation.message_count:
            shown_or_later |= Q(pk__in=earlier.filter(message_range_end__gt=upto).values("pk"))
        found = recall_chunks(
            principal, query, legacy_id=conversation.legacy_id, top_k=settings.RECALLED_CHUNKS, exclude=shown_or_later
        )
        chunks = [chunk_piece(chunk) for chunk in found]
        in_window = Message.objects.filter(conversation=conversation, index__gte=first).values("pk")
        said = recall_turns(
            principal,
            query,
            legacy_id=conversation.legacy_id,
            top_k=settings.RECALLED_TURNS,
            exclude=Q(pk__in=in_window),
        )
        turns = [turn_piece(hit.message) for hit in said]
        memories, related = _memories(principal, query)
    head = _now(principal)
    if conversation.legacy:
        head += f"\nThis conversation is about {rendering.name_as_data(conversation.legacy.name)}."
    return Draft(
        stable=instructions,
        memory=memory_block(principal, as_of_rev=block_rev) if remembers else NO_MEMORY,
        facts=facts,
        head=head,
        delta=memory_delta(principal, conversation.seen_rev) if remembers else None,
        latest_chunk=chunk_piece(latest) if latest else None,
        recalled_facts=recalled,
        memories=memories,
        chunks=chunks,
        turns=turns,
        related=related,
        window=window,
        left_out=upto - first - len(window),
        incoming=content,
    )


def _window(principal: Principal, conversation: Conversation, first: int, upto: int, budget: int) -> list[Message]:
    """Messages ``first`` to ``upto - 1``, oldest first; of very many only the newest that a budget could hold."""
    rows = Message.objects.visible_to(principal).filter(conversation=conversation, index__gte=first, index__lt=upto)
    newest_first = rows.without_vectors().order_by("-index")
    window: list[Message] = []
    spent = 0
    while spent <= budget:
        page = list(newest_first[len(window) : len(window) + WINDOW_PAGE])
        window += page
        spent += sum(message.tokens + PER_MESSAGE for message in page)
        if len(page) < WINDOW_PAGE:
            break
    return window[::-1]


def _facts(
    principal: Principal, legacy_id: UUID, query: QueryVector, block_at: datetime | None
) -> tuple[list[Piece], list[Piece]]:
    """The facts block, pinned to the conversation's first turn, and what recall adds to it below the boundary."""
    block: list[Piece] = []
    shown: list[UUID] = []
    spent = 0
    for row in LegacyFact.objects.for_prompt(principal, legacy_id, as_of=block_at).iterator(chunk_size=500):
        piece = fact_piece(row, principal)
        if spent + piece.tokens > settings.FACTS_BLOCK_TOKENS:
            break
        block.append(piece)
        spent += piece.tokens
        if row.block_content == row.content:  # type: ignore[attr-defined]  # annotated by for_prompt
            shown.append(row.pk)
    # What came later, what has another wording by now and what the block has no room for is left to recall.
    found = recall_facts(principal, query, legacy_id=legacy_id, top_k=settings.RECALLED_FACTS, exclude=Q(pk__in=shown))
    return block, [fact_piece(row, principal) for row in found]


def _memories(principal: Principal, query: QueryVector) -> tuple[list[Piece], list[Piece]]:
    """What is recalled of memories that no block carries, and what is related to them among those."""
    carried = [name for name, category in categories.load().by_name.items() if category.context == "all"]
    rows = present_rows(principal, Narrowing()).exclude(kind=Kind.SEMANTIC, category__in=carried)
    found = find_memories(principal, query, rows=rows, top_k=settings.RECALLED_MEMORIES)
    ids = {each.row.id for each in found.memories}
    others = [edge.beyond(ids) for edge in found.edges if edge.touches(ids)]
    known = read_memories(rows, others) if others else {}
    beside = [known[memory_id] for memory_id in dict.fromkeys(others) if memory_id in known]
    return (
        [memory_piece(each.row) for each in found.memories],
        [memory_piece(row) for row in beside[: settings.QUERY_RELATED]],
    )


def _now(principal: Principal) -> str:
    now = timezone.now().replace(microsecond=0)
    try:
        zone = ZoneInfo(principal.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    return f"Current datetime: {now.isoformat()} (UTC); for the person: {now.astimezone(zone).isoformat()} ({zone.key})"
