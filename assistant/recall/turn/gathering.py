"""Reads what may go into a turn: the block, facts, what is recalled, the running conversation."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.utils import timezone

from accounts.principals import Principal
from conversations.actions import Pin
from conversations.models import Conversation, Message
from conversations.searching import InPrompt, TurnRow, read_latest_chunk, read_window
from facts.models import LegacyFact
from memories.block import Block, memory_block
from memories.delta import memory_delta

from . import rendering
from .pieces import Draft, Piece, Recalled, chunk_piece, pinned_fact_piece
from .recalling import Shown, recall

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
    latest = read_latest_chunk(principal, conversation.pk, upto)
    memory, recalled = NO_MEMORY, Recalled()
    facts: list[Piece] = []
    if remembers:
        memory = memory_block(principal, as_of_rev=block_rev)
        facts, facts_shown = _facts(principal, conversation.legacy_id, block_at)
        shown = Shown(
            legacy_id=conversation.legacy_id,
            prompt=InPrompt(conversation.pk, first, upto),
            facts=facts_shown,
            chunks=[latest.pk] if latest else [],
            memories=memory.ids,
        )
        before = next((message for message in reversed(window) if message.role == Message.Role.USER), None)
        recalled = recall(principal, content, before, shown)
    head = _now(principal)
    if conversation.legacy:
        head += f"\nThis conversation is about {rendering.name_as_data(conversation.legacy.name)}."
    return Draft(
        stable=instructions,
        memory=memory,
        facts=facts,
        head=head,
        delta=memory_delta(principal, conversation.seen_rev) if remembers else None,
        latest_chunk=chunk_piece(latest) if latest else None,
        recalled=recalled,
        window=window,
        left_out=upto - first - len(window),
        incoming=content,
    )


def _window(principal: Principal, conversation: Conversation, first: int, upto: int, budget: int) -> list[TurnRow]:
    """Messages ``first`` to ``upto - 1``, oldest first; of very many only the newest that a budget could hold."""
    window: list[TurnRow] = []
    spent = 0
    while spent <= budget:
        page = read_window(principal, conversation.pk, first, upto - len(window), WINDOW_PAGE)
        window += page
        spent += sum(message.tokens + PER_MESSAGE for message in page)
        if len(page) < WINDOW_PAGE:
            break
    return window[::-1]


def _facts(principal: Principal, legacy_id: UUID | None, block_at: datetime | None) -> tuple[list[Piece], list[UUID]]:
    """The facts block, pinned to the conversation's first turn, and the rows that it shows as they are worded now.

    What came later, what has another wording by now and what the block has no room for is left to recall.
    """
    block: list[Piece] = []
    shown: list[UUID] = []
    spent = 0
    if legacy_id is None:
        return block, shown
    for row in LegacyFact.objects.for_prompt(principal, legacy_id, as_of=block_at).iterator(chunk_size=500):
        piece = pinned_fact_piece(row, principal)
        if spent + piece.tokens > settings.FACTS_BLOCK_TOKENS:
            break
        block.append(piece)
        spent += piece.tokens
        if row.block_content == row.content:  # type: ignore[attr-defined]  # annotated by for_prompt
            shown.append(row.pk)
    return block, shown


def _now(principal: Principal) -> str:
    now = timezone.now().replace(microsecond=0)
    try:
        zone = ZoneInfo(principal.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    return f"Current datetime: {now.isoformat()} (UTC); for the person: {now.astimezone(zone).isoformat()} ({zone.key})"
