"""Loads the candidates for a turn: blocks, recalled rows, the window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.principals import Principal
from conversations.actions import Pin
from conversations.models import Conversation, Message
from conversations.policy import may_pin
from conversations.searching import InPrompt, TurnRow, read_latest_chunk, read_window
from facts.models import LegacyFact
from facts.queries import refused_wordings
from language.fencing import LEGACY_FENCE, fenced
from memories.block import Block, memory_block
from memories.delta import memory_delta
from memories.difference import Difference, pin_digest, pinned_block, present_block, reads_as_pinned
from retrieval.prepared import Steps, together

from . import rendering
from .pieces import Draft, Piece, Recalled, changed_fact_line, chunk_piece, pinned_fact_piece
from .recalling import Shown, recall

WINDOW_PAGE = 100
PER_MESSAGE = 4
"""Tokens that a chat format adds to each message."""


def gather(
    principal: Principal,
    conversation: Conversation,
    content: str,
    instructions: str,
    *,
    upto: int,
    budget: int,
) -> Draft:
    """Return the draft of a turn, with messages up to index ``upto``."""
    remembers = principal.has_memory and not conversation.private
    first = max(0, min(upto - settings.WINDOW_MESSAGES, conversation.summarized_upto))
    window, latest = together(
        _window(principal, conversation, first, upto, budget), read_latest_chunk.steps(principal, conversation.pk, upto)
    )
    pinned, recalled = _NOTHING, Recalled()
    if remembers:
        pinned = _pinned(principal, conversation)
        shown = Shown(
            legacy_id=conversation.legacy_id,
            prompt=InPrompt(conversation.pk, first, upto),
            facts=[*pinned.facts_shown, *pinned.changed_facts],
            chunks=[latest.pk] if latest else [],
            memories=(*pinned.memory.ids, *pinned.difference.ids),
        )
        before = next((message for message in reversed(window) if message.role == Message.Role.USER), None)
        recalled = recall(principal, content, before, shown)
    head = _now(principal)
    if conversation.legacy:
        name = rendering.name_as_data(conversation.legacy.name)
        head += "\n\n" + fenced(LEGACY_FENCE, ["This conversation is about the person with this name:", name])
    return Draft(
        stable=instructions,
        memory=pinned.memory,
        facts=pinned.facts,
        difference=pinned.difference,
        changed_facts=pinned.changed_facts,
        present=partial(_present, principal, conversation.legacy_id),
        pin=pinned.pin,
        head=head,
        delta=memory_delta(principal, conversation.seen_rev) if remembers else None,
        latest_chunk=chunk_piece(latest) if latest else None,
        recalled=recalled,
        window=window,
        left_out=upto - first - len(window),
        incoming=content,
    )


@dataclass(frozen=True, slots=True)
class _Pinned:
    """The pinned blocks of a conversation and their difference.

    ``facts_shown``: facts whose current wording is in ``facts``.
    """

    memory: Block
    facts: list[Piece]
    facts_shown: list[UUID]
    difference: Difference
    changed_facts: list[UUID]
    pin: Pin | None


_NOTHING = _Pinned(Block("", 0, (), (), 0), [], [], Difference(), [], None)


def _pinned(principal: Principal, conversation: Conversation) -> _Pinned:
    """Return the blocks and the difference; the current blocks if the conversation must be pinned again."""
    moves = may_pin(principal, conversation)
    pinned = pinned_block(principal, conversation, moves=moves)
    facts, shown = _facts(principal, conversation.legacy_id, pinned.at)
    difference = pinned.difference
    changed: list[UUID] = []
    if not pinned.is_new:
        lines, changed = _changed_facts(principal, conversation.legacy_id, pinned.at)
        difference = Difference((*difference.lines, *lines), difference.ids)
        as_pinned = not moves or reads_as_pinned(principal, conversation.facts_digest, _text(facts))
        if not (as_pinned and difference.suffices):
            pinned = present_block(principal, timezone.now())
            facts, shown = _facts(principal, conversation.legacy_id, pinned.at)
            difference, changed = pinned.difference, []
    pin = None
    if moves:
        digests = [pin_digest(principal, text) for text in (pinned.block.text, _text(facts))]
        if not pinned.is_new:
            digests = [was or made for was, made in zip(_digests(conversation), digests, strict=True)]
        pin = Pin(pinned.at, pinned.rev, *digests)
    return _Pinned(pinned.block, facts, shown, difference, changed, pin)


def _present(principal: Principal, legacy_id: UUID | None) -> tuple[Block, list[Piece]]:
    """Return the current blocks."""
    return memory_block(principal), _facts(principal, legacy_id, timezone.now())[0]


def _digests(conversation: Conversation) -> tuple[str, str]:
    return conversation.block_digest, conversation.facts_digest


def _text(facts: Sequence[Piece]) -> str:
    return "\n".join(piece.text for piece in facts)


def _changed_facts(principal: Principal, legacy_id: UUID | None, since: datetime) -> tuple[list[str], list[UUID]]:
    """Return the lines of facts changed after a time (at most one more than fits), and their ids."""
    if legacy_id is None:
        return [], []
    found = list(LegacyFact.objects.changed_since(principal, legacy_id, since)[: settings.DIFFERENCE_MAX_LINES + 1])
    refused = refused_wordings(principal, found)  # The block shows their wording of now.
    changed = [fact for fact in found if not (fact.pk in refused and fact.in_block)]  # type: ignore[attr-defined]
    return [changed_fact_line(fact, principal) for fact in changed], [fact.pk for fact in changed]


def _window(
    principal: Principal, conversation: Conversation, first: int, upto: int, budget: int
) -> Steps[list[TurnRow]]:
    """Return messages ``first`` to ``upto - 1``, oldest first; of very many only the newest."""
    window: list[TurnRow] = []
    spent = 0
    while spent <= budget:
        page = yield from read_window.steps(principal, conversation.pk, first, upto - len(window), WINDOW_PAGE)
        window += page
        spent += sum(message.tokens + PER_MESSAGE for message in page)
        if len(page) < WINDOW_PAGE:
            break
    return window[::-1]


def _facts(principal: Principal, legacy_id: UUID | None, block_at: datetime | None) -> tuple[list[Piece], list[UUID]]:
    """Return the facts block of the conversation's first turn, and its rows with an unchanged wording.

    Later facts, changed ones, and those over the budget can be recalled.
    """
    if legacy_id is None:
        return [], []
    rows = LegacyFact.objects.for_prompt(principal, legacy_id, as_of=block_at).iterator(chunk_size=500)
    fitting = _fitting(rows, principal)
    if refused := refused_wordings(principal, [row for row, _ in fitting]):
        for row, _ in fitting:
            if row.pk in refused:
                row.block_content = row.content  # type: ignore[attr-defined]  # annotated by for_prompt
        fitting = _fitting([row for row, _ in fitting], principal)
    shown = [row.pk for row, _ in fitting if row.block_content == row.content]  # type: ignore[attr-defined]  # likewise
    return [piece for _, piece in fitting], shown


def _fitting(rows: Iterable[LegacyFact], principal: Principal) -> list[tuple[LegacyFact, Piece]]:
    """Return the first facts that fit into the budget, with their lines."""
    fitting: list[tuple[LegacyFact, Piece]] = []
    spent = 0
    for row in rows:
        piece = pinned_fact_piece(row, principal)
        spent += piece.tokens
        if spent > settings.FACTS_BLOCK_TOKENS:
            break
        fitting.append((row, piece))
    return fitting


def _now(principal: Principal) -> str:
    now = timezone.now().replace(microsecond=0)
    zone = principal.zone
    return f"Current datetime: {now.isoformat()} (UTC); for the person: {now.astimezone(zone).isoformat()} ({zone.key})"
